// How many commits between two nightlies can change the library: found once for each comparison.
#include <catch2/catch.hpp>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/runs/trunk_range_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::ComparisonState;

namespace {

constexpr const char* kQuiet = "noise 0.01 fixed";

class Log final : public comparison::Progress {
 public:
  void phase_started(const std::string&) override {}
  void progress(int, int, const std::string&) override {}
  void log(const std::string& line) override { lines.push_back(line); }

  int count(const std::string& words) const {
    int found = 0;
    for (const auto& line : lines) found += line.find(words) != std::string::npos ? 1 : 0;
    return found;
  }

  std::vector<std::string> lines;
};

/// Two nightlies, and a service that has not compared them yet.
struct TwoNightlies {
  explicit TwoNightlies(
      const std::vector<test::ScriptedCommit>& commits,
      const std::function<void(config::Config&)>& change = [](auto&) {})
      : day(folder.path(), commits), config(day.config()) {
    config.suite.workloads = {"dlrm"};
    config.suite.configurations = {{Device::cpu, Mode::infer}};
    change(config);
    service = test::ScriptedService::open(config).value();
  }

  comparison::Services services() {
    auto& own = service->services();
    return {own.config,  own.database, own.executor, own.runners, own.channel,
            own.history, own.commits,  own.clock,    own.random,  log};
  }

  /// The comparison of the two, before it is carried out.
  storage::ComparisonRow discovered() {
    auto with_log = services();
    REQUIRE(nightly::discover_comparisons(with_log, {}));
    const auto unfinished = storage::ComparisonStore(database()).unfinished().value();
    for (const auto& row : unfinished) {
      if (row.purpose == storage::Purpose::nightly) return row;
    }
    FAIL("no comparison was opened");
    return {};
  }

  storage::ComparisonRow carry_out(const storage::ComparisonRow& row) {
    auto with_log = services();
    return nightly::carry_out_comparison(with_log, row, {}).value();
  }

  storage::Database& database() { return service->services().database; }
  std::optional<std::int64_t> stored(storage::Id comparison) {
    return storage::TrunkRangeStore(database()).find(comparison).value();
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  config::Config config;
  Log log;
  std::unique_ptr<test::ScriptedService> service;
};

/// Between the nightlies are five commits, of which two touch documents alone.
const std::vector<test::ScriptedCommit> kDay{{"Start", kQuiet},      {"Explain", ""},
                                             {"Change", "# change"}, {"Read", ""},
                                             {"Again", "# again"},   {"End", "# end"}};
const std::string kNotKnown = "how many of its commits can matter is not known: ";

}  // namespace

TEST_CASE("a comparison of nightlies finds how many of its commits can matter") {
  TwoNightlies two(kDay);
  const auto row = two.carry_out(two.discovered());
  CHECK(row.state == ComparisonState::reported);
  CHECK(two.stored(row.id) == 3);
  CHECK(two.log.count(kNotKnown) == 0);
}

TEST_CASE("what cannot change the library is what the configuration says") {
  TwoNightlies two(kDay,
                   [](config::Config& config) { config.bisect.cannot_change = {"docs/101.md"}; });
  const auto row = two.carry_out(two.discovered());
  CHECK(two.stored(row.id) == 4);
}

TEST_CASE("nightlies of the same libraries have their commits counted as well") {
  TwoNightlies two({{"Start", kQuiet}, {"Explain", ""}, {"Read", ""}});
  const auto row = two.carry_out(two.discovered());
  CHECK_THAT(row.reason, Contains("nothing to measure"));
  CHECK(two.stored(row.id) == 0);
}

TEST_CASE("what was found of a comparison is not looked for again") {
  TwoNightlies two(kDay);
  const auto row = two.discovered();
  REQUIRE(storage::TrunkRangeStore(two.database()).record(row.id, 99));
  CHECK(two.carry_out(row).state == ComparisonState::reported);
  CHECK(two.stored(row.id) == 99);
}

TEST_CASE("a build that is compared with itself has no commits to count") {
  TwoNightlies two(kDay);
  const auto row = two.discovered();
  const auto same = storage::ComparisonStore(two.database())
                        .open({.purpose = storage::Purpose::self_test,
                               .candidate = row.candidate,
                               .baseline = row.candidate},
                              1);
  REQUIRE(same);
  two.carry_out(*same);
  CHECK(two.stored(same->id) == std::nullopt);
  CHECK(two.log.count(kNotKnown) == 0);
}

TEST_CASE("a commit that the repository lacks ends no comparison, and is named once") {
  TwoNightlies two(kDay);
  const std::string unknown(40, 'a');
  two.day.publish("2026-08-17", unknown, std::string(kQuiet) + "\n# of another repository");
  const auto row = two.carry_out(two.discovered());
  CHECK(row.state == ComparisonState::reported);
  CHECK(two.stored(row.id) == std::nullopt);
  CHECK(two.log.count("comparison " + std::to_string(row.id) + ": " + kNotKnown) == 1);
}

TEST_CASE("a range of more than a thousand commits ends no comparison, and is named once") {
  std::vector<test::ScriptedCommit> commits{{"Start", kQuiet}};
  for (int i = 0; i <= 1'000; ++i) commits.push_back({"Commit", "# " + std::to_string(i), "same"});
  TwoNightlies two(commits);
  const auto row = two.carry_out(two.discovered());
  CHECK(row.state == ComparisonState::reported);
  CHECK(two.stored(row.id) == std::nullopt);
  CHECK(two.log.count(kNotKnown + two.day.commits().front() + " is not among the 1,000 ") == 1);
}

TEST_CASE("without [source] no commits are counted, and nothing is said of it") {
  TwoNightlies two(kDay);
  two.service->services().history = nullptr;
  const auto row = two.carry_out(two.discovered());
  CHECK(row.state == ComparisonState::reported);
  CHECK(two.stored(row.id) == std::nullopt);
  CHECK(two.log.count(kNotKnown) == 0);
}
