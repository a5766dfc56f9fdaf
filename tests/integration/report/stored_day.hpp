#pragma once

#include <SQLiteCpp/Database.h>

#include <catch2/catch.hpp>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/triage/incident_facts.hpp"

namespace torchwatch::test {

inline constexpr storage::WallMillis kNow = 1'786'934'645'000;  // 2026-08-17T03:04:05Z

inline const Benchmark kResnet{"resnet18", {Device::cpu, Mode::train}, {}};
inline const Series kLeaking{{"dlrm", {Device::cpu, Mode::infer}, {}}, Metric::leak_growth};

inline storage::VerdictRow slower(const Benchmark& benchmark, double ratio) {
  storage::VerdictRow row;
  row.series = {benchmark, Metric::time};
  row.verdict = Verdict::regressed;
  row.ratio = ratio;
  row.interval_low = ratio - 0.0208;
  row.interval_high = ratio + 0.0218;
  row.baseline_value = 2.104e6;
  row.candidate_value = 2.42e6;
  row.baseline_spread = 0.0121;
  row.candidate_spread = 0.0184;
  row.runs = 24;
  return row;
}

inline storage::VerdictRow unchanged(const Series& series, double value) {
  storage::VerdictRow row;
  row.series = series;
  row.verdict = Verdict::unchanged;
  row.baseline_value = row.candidate_value = value;
  row.runs = 8;
  if (is_leak(series.metric)) return row;
  row.ratio = 1.002;
  row.interval_low = 0.983;
  row.interval_high = 1.021;
  row.baseline_spread = 0.0121;
  row.candidate_spread = 0.0184;
  return row;
}

/// A day of four commits and a nightly comparison of its ends, as the stores hold them.
class StoredDay {
 public:
  explicit StoredDay(const config::Config::Web& web = {})
      : day_(folder_.path(), {{"One", "noise 0.01"},
                              {"Check every element in addmm before the call (#99231)", "# two"},
                              {"Use the fast path for channels last", "# three"},
                              {"Four", "# four"}}),
        service_(ScriptedService::open(reachable(day_.config(), web)).value()) {
    for (const double value : {2.11e6, 2.098e6, 2.12e6, 2.101e6}) add_nightly(value);
    const auto baseline = ready("2026-08-16", day_.commits().front(), "9f86d081884c7d65");
    const auto candidate = ready("2026-08-17", day_.commits().back(), "60303ae22b998861");
    comparison_ = open({storage::Purpose::nightly, candidate, baseline});
  }

  storage::Database& database() { return service_->services().database; }
  const storage::ComparisonRow& comparison() const { return comparison_; }

  /// Stores a pair of runs side by side that state the metric, each of which took 20 s.
  void add_pair(const Benchmark& benchmark, std::int64_t baseline, std::int64_t candidate,
                Metric metric = Metric::time) {
    const auto number = std::to_string(++pairs_);
    add_run(*comparison_.baseline, {benchmark, metric}, "baseline" + number, baseline);
    add_run(comparison_.candidate, {benchmark, metric}, "candidate" + number, candidate);
  }

  /// Stores a run of the candidate that crashed, and what it had printed.
  void add_crash(const Benchmark& benchmark, const std::string& output) {
    storage::RunStore runs(database());
    REQUIRE(runs.issue({.owner = {storage::OwnerKind::comparison, comparison_.id},
                        .slot = "crash",
                        .build = comparison_.candidate,
                        .benchmark = benchmark,
                        .pass = Pass::timing},
                       "crash", kNow));
    REQUIRE(runs.record({{"crash", storage::AttemptFailure{"a crash", output}}}, kNow));
  }

  /// What the incident of `facts` rests on.
  report::Drawings drawings = {};

  /// What the runs that are stored from now on state of the machine.
  Environment environment = {};

  const std::string& sha(std::size_t commit) const { return day_.commits().at(commit); }

  /// Stores a verdict of the comparison that no incident has.
  void add_verdict(storage::VerdictRow verdict) { add_verdict(comparison_, std::move(verdict)); }

  /// Stores an incident of the verdicts, with what its bisection ended with; returns its facts, and
  /// keeps its drawings.
  report::IncidentFacts facts(const std::vector<storage::VerdictRow>& verdicts,
                              const std::optional<bisection::BisectionResult>& result,
                              IncidentKind kind = IncidentKind::regression) {
    incident_.comparison = comparison_.id;
    incident_.kind = kind;
    incident_.key = std::string(to_string(kind)) + "-0123456789abcdef";
    incident_.opened_at = kNow;
    for (const auto& row : verdicts) {
      add_verdict(row);
      incident_.series.push_back(storage::incident_series(row));
    }
    const auto opened = storage::IncidentStore(database()).open(incident_).value();
    incident_ = opened;
    if (result) incident_.bisection = ended(incident_.id, *result);
    auto& services = service_->services();
    auto facts = triage::incident_facts(services, incident_, {comparison_, {}}).value();
    REQUIRE(triage::add_history(services, comparison_, opened, facts));
    drawings = facts.drawings;
    return facts;
  }

