#include "torchwatch/events/lines.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "temporary_folder.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;

namespace {

void happen(storage::Database& database, const std::string& key) {
  REQUIRE(storage::RequestStore(database).receive(key, storage::RequestKind::nightly, "{}", 1));
}

std::unique_ptr<storage::Database> new_database(const test::TemporaryFolder& folder) {
  return storage::Database::open({.path = folder.path() / "db.sqlite"}).value();
}

}  // namespace

TEST_CASE("each change of state since the start is one line, as the feed sends it") {
  const test::TemporaryFolder folder;
  const auto database = new_database(folder);
  happen(*database, "earlier");
  std::ostringstream out;
  {
    const auto lines = events::Lines::start(*database, out).value();
    happen(*database, "a");
    happen(*database, "b");
  }
  CHECK(
      out.str() ==
      "{\"item\":\"2\",\"kind\":\"request\",\"state\":\"pending\",\"url\":\"/api/v1/requests/2\"}\n"
      "{\"item\":\"3\",\"kind\":\"request\",\"state\":\"pending\",\"url\":\"/api/v1/requests/"
      "3\"}\n");
}

TEST_CASE("nothing is printed of what happens after the end, and none is lost that are many") {
  const test::TemporaryFolder folder;
  const auto database = new_database(folder);
  std::ostringstream out;
  {
    const auto lines = events::Lines::start(*database, out).value();
    REQUIRE(database->transact([&]() -> Status {
      for (int i = 0; i < 600; ++i) happen(*database, std::to_string(i));
      return {};
    }));
  }
  happen(*database, "late");
  const auto text = out.str();
  CHECK(std::count(text.begin(), text.end(), '\n') == 600);
}
