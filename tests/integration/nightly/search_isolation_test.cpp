// A search, or a fetch of commits, that cannot be carried on keeps nothing behind it from its end.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "fake_clock.hpp"
#include "fake_process_runner.hpp"
#include "planted_fault.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/bisection/opening.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/health/report.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using nightly::Consequence;
using storage::BisectionState;
using test::FaultStep;
using test::PlantedFault;

namespace {

constexpr std::array kSteps{FaultStep::check_out, FaultStep::kit, FaultStep::run,
                            FaultStep::throws};

const Series kSeries{{"dlrm", {Device::cpu, Mode::infer}, {}}, Metric::time};

/// Four commits, of which the last makes the workload half as slow again.
struct Day {
  test::TemporaryFolder folder;
  test::ScriptedDay day{folder.path(),
                        {{"One", "noise 0.01"},
                         {"Two", "# 2"},
                         {"Three", "# 3"},
                         {"Four", "time dlrm cpu-infer 1.5"}}};
};

builds::CommitBuilder::Settings builder_settings(const config::Config& config) {
  builds::CommitBuilder::Settings settings;
  settings.recipe = config.build.recipe;
  settings.folder = config.build.cache;
  settings.time_limit = config.build.timeout;
  return settings;
}

/// On a database and a cache of its own a search among the first two commits, which meets the
/// fault, and one among the last two behind it.
struct TwoSearches {
  TwoSearches(const Day& day, PlantedFault& met)
      : commits(day.day.commits()), config(day.day.config()), fault(met) {
    fault.build = commits[1];
    config.storage.path = folder.path() / "torchwatch.sqlite";
    config.build.cache = folder.path() / "builds";
    config.suite.workloads = {"dlrm"};
    config.bisect.verify_by_revert = false;
    auto opened = test::ScriptedService::open(config);
    if (!opened) FAIL(opened.error().message);
    service = std::move(*opened);
    parts.emplace(service->services(), fault, clock);
    replace_builder();
    faulty = open(commits[0], commits[1]);
    behind = open(commits[2], commits[3]);
  }

  /// Has the commits built as the service does, but for the fault of its checkout.
  void replace_builder() {
    builder.emplace(builder_settings(config), *processes,
                    [this](const std::string& sha, const std::filesystem::path& to) -> Status {
                      TW_TRY_VOID(fault.meet(FaultStep::check_out, sha));
                      return bisect::check_out(config.source.repository, sha, to);
                    });
    parts->services.commits = &*builder;
  }

  storage::Id open(const std::string& good, const std::string& bad) {
    const auto spec = bisection::requested_spec(parts->services, good, bad).value();
    return bisection::open_requested_bisection(parts->services, spec, {kSeries}, {}).value().id;
  }

  /// Works on the searches as the daemon does, an hour after the other.
  void work(int hours) {
    auto& services = parts->services;
    for (int hour = 0; hour < hours; ++hour) {
      const auto open = storage::BisectionStore(services.database).unfinished().value();
      for (const auto& row : open) {
        if (!nightly::is_due(services, nightly::key_of(row)).value()) continue;
        const auto attended = nightly::attend_bisection(services, row, {});
        if (!attended) FAIL(attended.error().message);
      }
      clock.advance(std::chrono::hours(1));
    }
  }

  storage::BisectionRow row_of(storage::Id id) {
    return storage::BisectionStore(service->services().database).get(id).value();
  }
  bisection::BisectionResult result_of(storage::Id id) {
    return bisection::parse_bisection_result(row_of(id).result_json).value();
  }
  std::vector<health::Problem> problems() {
    return health::stored_problems(service->services().database).value();
  }

  const std::vector<std::string> commits;
  config::Config config;
  PlantedFault& fault;
  test::TemporaryFolder folder;
  test::FakeClock clock;
  std::unique_ptr<test::ScriptedService> service;
  std::unique_ptr<process::ProcessRunner> processes =
      process::make_process_runner("test of searches");
  std::optional<builds::CommitBuilder> builder;
  std::optional<test::FaultyParts> parts;
  storage::Id faulty = 0;
  storage::Id behind = 0;
};

/// Three nightlies of which the second is slower, by the first of its two commits. Its search meets
/// the fault; the third nightly is behind it.
struct SearchedNightly {
  explicit SearchedNightly(PlantedFault& met, const std::string& change = "time dlrm cpu-infer 1.5")
      : day(folder.path(),
            {{"One", "noise 0.01"}, {"Two", change}, {"Three", "# 3"}, {"Four", "# 4"}}),
        fault(met) {
    fault.build = day.commits()[1];
    const std::string slower = "noise 0.01\n" + change + "\n# ";
    day.publish("2026-08-17", day.commits()[2], slower + "3");
    day.publish("2026-08-18", day.commits()[3], slower + "4");
    auto config = day.config();
    config.suite.workloads = {"dlrm"};
    config.suite.configurations = {{Device::cpu, Mode::infer}};
    config.bisect.verify_by_revert = false;
    service = test::ScriptedService::open(config).value();
    parts.emplace(service->services(), fault, clock);
    builder.emplace(builder_settings(config), *processes,
                    [this, repository = config.source.repository](
                        const std::string& sha, const std::filesystem::path& to) -> Status {
                      TW_TRY_VOID(fault.meet(FaultStep::check_out, sha));
                      return bisect::check_out(repository, sha, to);
                    });
    parts->services.commits = &*builder;
  }

