// A row that cannot be read takes its own part from a page, and no other.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "page_checks.hpp"
#include "raw_sql.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

struct Filled : Api {
  Filled() {
    fill();
    storage::ComparisonStore comparisons(*database);
    const auto nightly = comparisons.get(1).value();
    REQUIRE(comparisons.advance(nightly, storage::ComparisonState::reported, clock.wall_now()));
  }

  /// Checks that a page is there, says what of it is not, and shows the rest.
  void check(const std::string& path, const std::string& missing, const std::string& rest) {
    const auto answer = get(path);
    CHECK(answer.status == 200);
    const auto text = page(path);
    CHECK(wrong_tag(text) == "");
    CHECK_THAT(text, Contains(missing) && Contains("cannot be read: if that lasts"));
    CHECK_THAT(text, Contains(rest));
    CHECK(get((path == "/" ? "/index" : path) + ".md").status == 200);
  }
};

struct Spoilt {
  std::string sql;
  std::string first_page;  ///< what is missing there
  std::string incident;    ///< what is missing on its page; empty: nothing
};

}  // namespace

TEST_CASE_METHOD(Filled, "a spoilt row takes its part from the first page and its incident's") {
  const auto row = GENERATE(values<Spoilt>({
      {"UPDATE build SET origin = 'nihgtly' WHERE id = 2", "what the newest nightly came to",
       "its builds"},
      {"UPDATE comparison SET purpose = 'nightyl' WHERE id = 1", "it cannot be read",
       "its comparison"},
      {"UPDATE verdict SET verdict = 'regresed' WHERE comparison_id = 1",
       "what the newest nightly came to", "what changed"},
      {"UPDATE bisection SET state = 'edned' WHERE id = 1", "its search", "its search"},
  }));
  CAPTURE(row.sql);
  REQUIRE(test::raw_sql(database_path, row.sql) == 1);
  check("/", row.first_page, "How far to trust it");
  check("/incidents/1", row.incident, "What to do");
}

TEST_CASE_METHOD(Filled,
                 "an incident that is spoilt itself takes the incidents from the first page") {
  test::raw_sql(database_path, "UPDATE incident SET state = 'opne' WHERE id = 1");
  check("/", "the open incidents", "Newest comparisons");
}

TEST_CASE_METHOD(Filled, "where all can be read no page says that something is missing") {
  for (const auto* path : {"/", "/incidents/1"}) {
    CHECK_THAT(page(path), !Contains("Not all of this page is there"));
  }
}
