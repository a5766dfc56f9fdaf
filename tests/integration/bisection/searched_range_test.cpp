#include "torchwatch/bisection/searched_range.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "test_repository.hpp"

using namespace torchwatch;
using bisection::SearchedRanges;

namespace {

const Series kSeries{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};

/// Five commits, of which the second touches a document alone.
struct Day {
  storage::BisectionRow search() const {
    bisection::BisectionSpec spec;
    spec.good = shas.front();
    spec.bad = shas.back();
    spec.series = {{.series = kSeries}};
    spec.plan.preset = Preset::small;
    storage::BisectionRow row;
    row.id = 7;
    row.good = spec.good;
    row.bad = spec.bad;
    row.spec_json = to_json(spec);
    return row;
  }

  test::TemporaryFolder folder;
  test::TestRepository repository{folder.path() / "source.git"};
  std::vector<std::string> shas{
      repository.commit("good"), repository.commit("read", "docs/read.md"),
      repository.commit("change"), repository.commit("more"), repository.commit("bad")};
  SearchedRanges ranges{repository.path()};
};

}  // namespace

TEST_CASE("a range is listed with the places of what can change the library") {
  Day day;
  const auto range = day.ranges.of(day.search());
  CHECK(range.series == std::vector{kSeries});
  CHECK(range.preset == Preset::small);
  CHECK_FALSE(range.missing);
  REQUIRE(range.commits.size() == 4);
  CHECK(range.commits[0].sha == day.shas[1]);
  CHECK(range.commits[0].subject == "read");
  CHECK_FALSE(range.commits[0].place);
  for (std::size_t i = 1; i < range.commits.size(); ++i) {
    CHECK(range.commits[i].sha == day.shas[i + 1]);
    CHECK(range.commits[i].place == i - 1);
  }
}

TEST_CASE("a range that was read is known without the repository") {
  Day day;
  const auto before = day.ranges.of(day.search());
  std::filesystem::rename(day.repository.path(), day.folder.path() / "elsewhere");
  const auto after = day.ranges.of(day.search());
  CHECK_FALSE(after.missing);
  CHECK(after.commits.size() == before.commits.size());
}

TEST_CASE("a repository that lacks the range leaves what was asked for, and the reason") {
  const Day day;
  SearchedRanges elsewhere(day.folder.path() / "nowhere");
  const auto range = elsewhere.of(day.search());
  CHECK(range.series.size() == 1);
  CHECK(range.commits.empty());
  REQUIRE(range.missing);
  CHECK(range.missing->code == ErrorCode::not_found);
}

TEST_CASE("of a search whose specification is damaged nothing is listed") {
  Day day;
  auto row = day.search();
  row.spec_json = "{";
  const auto range = day.ranges.of(row);
  CHECK(range.series.empty());
  REQUIRE(range.missing);
  CHECK(range.missing->code == ErrorCode::corrupt);
}