  /// Does what the daemon does, an hour after the other.
  void work(int hours) {
    auto& services = parts->services;
    for (int hour = 0; hour < hours; ++hour) {
      REQUIRE(nightly::discover_comparisons(services, {}, nightly::Retry::when_due));
      nightly::WorkList list(services, nightly::Retry::when_due);
      while (list.carry_out_next(nightly::Scope::nightlies, {}).value()) {
      }
      clock.advance(std::chrono::hours(1));
    }
  }

  storage::Database& database() const { return service->services().database; }
  storage::ComparisonState state_of(const std::string& nightly) const {
    const auto rows = storage::ComparisonStore(database()).list(100).value();
    for (const auto& row : rows) {
      const auto build = storage::BuildStore(database()).get(row.candidate).value();
      if (row.purpose == storage::Purpose::nightly && build.name == nightly) return row.state;
    }
    FAIL("no comparison of " << nightly);
    return {};
  }
  storage::IncidentRow incident(storage::Id id = 1) const {
    return storage::IncidentStore(database()).get(id).value();
  }
  bisection::BisectionResult result(storage::Id of_incident = 1) const {
    const auto searched = incident(of_incident).bisection.value();
    const auto row = storage::BisectionStore(database()).get(searched).value();
    return bisection::parse_bisection_result(row.result_json).value();
  }
  bool has_issue() const {
    return !storage::OutboxStore(database()).of_incident(incident().id).value().empty();
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  PlantedFault& fault;
  test::FakeClock clock;
  std::unique_ptr<test::ScriptedService> service;
  std::unique_ptr<process::ProcessRunner> processes =
      process::make_process_runner("test of searched nightlies");
  std::optional<builds::CommitBuilder> builder;
  std::optional<test::FaultyParts> parts;
};

/// The incident is reported without a culprit where the search has ended; else it waits for it.
void check_searched(SearchedNightly& nightlies, Consequence consequence) {
  const auto problems = health::stored_problems(nightlies.database()).value();
  CHECK_FALSE(health::is_failing(problems));
  const bool waits = consequence == Consequence::waits;
  CHECK(problems.empty() != waits);
  CHECK(nightlies.has_issue() != waits);
  const auto state = nightlies.state_of("2026-08-17");
  if (waits) {
    CHECK(state == storage::ComparisonState::judged);
    return;
  }
  CHECK(state == storage::ComparisonState::reported);
  CHECK(nightlies.result().outcome == bisection::BisectionOutcome::faulted);
}

/// A commit between the ends is left out where the runner does not compile against its build.
bool is_skipped(FaultStep step, ErrorCode code) {
  return step == FaultStep::kit && (code == ErrorCode::failed || code == ErrorCode::invalid);
}

/// The incident is reported with the culprit, which nothing tells from the commit behind it.
void check_skipped(const SearchedNightly& nightlies) {
  CHECK(health::stored_problems(nightlies.database()).value().empty());
  CHECK(nightlies.state_of("2026-08-17") == storage::ComparisonState::reported);
  CHECK(nightlies.has_issue());
  CHECK(nightlies.database().check_invariants().value().empty());
  const auto result = nightlies.result();
  const auto& commits = nightlies.day.commits();
  CHECK(result.outcome == bisection::BisectionOutcome::found);
  REQUIRE(result.culprits.size() == 1);
  CHECK(result.culprits[0].commits == std::vector<std::string>{commits[1], commits[2]});
  REQUIRE(result.skipped.size() == 1);
  CHECK(result.skipped[0].commit == commits[1]);
  CHECK(result.skipped[0].reason == "its runner does not compile: planted");
}

/// What is about the search has ended it; what is not lets it wait, where everybody can see it.
void check_faulty(TwoSearches& searches, Consequence consequence) {
  const auto row = searches.row_of(searches.faulty);
  const auto problems = searches.problems();
  CHECK_FALSE(health::is_failing(problems));
  if (consequence == Consequence::waits) {
    CHECK(row.state == BisectionState::open);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].source == "bisection");
    CHECK(problems[0].item == std::to_string(searches.faulty));
    CHECK(problems[0].since > 0);
    CHECK_THAT(problems[0].detail, Contains("planted"));
    return;
  }
  REQUIRE(row.state == BisectionState::ended);
  CHECK(searches.result_of(searches.faulty).outcome == bisection::BisectionOutcome::faulted);
  CHECK(problems.empty());
}

}  // namespace

