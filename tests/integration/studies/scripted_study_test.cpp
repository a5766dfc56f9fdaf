// Two settings of one build on the whole pipeline: real database and children, the scripted runner.
#include <catch2/catch.hpp>

#include "studied_day.hpp"
#include "torchwatch/documents/study.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/studies/stored.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::ComparisonState;
using test::StudiedDay;

namespace {

/// Everything about a series that others read.
struct KnownOfSeries {
  explicit KnownOfSeries(storage::Database& database) {
    storage::RunStore runs(database);
    const Series series{{"dlrm", {Device::cpu, Mode::infer}, {}}, Metric::time};
    const auto history = runs.history(series, 1000).value();
    for (const auto& value : history) attempts.push_back(value.attempt);
    const auto known = runs.all_series().value();
    for (const auto& each : known) all.push_back(to_string(each));
    incidents = storage::IncidentStore(database).list(100).value().size();
    self_tested = sum_of(storage::ComparisonStore(database).self_tests().value()).series;
  }
  bool operator==(const KnownOfSeries&) const = default;

  std::vector<storage::Id> attempts;
  std::vector<std::string> all;
  std::size_t incidents = 0;
  int self_tested = 0;
};

}  // namespace

TEST_CASE("two settings of one build are compared, and no history or incident hears of it") {
  StudiedDay day;
  const KnownOfSeries before(day.database());
  REQUIRE_FALSE(before.attempts.empty());
  const auto ended = day.carry_out(test::kThirdSlower, test::times_of("dlrm"));
  CHECK(ended.state == ComparisonState::reported);
  CHECK(ended.purpose == storage::Purpose::study);
  const auto verdicts = day.verdicts_of(ended);
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts[0].verdict == Verdict::regressed);
  CHECK(verdicts[0].ratio == Approx(1.3).epsilon(0.05));
  CHECK(verdicts[0].interval_low > 1);
  CHECK(KnownOfSeries(day.database()) == before);
  CHECK(day.database().check_invariants().value().empty());
}

TEST_CASE("a study compares outputs where they are named, whatever nightlies do") {
  StudiedDay day;
  auto config = day.day.config();
  config.measure.outputs = true;
  day.service.reset();
  day.service = test::ScriptedService::open(config).value();
  const auto compares_outputs = [&](std::vector<Metric> metrics) {
    auto selection = test::times_of("dlrm");
    selection.metrics = std::move(metrics);
    const auto opened =
        nightly::open_study(day.service->services(), day.build, test::kThirdSlower, selection);
    return comparison::parse_plan(opened.value().plan_json).value().outputs;
  };
  CHECK_FALSE(compares_outputs({}));
  CHECK_FALSE(compares_outputs({Metric::cpu_peak}));
  CHECK(compares_outputs({Metric::output_difference}));
}

TEST_CASE("each side of a study runs under its own setting, in pairs of neighbours") {
  StudiedDay day;
  const auto ended = day.carry_out({.baseline = "threads=1,batch=2", .candidate = "workload=dlrm"},
                                   test::times_of("soft_actor_critic"));
  const auto runs =
      storage::RunStore(day.database()).runs_of({storage::OwnerKind::comparison, ended.id}).value();
  REQUIRE(runs.size() >= 8);
  const auto verdicts = day.verdicts_of(ended);
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts[0].series.benchmark.workload == "soft_actor_critic");
  // The scripted times of the two workloads differ by much more than noise.
  CHECK(verdicts[0].verdict != Verdict::unchanged);
  CHECK(verdicts[0].verdict != Verdict::inconclusive);
}

TEST_CASE("what a workload cannot take is not supported, with its reason, on either side") {
  StudiedDay day("noise 0.01\nunsupported soft_actor_critic * no such operator");
  for (const bool is_baseline : {true, false}) {
    const std::string other = "workload=soft_actor_critic";
    const auto ended = day.carry_out(
        {.baseline = is_baseline ? other : "default", .candidate = is_baseline ? "default" : other},
        test::times_of("dlrm"));
    CHECK(ended.state == ComparisonState::reported);
    const auto verdicts = day.verdicts_of(ended);
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts[0].verdict == Verdict::unsupported);
    CHECK_THAT(verdicts[0].reason, Contains("no such operator"));
  }
  CHECK(storage::IncidentStore(day.database()).list(10).value().empty());
}