  /// Stores a comparison of the nightly after the day with the verdicts: with the day's candidate,
  /// or for a recheck with its baseline. Returns the incident's facts as that comparison has them.
  report::IncidentFacts later_facts(storage::Purpose purpose,
                                    const std::vector<storage::VerdictRow>& verdicts) {
    const auto build = ready("2026-08-18", day_.commits().back(), "a665a45920422f9d");
    const bool is_recheck = purpose == storage::Purpose::recheck;
    const auto later = open({.purpose = purpose,
                             .candidate = build,
                             .baseline = is_recheck ? *comparison_.baseline : comparison_.candidate,
                             .incident = is_recheck ? std::optional(incident_.id) : std::nullopt});
    for (const auto& row : verdicts) add_verdict(later, row);
    return triage::incident_facts(service_->services(), incident_, {later, {}}).value();
  }

  /// Changes the samples as a bad disk does.
  void damage_samples() {
    SQLite::Database file(day_.config().storage.path.string(), SQLite::OPEN_READWRITE);
    file.exec("UPDATE sample SET data = zeroblob(length(data))");
  }

 private:
  static config::Config reachable(config::Config config, const config::Config::Web& web) {
    config.web = web;
    return config;
  }

  /// A run of that value; a timed one has 40 samples around it.
  void add_run(storage::Id build, const Series& series, const std::string& slot,
               std::int64_t value) {
    storage::RunStore runs(database());
    const auto begun = kNow + pairs_ * 20'000;
    const auto pass = pass_of(series.metric);
    REQUIRE(runs.issue({.owner = {storage::OwnerKind::comparison, comparison_.id},
                        .slot = slot,
                        .build = build,
                        .benchmark = series.benchmark,
                        .pass = pass},
                       slot, begun));
    RunResult result;
    result.attempt = slot;
    for (int i = -20; pass == Pass::timing && i < 20; ++i) {
      result.samples_ns.push_back(value + i * std::abs(i) * 300);
    }
    result.values[series.metric] = value;
    result.environment = environment;
    REQUIRE(runs.record({{slot, result}}, begun + 20'000));
  }

  /// An earlier nightly, whose comparison gave kResnet's time that value and found no leak.
  void add_nightly(double value) {
    const auto number = std::to_string(++nightlies_);
    const auto build = ready("2026-08-0" + number, day_.commits().front(), "hash" + number);
    const auto row = open({storage::Purpose::nightly, build, {}});
    add_verdict(row, unchanged({kResnet, Metric::time}, value));
    add_verdict(row, unchanged(kLeaking, 0));
  }

  void add_verdict(const storage::ComparisonRow& comparison, storage::VerdictRow verdict) {
    verdict.comparison = comparison.id;
    REQUIRE(storage::ComparisonStore(database()).add_verdict(verdict));
  }

  storage::ComparisonRow open(const storage::NewComparison& comparison) {
    return storage::ComparisonStore(database()).open(comparison, kNow).value();
  }

  storage::Id ready(const std::string& name, const std::string& commit, const std::string& hash) {
    storage::BuildStore builds(database());
    auto row = builds.discover(storage::BuildOrigin::nightly, name).value();
    row.version = "2.13.0";
    row.trunk_commit = commit;
    row.content_hash = hash;
    row.folder = "/builds/" + name;
    return builds.mark_ready(row).value().id;
  }

  storage::Id ended(storage::Id incident, const bisection::BisectionResult& result) {
    storage::BisectionStore store(database());
    storage::BisectionRow row;
    row.incident = incident;
    row.good = sha(0);
    row.bad = sha(3);
    row.spec_json = "{}";
    row.created_at = kNow;
    row = store.open(row).value();
    REQUIRE(store.end(row, to_json(result), kNow));
    return row.id;
  }

  TemporaryFolder folder_;
  ScriptedDay day_;
  std::unique_ptr<ScriptedService> service_;
  storage::ComparisonRow comparison_;
  storage::IncidentRow incident_;
  int pairs_ = 0;
  int nightlies_ = 0;
};

}  // namespace torchwatch::test
