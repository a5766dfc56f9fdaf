#include "torchwatch/storage/token_store.hpp"

#include <catch2/catch.hpp>

#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

struct Tokens : FreshStores {
  TokenStore tokens{*stores.database};

  TokenRow add(const std::string& name, char digit, const Scopes& scopes = {Scope::read}) {
    const auto row = tokens.add(name, std::string(64, digit), scopes, 10, {.user = 1000});
    REQUIRE(row);
    return *row;
  }
};

}  // namespace

TEST_CASE_METHOD(Tokens, "a token is listed with what it allows, the newest first") {
  add("grafana", '1');
  const auto row = add("ci", '2', {Scope::read, Scope::measure});
  CHECK(row.scopes == Scopes{Scope::read, Scope::measure});
  CHECK(row.made_at == 10);
  CHECK(row.made_by == "uid 1000");
  CHECK_FALSE(row.used_at);
  const auto listed = tokens.list().value();
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].name == "ci");
  CHECK(listed[0].sha256 == std::string(64, '2'));
  CHECK(listed[1].name == "grafana");
}

TEST_CASE_METHOD(Tokens, "a token that was revoked stays listed, and its name is free again") {
  const auto row = add("ci", '1');
  CHECK(tokens.add("ci", std::string(64, '2'), {Scope::read}, 11, {}).error().code ==
        ErrorCode::conflict);
  const auto revoked = tokens.revoke(row.id, 12, {.token = "admin"}).value();
  CHECK(revoked.revoked_at == 12);
  CHECK(revoked.revoked_by == "token admin");
  CHECK(tokens.revoke(row.id, 13, {}).error().code == ErrorCode::conflict);
  CHECK(tokens.revoke(99, 13, {}).error().code == ErrorCode::not_found);
  add("ci", '2');
  CHECK(tokens.list().value().size() == 2);
}

TEST_CASE_METHOD(Tokens, "a token says when it was used last") {
  const auto row = add("ci", '1');
  REQUIRE(tokens.note_use(row.id, 20));
  CHECK(tokens.get(row.id).value().used_at == 20);
}