TEST_CASE("where a backend cannot be had, the other side is not measured in vain") {
  StudiedDay day;
  auto config = day.day.config();
  config.measure.interleave = true;
  day.service.reset();
  day.service = test::ScriptedService::open(config).value();
  const auto ended = day.carry_out(
      {.baseline = "backend=eager", .candidate = "backend=aot_inductor"}, test::times_of("dlrm"));
  const auto verdicts = day.verdicts_of(ended);
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts[0].verdict == Verdict::unsupported);
  CHECK_THAT(verdicts[0].reason, Contains("the build has no Python part"));
  const auto runs =
      storage::RunStore(day.database()).runs_of({storage::OwnerKind::comparison, ended.id}).value();
  REQUIRE_FALSE(runs.empty());
  for (const auto& run : runs) CHECK(run.status == RunStatus::unsupported);
}

TEST_CASE("a study that was interrupted continues in the same words, and in no others") {
  StudiedDay day;
  auto& services = day.service->services();
  const auto selection = test::times_of("dlrm");
  const auto open = [&](const storage::StudyRow& study) {
    return nightly::open_study(services, day.build, study, selection).value().id;
  };
  const auto first = open(test::kThirdSlower);
  CHECK(open(test::kThirdSlower) == first);
  const storage::StudyRow other{.baseline = "default", .candidate = "threads=2"};
  const auto second = open(other);
  CHECK(second != first);
  CHECK(open(other) == second);
  CHECK(open(test::kThirdSlower) == first);

  // A daemon takes up what a command left, after every nightly.
  nightly::WorkList list(services, nightly::Retry::now);
  CHECK(list.carry_out_next(nightly::Scope::nightlies, {}).value() == std::nullopt);
  CHECK(list.carry_out_next(nightly::Scope::requested, {}).value()->id == first);
}

TEST_CASE("pairs that had ended when a study was interrupted are not measured again") {
  StudiedDay day;
  auto& services = day.service->services();
  studies::StudyFile study;
  for (const std::string threads : {"1", "2", "3"}) {
    study.pairs.push_back(
        {.settings = {.name = threads, .baseline = "batch=2", .candidate = "threads=" + threads},
         .selection = test::times_of("dlrm")});
  }
  const auto known = [&](std::size_t pair) {
    return studies::ended_before_interruption(services, day.build, study, study.pairs.at(pair))
        .value();
  };
  const auto first = day.carry_out(study.pairs[0].settings, study.pairs[0].selection);
  CHECK_FALSE(known(0));  // nothing was interrupted: it is asked anew

  const auto open = [&](std::size_t pair) {
    const auto& [settings, selection, line] = study.pairs.at(pair);
    return nightly::open_study(services, day.build, settings, selection).value();
  };
  const auto interrupted = open(1);
  REQUIRE(known(0));
  CHECK(known(0)->id == first.id);
  CHECK_FALSE(known(1));
  CHECK_FALSE(known(2));
  auto other = study;
  other.pairs[0].selection.preset = Preset::paper;
  CHECK_FALSE(
      studies::ended_before_interruption(services, day.build, other, other.pairs[0]).value());

  REQUIRE(nightly::carry_out_comparison(services, interrupted, {}));
  CHECK_FALSE(known(0));
}

TEST_CASE("a study of a workload that is not in the suite is refused before it is stored") {
  StudiedDay day;
  const auto count = [&] {
    return storage::ComparisonStore(day.database()).list(100).value().size();
  };
  const auto before = count();
  const auto refused = nightly::open_study(day.service->services(), day.build,
                                           {.baseline = "default", .candidate = "workload=dlrn"},
                                           test::times_of("dlrm"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid);
  CHECK_THAT(refused.error().text(), Contains("\"dlrn\" is not in the suite") && Contains("dlrm"));
  CHECK(count() == before);
}

TEST_CASE("a stored study of two settings that mean the same is read, and no new one is opened") {
  StudiedDay day;
  auto& services = day.service->services();
  const storage::StudyRow same{.baseline = "default", .candidate = "heap=fixed"};
  const auto stored = storage::StudyStore(services.database).open(day.build, "{}", same, 1).value();
  CHECK(comparison::sides_of(services.database, stored.id).value().candidate.fixed_heap == true);
  CHECK_FALSE(nightly::open_study(services, day.build, same, {}));
}