TEST_CASE("whatever fails at any step of a search, the search behind it names its culprit") {
  const Day day;
  for (const auto step : kSteps) {
    for (const auto code : test::kItemErrors) {
      if (step == FaultStep::throws && code != ErrorCode::internal) continue;
      INFO("step " << static_cast<int>(step) << ", " << to_string(code));
      PlantedFault fault{.step = step, .code = code, .times = 100, .build = ""};
      TwoSearches searches(day, fault);
      searches.work(3);
      CHECK(searches.result_of(searches.behind).culprit() == searches.commits[3]);
      const auto consequence = nightly::consequence_of(code);
      check_faulty(searches, consequence);
      if (consequence == Consequence::waits) {
        fault.times = 0;
        searches.work(1);
        REQUIRE(searches.row_of(searches.faulty).state == BisectionState::ended);
        CHECK(searches.result_of(searches.faulty).outcome != bisection::BisectionOutcome::faulted);
        CHECK(searches.problems().empty());
      }
      CHECK(searches.service->services().database.check_invariants().value().empty());
    }
  }
}

TEST_CASE("whatever fails at any step of a nightly's search, the next nightly has its verdict") {
  for (const auto step : kSteps) {
    for (const auto code : test::kItemErrors) {
      if (step == FaultStep::throws && code != ErrorCode::internal) continue;
      INFO("step " << static_cast<int>(step) << ", " << to_string(code));
      PlantedFault fault{.step = step, .code = code, .times = 1'000, .build = ""};
      SearchedNightly nightlies(fault);
      nightlies.work(4);
      CHECK(nightlies.state_of("2026-08-18") == storage::ComparisonState::reported);
      if (is_skipped(step, code)) {
        check_skipped(nightlies);
        continue;
      }
      const auto consequence = nightly::consequence_of(code);
      check_searched(nightlies, consequence);
      if (consequence == Consequence::waits) {
        fault.times = 0;
        nightlies.work(1);
        CHECK(nightlies.result().culprit() == nightlies.day.commits()[1]);
        CHECK(nightlies.has_issue());
      }
      CHECK(nightlies.database().check_invariants().value().empty());
    }
  }
}

TEST_CASE("a search that a fault ends leaves the other search of its nightly alone") {
  PlantedFault fault{.step = FaultStep::kit, .code = ErrorCode::conflict, .times = 1, .build = ""};
  SearchedNightly nightlies(fault, "time dlrm cpu-infer 1.5\nleak dlrm cpu-infer 65536");
  nightlies.work(2);
  CHECK(nightlies.state_of("2026-08-17") == storage::ComparisonState::reported);
  CHECK(nightlies.result(1).outcome == bisection::BisectionOutcome::faulted);
  CHECK(nightlies.result(2).culprit() == nightlies.day.commits()[1]);
}

TEST_CASE("however a fetch of commits ends, the nightlies have verdicts and it is tried again") {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), {{"One", "noise 0.01 fixed"}, {"Two", "# 2"}});
  const std::vector<process::ProcessEnd> ends{
      process::Exited{128},   process::Signalled{9},         process::TimedOut{},
      process::OutputLimit{}, process::MemoryLimit{1 << 30}, process::SpawnFailed{"no such file"},
      process::Abandoned{}};
  for (const auto& end : ends) {
    INFO(process::describe(end));
    const test::TemporaryFolder own;
    auto config = day.config();
    config.storage.path = own.path() / "torchwatch.sqlite";
    config.suite.workloads = {"dlrm"};
    config.suite.configurations = {{Device::cpu, Mode::infer}};
    const auto service = test::ScriptedService::open(config).value();
    bool is_mended = false;
    test::FakeProcessRunner git([&](const process::ProcessSpec& spec, std::stop_token) {
      const bool fetches = std::ranges::find(spec.arguments, "fetch") != spec.arguments.end();
      return test::ended(fetches && !is_mended ? end : process::ProcessEnd{process::Exited{0}});
    });
    auto clone = source::Clone::open({.address = "https://example.org/pytorch.git",
                                      .branch = "main",
                                      .folder = own.path() / "clone"},
                                     git)
                     .value();
    auto& services = service->services();
    services.source = &clone;
    REQUIRE(service->carry_out_due_comparisons());
    const auto last = storage::ComparisonStore(services.database).get(2).value();
    CHECK(last.state == storage::ComparisonState::reported);
    const auto problems = health::stored_problems(services.database).value();
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].source == "source");
    is_mended = true;
    REQUIRE(service->carry_out_due_comparisons());
    CHECK(health::stored_problems(services.database).value().empty());
  }
}
