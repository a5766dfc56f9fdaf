#include "api_description.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "temporary_folder.hpp"

using torchwatch::test::ApiDescription;
using torchwatch::test::Exchange;

namespace {

constexpr const char* kDescription = R"({"paths": {"/healthz": {"get": {"responses": {"200": {
  "content": {"application/json": {"schema": {"type": "object", "required": ["status"]}}}}}}}}})";

/// A description in a folder of its own.
struct Described {
  Described() { std::ofstream(file) << kDescription; }

  std::vector<std::string> violations(
      const std::vector<Exchange>& exchanges,
      ApiDescription::Undescribed undescribed = ApiDescription::Undescribed::violation) const {
    return ApiDescription::read(file).violations(exchanges, undescribed);
  }

  torchwatch::test::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "description.json";
};

Exchange health(const std::string& body) {
  return {.method = "GET",
          .path = "/healthz",
          .query = {},
          .content_type = "",
          .body = "",
          .answer = {{200, "application/json", body}}};
}

}  // namespace

TEST_CASE("an exchange that is as described has no violation") {
  const auto violations = Described().violations({health(R"({"status": "ok"})")});
  CHECK(violations == std::vector<std::string>{});
}

TEST_CASE("each exchange that is not as described has a violation that names it") {
  const auto violations = Described().violations({health("[]"), health("{")});
  REQUIRE(violations.size() == 2);
  CHECK(std::all_of(violations.begin(), violations.end(), [](const std::string& violation) {
    return violation.starts_with("GET /healthz -> 200: ");
  }));
}

TEST_CASE("a description that cannot be read by its judge is a violation, not a success") {
  const Described described;
  const auto description = ApiDescription::read(described.file);
  std::filesystem::remove(described.file);
  CHECK_FALSE(description.violations({health(R"({"status": "ok"})")}).empty());
}

TEST_CASE("an exchange of a path that is not described is a violation unless it is ignored") {
  Exchange exchange = health("{}");
  exchange.path = "/nowhere";
  CHECK(Described().violations({exchange}).size() == 1);
  CHECK(Described().violations({exchange}, ApiDescription::Undescribed::ignored).empty());
}
