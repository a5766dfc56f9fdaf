#include "torchwatch/access/audit_store.hpp"

#include <catch2/catch.hpp>

#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

TEST_CASE_METHOD(FreshStores,
                 "what was asked for and done is listed with who asked, page by page") {
  AuditStore audit(*stores.database);
  for (const std::string key : {"first", "second", "third"}) {
    REQUIRE(audit.add(
        {.path = "/api/v1/outbox/retry", .item = key, .asked_by = "uid 1000", .asked_at = 7}));
  }
  const auto newest = audit.list(2).value();
  REQUIRE(newest.size() == 2);
  CHECK(newest[0].item == "third");
  CHECK(newest[0].path == "/api/v1/outbox/retry");
  CHECK(newest[0].asked_by == "uid 1000");
  CHECK(newest[0].asked_at == 7);
  const auto rest = audit.list(2, newest[1].id).value();
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].item == "first");
}
