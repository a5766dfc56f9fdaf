// The texts of issues from facts as the pipeline gathers them out of stored rows.
#include <SQLiteCpp/Database.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "golden.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/cli/command_line.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/nightly/incident_facts.hpp"
#include "torchwatch/report/issue.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

constexpr WallMillis kNow = 1'786'934'645'000;  // 2026-08-17T03:04:05Z

const Benchmark kResnet{"resnet18", {Device::cpu, Mode::train}, {}};

VerdictRow slower(Id comparison, const Benchmark& benchmark, double ratio) {
  VerdictRow row;
  row.comparison = comparison;
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

/// A day of four commits and a nightly comparison of its ends, as the stores hold them.
class StoredDay {
 public:
  StoredDay()
      : day_(folder_.path(), {{"One", "noise 0.01"},
                              {"Check every element in addmm before the call (#99231)", "# two"},
                              {"Use the fast path for channels last", "# three"},
                              {"Four", "# four"}}),
        service_(test::ScriptedService::open(day_.config()).value()) {
    for (const double value : {2.11e6, 2.098e6, 2.12e6, 2.101e6}) add_nightly(value);
    const auto baseline = ready("2026-08-16", day_.commits().front(), "9f86d081884c7d65");
    const auto candidate = ready("2026-08-17", day_.commits().back(), "60303ae22b998861");
    comparison_ =
        ComparisonStore(database()).open({Purpose::nightly, candidate, baseline}, kNow).value();
  }

  /// Stores a pair of timed runs side by side, each of which took 20 s.
  void add_pair(const Benchmark& benchmark, std::int64_t baseline_ns, std::int64_t candidate_ns) {
    const auto number = std::to_string(++pairs_);
    add_run(*comparison_.baseline, benchmark, "baseline" + number, baseline_ns);
    add_run(comparison_.candidate, benchmark, "candidate" + number, candidate_ns);
  }

  /// What the runs that are stored from now on state of the machine.
  Environment environment = {};

  const std::string& sha(std::size_t commit) const { return day_.commits().at(commit); }

  /// Stores an incident of the verdicts, with what its bisection ended with.
  report::IncidentFacts facts(const std::vector<VerdictRow>& verdicts,
                              const std::optional<bisection::BisectionResult>& result) {
    IncidentStore incidents(database());
    IncidentRow incident;
    incident.comparison = comparison_.id;
    incident.key = "regression-0123456789abcdef";
    incident.opened_at = kNow;
    for (const auto& row : verdicts) {
      REQUIRE(ComparisonStore(database()).add_verdict(row));
      incident.series.push_back({row.series, row.ratio, row.interval_low, row.interval_high,
                                 row.baseline_value, row.candidate_value});
    }
    incident = incidents.open(incident).value();
    if (result) incident.bisection = ended(incident.id, *result);
    auto& services = service_->services();
    auto facts = nightly::incident_facts(services, incident, {comparison_, {}}).value();
    REQUIRE(nightly::add_history(services, comparison_, facts));
    return facts;
  }

  /// Changes the samples as a bad disk does.
  void damage_samples() {
    SQLite::Database file(day_.config().storage.path.string(), SQLite::OPEN_READWRITE);
    file.exec("UPDATE sample SET data = zeroblob(length(data))");
  }

  Id comparison() const { return comparison_.id; }

 private:
  /// A run of 40 samples around the value.
  void add_run(Id build, const Benchmark& benchmark, const std::string& slot, std::int64_t value) {
    RunStore runs(database());
    const auto begun = kNow + pairs_ * 20'000;
    REQUIRE(runs.issue({.owner = {OwnerKind::comparison, comparison_.id},
                        .slot = slot,
                        .build = build,
                        .benchmark = benchmark,
                        .pass = Pass::timing},
                       slot, begun));
    RunResult result;
    result.attempt = slot;
    for (int i = -20; i < 20; ++i) result.samples_ns.push_back(value + i * std::abs(i) * 300);
    result.values[Metric::time] = value;
    result.environment = environment;
    REQUIRE(runs.record({{slot, result}}, begun + 20'000));
  }

  /// An earlier nightly whose comparison gave kResnet's time that value.
  void add_nightly(double value) {
    const auto number = std::to_string(++nightlies_);
    const auto build = ready("2026-08-0" + number, day_.commits().front(), "hash" + number);
    ComparisonStore store(database());
    const auto row = store.open({Purpose::nightly, build, {}}, kNow).value();
    auto verdict = slower(row.id, kResnet, 1);
    verdict.verdict = Verdict::unchanged;
    verdict.candidate_value = value;
    REQUIRE(store.add_verdict(verdict));
  }

  Database& database() { return service_->services().database; }

  Id ready(const std::string& name, const std::string& commit, const std::string& hash) {
    BuildStore builds(database());
    auto row = builds.discover(BuildOrigin::nightly, name).value();
    row.version = "2.13.0";
    row.trunk_commit = commit;
    row.content_hash = hash;
    row.folder = "/builds/" + name;
    return builds.mark_ready(row).value().id;
  }

  Id ended(Id incident, const bisection::BisectionResult& result) {
    BisectionStore store(database());
    BisectionRow row;
    row.incident = incident;
    row.good = sha(0);
    row.bad = sha(3);
    row.spec_json = "{}";
    row.created_at = kNow;
    row = store.open(row).value();
    REQUIRE(store.end(row, to_json(result), kNow));
    return row.id;
  }

  test::TemporaryFolder folder_;
  test::ScriptedDay day_;
  std::unique_ptr<test::ScriptedService> service_;
  ComparisonRow comparison_;
  int pairs_ = 0;
  int nightlies_ = 0;
};

bisection::BisectionResult culprits_at(const std::vector<std::vector<std::string>>& causes) {
  bisection::BisectionResult result;
  result.outcome = bisection::BisectionOutcome::found;
  for (const auto& commits : causes) {
    result.culprits.push_back(
        {commits,
         "",
         0.99731,
         {{{kResnet, Metric::time}, 0.1389, 0.1275, 0.1508, 12}},
         "against the commit before it that builds, 12 fresh pairs; reverting it on the newest "
         "commit undoes the change (with the commit: resnet18 cpu-train time +14.6 %)"});
  }
  result.commits = 3;
  result.builds = 2;
  result.runs = 96;
  return result;
}

/// Runs a command as a shell would, in a folder that knows no commits and no builds.
std::string error_of(const std::string& command) {
  const test::TemporaryFolder folder;
  const auto config = folder.write("torchwatch.toml", "[storage]\npath = \"db.sqlite\"\n").string();
  std::istringstream words(command + " --config " + config);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  std::vector<const char*> values;
  for (const auto& argument : arguments) values.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream err;
  cli::run(values, out, err, {});
  return err.str();
}

}  // namespace

TEST_CASE("runs side by side count once in what a comparison takes") {
  StoredDay day;
  for (int i = 0; i < 6; ++i) day.add_pair(kResnet, 2'000'000, 2'300'000);
  const auto facts = day.facts({slower(day.comparison(), kResnet, 1.152)}, std::nullopt);
  CHECK(facts.reproduce_seconds == 120);
  CHECK(facts.record.candidate_samples.size() == 6 * 40);
  CHECK(facts.record.nightlies.size() == 5);
  CHECK(facts.tally.empty());
}

TEST_CASE("an issue links the incident's page where people reach it") {
  StoredDay day;
  day.add_pair(kResnet, 2'000'000, 2'300'000);
  auto facts = day.facts({slower(day.comparison(), kResnet, 1.152)}, std::nullopt);
  CHECK_THAT(report::issue_body(facts), !Contains("[its page]"));
  config::Config config;
  config.web.public_address = "https://torchwatch.example.org/";
  facts.page = config::page_of_incident(config, 7);
  CHECK_THAT(report::issue_body(facts),
             Contains(" ([its page](https://torchwatch.example.org/incidents/7))"));
}

TEST_CASE("an issue says what the machine did beside the runs that found it") {
  StoredDay day;
  day.environment.facts = {{"cpus", "2"}};
  for (const int load : {600, 2100}) {
    day.environment.volatile_facts = {
        {"load1_milli", load}, {"steal_ticks", 4}, {"wall_ns", 5'000'000'000}, {"is_virtual", 1}};
    day.add_pair(kResnet, 2'000'000, 2'300'000);
  }
  const auto body =
      report::issue_body(day.facts({slower(day.comparison(), kResnet, 1.152)}, std::nullopt));
  CHECK_THAT(body, Contains("Beside 4 runs of this pass: load 0.6 to 2.1, to which they add; steal "
                            "0.4 % of the time. It is a virtual machine.\n\n| fact | value |"));
}

TEST_CASE("an issue about a time says how to time the original without torchwatch") {
  StoredDay day;
  day.environment.facts = {{"threads", "1"}};
  day.add_pair(kResnet, 2'000'000, 2'300'000);
  const auto facts = day.facts({slower(day.comparison(), kResnet, 1.152)}, std::nullopt);
  CHECK(facts.torchbench == "OMP_NUM_THREADS=1 python3 run.py resnet18 -d cpu -t train");
}

TEST_CASE("damaged samples keep no issue back, which lacks its history then") {
  StoredDay day;
  day.add_pair(kResnet, 2'000'000, 2'300'000);
  day.damage_samples();
  const auto facts = day.facts({slower(day.comparison(), kResnet, 1.152)}, std::nullopt);
  CHECK(facts.record.candidate_samples.empty());
  CHECK_THAT(report::issue_body(facts),
             Contains("resnet18 cpu-train") && !Contains("samples, from"));
}

TEST_CASE("an issue with a culprit reads as accepted") {
  StoredDay day;
  const Benchmark other{"dlrm", {Device::cpu, Mode::train}, {}};
  for (int i = -3; i <= 3; ++i)
    day.add_pair(kResnet, 2'104'000 + i * 9'000, 2'424'000 + i * 12'000);
  const auto facts =
      day.facts({slower(day.comparison(), other, 1.088), slower(day.comparison(), kResnet, 1.152)},
                culprits_at({{day.sha(1)}}));
  require_golden("issue_culprit.md", report::issue_body(facts));
}

TEST_CASE("an issue with two culprits and a third cause reads as accepted") {
  StoredDay day;
  auto result = culprits_at({{day.sha(1)}, {day.sha(2)}});
  result.suspects = {day.sha(2), day.sha(3)};
  result.suspects_confidence = 0.97;
  result.reason = "the budget of 1,000 runs is used up";
  const auto facts = day.facts({slower(day.comparison(), kResnet, 1.152)}, result);
  require_golden("issue_two_culprits.md", report::issue_body(facts));
}

TEST_CASE("an issue with several candidates reads as accepted") {
  StoredDay day;
  auto result = culprits_at({{day.sha(1), day.sha(2)}});
  result.reason = "a commit between them does not build, so nothing can be measured there";
  const auto facts = day.facts({slower(day.comparison(), kResnet, 1.152)}, result);
  require_golden("issue_candidates.md", report::issue_body(facts));
}

TEST_CASE("an issue whose regression did not reproduce reads as accepted") {
  StoredDay day;
  auto result = culprits_at({});
  result.outcome = bisection::BisectionOutcome::did_not_reproduce;
  result.reason = "did not reproduce: the ends differ by +0.4 % [-0.9, +1.7] when built here";
  const auto facts = day.facts({slower(day.comparison(), kResnet, 1.152)}, result);
  require_golden("issue_not_reproduced.md", report::issue_body(facts));
}

TEST_CASE("the commands that reproduce an incident keep its variant and are understood") {
  StoredDay day;
  auto benchmark = kResnet;
  benchmark.variant = {Precision::bf16, Backend::eager, 8, 2};
  const auto facts =
      day.facts({slower(day.comparison(), benchmark, 1.152)}, culprits_at({{day.sha(1)}}));
  CHECK(facts.reproduce ==
        "torchwatch compare 2026-08-16 2026-08-17 --workload resnet18 --configuration cpu-train "
        "--variant bf16,batch=8,threads=2");
  CHECK(facts.test_suspect == "torchwatch bisect --suspect " + day.sha(1) +
                                  " --workload resnet18 --configuration cpu-train --variant "
                                  "bf16,batch=8,threads=2 --metric time");
  CHECK(facts.torchbench.empty());
  for (const auto& command : {facts.reproduce, facts.test_suspect}) {
    CHECK_THAT(error_of(command + " --no-such-option"), Contains("--no-such-option"));
    const auto understood = error_of(command);
    INFO(understood);
    CHECK_THAT(understood, Contains("torchwatch: ") && !Contains("--") && !Contains("variant"));
  }
  CHECK_THAT(error_of("torchwatch bisect a b --variant int3"), Contains("variant"));
}
