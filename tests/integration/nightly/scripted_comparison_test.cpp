#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/detect/settings.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;
using test::ScriptedDay;
using test::ScriptedService;

namespace {

std::unique_ptr<ScriptedService> open(const config::Config& config) {
  auto service = ScriptedService::open(config);
  if (!service) FAIL(service.error().message);
  return std::move(*service);
}

std::unique_ptr<ScriptedService> open(const ScriptedDay& day) {
  return open(day.config());
}

std::vector<storage::ComparisonRow> carry_out(ScriptedService& service) {
  const auto comparisons = service.carry_out_due_comparisons();
  if (!comparisons) FAIL(comparisons.error().message);
  return *comparisons;
}

bisection::BisectionResult search_of(storage::Database& database,
                                     const storage::IncidentRow& incident) {
  REQUIRE(incident.bisection);
  const auto row = storage::BisectionStore(database).get(*incident.bisection).value();
  return bisection::parse_bisection_result(row.result_json).value();
}

/// Returns the numbers of the builders that made the builds in a cache.
std::set<std::string> builders_of(const std::filesystem::path& cache) {
  std::set<std::string> numbers;
  for (const auto& entry : std::filesystem::directory_iterator(cache)) {
    std::ifstream file(entry.path() / "builder");
    for (std::string number; std::getline(file, number);) numbers.insert(number);
  }
  return numbers;
}

/// Keeps what is announced.
class Listener final : public comparison::Progress {
 public:
  void phase_started(const std::string& what) override { announced.push_back(what); }
  void progress(int, int, const std::string&) override {}
  void log(const std::string&) override {}

  std::vector<std::string> beginning_with(const std::string& words) const {
    std::vector<std::string> found;
    std::ranges::copy_if(announced, std::back_inserter(found),
                         [&](const auto& each) { return each.starts_with(words); });
    return found;
  }

  std::vector<std::string> announced;
};

int count_events(storage::Database& database, storage::Id bisection, const std::string& kind) {
  const auto events = storage::BisectionStore(database).events_of(bisection).value();
  return static_cast<int>(
      std::ranges::count_if(events, [&](const auto& event) { return event.kind == kind; }));
}

/// Returns the commits that a search found built when it began.
std::set<std::string> at_hand(storage::Database& database, storage::Id bisection) {
  std::set<std::string> commits;
  const auto events = storage::BisectionStore(database).events_of(bisection).value();
  for (const auto& event : events) {
    const auto body = nlohmann::json::parse(event.body_json);
    if (body.value("at_hand", false)) commits.insert(body.at("commit"));
  }
  return commits;
}

/// The timing runs state what stands beside their times; no verdict, incident or search is on it.
void check_not_judged_beside_time(storage::Database& database,
                                  const storage::ComparisonRow& comparison) {
  const storage::Owner owner{storage::OwnerKind::comparison, comparison.id};
  const auto runs = storage::RunStore(database).runs_of(owner).value();
  const auto states_all = [](const auto& run) {
    return run.values.contains(Metric::time) == run.values.contains(Metric::first_iteration) &&
           run.values.contains(Metric::time) == run.values.contains(Metric::throughput);
  };
  CHECK(std::ranges::all_of(runs, states_all));
  CHECK(std::ranges::any_of(
      runs, [](const auto& run) { return run.values.contains(Metric::throughput); }));
  const auto is_on_judged = [](const auto& row) { return is_judged(row.series.metric); };
  const auto verdicts = storage::verdicts_of(database, comparison.id).value();
  CHECK(std::ranges::all_of(verdicts, is_on_judged));
  const auto incidents = storage::IncidentStore(database).of_comparison(comparison.id).value();
  for (const auto& incident : incidents) {
    CHECK(std::ranges::all_of(incident.series, is_on_judged));
  }
}

/// What the search of a time expects of a pair is what the comparison's pairs scattered by, which
/// is less than their runs do.
void check_expected_noise(storage::Database& database, const storage::IncidentRow& incident) {
  const auto row = storage::BisectionStore(database).get(*incident.bisection).value();
  const auto spec = bisection::parse_bisection_spec(row.spec_json).value();
  const auto verdicts = storage::verdicts_of(database, incident.comparison).value();
  for (const auto& verdict : verdicts) {
    const auto searched =
        std::ranges::find(spec.series, verdict.series, &bisection::SearchedSeries::series);
    if (searched == spec.series.end() || !bisection::is_relative(verdict.series.metric)) continue;
    CHECK(verdict.pair_spread > 0);
    CHECK(searched->noise_sd == std::max(verdict.pair_spread, detect::Settings().noise_floor));
  }
}

}  // namespace

TEST_CASE("a comparison finds both culprits of its day and queues one issue for each") {
  const bool interleave = GENERATE(true, false);
  CAPTURE(interleave);
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), test::day_with_two_culprits());
  auto config = day.config();
  config.measure.interleave = interleave;
  const auto service = open(config);
  const auto comparisons = carry_out(*service);
  REQUIRE(comparisons.size() == 1);
  REQUIRE(comparisons[0].state == storage::ComparisonState::reported);

  auto& database = service->services().database;
  const auto incidents = storage::IncidentStore(database).of_comparison(comparisons[0].id).value();
  REQUIRE(incidents.size() == 2);
  check_not_judged_beside_time(database, comparisons[0]);
  for (const auto& incident : incidents) {
    const auto result = search_of(database, incident);
    INFO(incident.title << ": " << result.reason);
    check_expected_noise(database, incident);
    const auto culprit = incident.kind == IncidentKind::leak ? 8U : 5U;
    REQUIRE(result.culprit() == day.commits()[culprit]);
    REQUIRE_THAT(result.culprits[0].verified,
                 Catch::Contains("undoes the change (with the commit: " +
                                 to_string(result.culprits[0].effects[0].series) + " +"));
    REQUIRE(storage::OutboxStore(database).of_incident(incident.id).value().size() == 1);
    // Ends, culprit and at times a rest in pairs; what lies between the ends alone, but for times
    // that were interleaved.
    const bool interleaved = interleave && incident.kind == IncidentKind::regression;
    REQUIRE(count_events(database, *incident.bisection, "measured") >= (interleaved ? 3 : 2));
    REQUIRE((count_events(database, *incident.bisection, "measured_alone") == 0) == interleaved);
    REQUIRE(count_events(database, *incident.bisection, "level_lost") == 0);
  }
  REQUIRE(database.check_invariants().value().empty());
}

TEST_CASE("a bisection with several builders names the same culprits") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), test::day_with_two_culprits());
  auto config = day.config();
  config.build.builders = 3;
  const auto service = open(config);
  const auto comparisons = carry_out(*service);
  REQUIRE(comparisons.size() == 1);

  auto& database = service->services().database;
  const auto incidents = storage::IncidentStore(database).of_comparison(comparisons[0].id).value();
  REQUIRE(incidents.size() == 2);
  for (const auto& incident : incidents) {
    const auto culprit = incident.kind == IncidentKind::leak ? 8U : 5U;
    REQUIRE(search_of(database, incident).culprit() == day.commits()[culprit]);
  }
  REQUIRE(builders_of(config.build.cache) == std::set<std::string>{"0", "1", "2"});
  REQUIRE(database.check_invariants().value().empty());
}

TEST_CASE("each commit is announced as built once, and as at hand by the search after it") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), test::day_with_two_culprits());
  const auto service = open(day);
  auto& own = service->services();
  Listener heard;
  comparison::Services services{own.config,  own.database, own.executor, own.runners, own.channel,
                                own.history, own.commits,  own.clock,    own.random,  heard};
  const auto due = nightly::discover_comparisons(services, {}).value();
  const auto done =
      nightly::carry_out_comparisons(services, due, [] { return Status{}; }, {}).value();
  REQUIRE(done.size() == 1);

  const auto built = heard.beginning_with("building commit ");
  CHECK(built.size() >= 2);
  CHECK(std::set(built.begin(), built.end()).size() == built.size());
  // Both searches of the day are between the same ends.
  CHECK(heard.beginning_with("preparing commit ").size() >= 2);
  const auto incidents = storage::IncidentStore(own.database).of_comparison(done[0].id).value();
  REQUIRE(incidents.size() == 2);
  CHECK(at_hand(own.database, *incidents[0].bisection).empty());
  const auto known = at_hand(own.database, *incidents[1].bisection);
  CHECK(known.contains(day.commits()[5]));
  CHECK_FALSE(known.contains(day.commits().back()));
}

TEST_CASE("a second call finds the comparison done and does nothing") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), test::day_with_two_culprits());
  const auto service = open(day);
  carry_out(*service);
  const auto before = test::final_state(service->services().database).value();
  REQUIRE(carry_out(*service).empty());
  REQUIRE(test::final_state(service->services().database).value() == before);
}

TEST_CASE("a day without a culprit opens no incident") {
  const test::TemporaryFolder folder;
  auto commits = test::day_with_two_culprits();
  for (auto& commit : commits) {
    const bool culprit =
        commit.behaviour.starts_with("time") || commit.behaviour.starts_with("leak");
    if (culprit) commit.behaviour = "# harmless";
  }
  const ScriptedDay day(folder.path(), commits);
  const auto service = open(day);
  const auto comparisons = carry_out(*service);
  REQUIRE(comparisons.size() == 1);
  REQUIRE(storage::IncidentStore(service->services().database).list(10).value().empty());
}

TEST_CASE("a nightly with the same libraries as the one before ends without a measurement") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), {{"One", "noise 0.01"}, {"Two", ""}});
  const auto service = open(day);
  const auto comparisons = carry_out(*service);
  REQUIRE(comparisons.size() == 1);
  REQUIRE(comparisons[0].state == storage::ComparisonState::reported);
  REQUIRE(comparisons[0].reason.find("the same libraries") != std::string::npos);
}

TEST_CASE("a workload that no longer runs is an incident of kind lost") {
  const std::string how = GENERATE("crash dlrm cpu-train", "failed dlrm cpu-train boom");
  CAPTURE(how);
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), {{"One", "noise 0.01"}, {"Two", how}});
  const auto service = open(day);
  const auto comparisons = carry_out(*service);
  const auto incidents = storage::IncidentStore(service->services().database)
                             .of_comparison(comparisons.at(0).id)
                             .value();
  REQUIRE(incidents.size() == 1);
  REQUIRE(incidents[0].kind == IncidentKind::lost);
}

TEST_CASE("a damaged nightly is rejected with the reason and the others are compared") {
  const test::TemporaryFolder folder;
  ScriptedDay day(folder.path(), test::day_with_two_culprits());
  day.publish("2026-08-18", day.commits().back(), "noise 0.01");
  std::filesystem::remove(folder.path() / "nightlies/2026-08-18/lib/libtorch_cpu.so");
  const auto service = open(day);
  const auto comparisons = carry_out(*service);
  REQUIRE(comparisons.size() == 1);
  REQUIRE(comparisons[0].state == storage::ComparisonState::reported);
}

TEST_CASE("the same change found again is a comment on its open incident, not a second one") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), test::day_with_two_culprits());
  const auto service = open(day);
  const auto first = carry_out(*service).at(0);
  auto& services = service->services();
  const auto again =
      nightly::open_requested_comparison(services, first.candidate, *first.baseline, true).value();
  REQUIRE(nightly::carry_out_comparison(services, again, {}));

  const auto incidents = storage::IncidentStore(services.database).list(10).value();
  REQUIRE(incidents.size() == 2);
  for (const auto& incident : incidents) {
    const auto messages = storage::OutboxStore(services.database).of_incident(incident.id).value();
    REQUIRE(messages.size() == 3);
    REQUIRE(messages[1].kind == storage::OutboxKind::edit);
    REQUIRE_THAT(messages[1].body, Catch::StartsWith("*Now:* found again in `"));
    REQUIRE(messages[2].kind == storage::OutboxKind::comment);
  }
}

TEST_CASE("a request resumes a comparison that was interrupted and repeats one that has ended") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), {{"One", "noise 0.01"}, {"Two", "noise 0.01"}});
  const auto service = open(day);
  const auto comparison = carry_out(*service).at(0);
  auto& services = service->services();
  const auto open_one = [&](bool finds_incidents) {
    return nightly::open_requested_comparison(services, comparison.candidate, *comparison.baseline,
                                              finds_incidents)
        .value();
  };
  const auto interrupted = open_one(false);
  CHECK(open_one(false).id == interrupted.id);
  CHECK(open_one(true).id != interrupted.id);
  REQUIRE(nightly::carry_out_comparison(services, interrupted, {}));
  CHECK(open_one(false).id != interrupted.id);
}

namespace {

/// A day whose second nightly trains more slowly; the third one's behaviour is given.
std::vector<storage::IncidentRow> after_third_nightly(const std::filesystem::path& folder,
                                                      const std::string& behaviour) {
  ScriptedDay day(
      folder,
      {{"One", "noise 0.01"}, {"Two", "time dlrm cpu-train 1.5"}, {"Three", "# the third"}});
  day.publish("2026-08-17", day.commits()[1], "noise 0.01\ntime dlrm cpu-train 1.5");
  day.publish("2026-08-18", day.commits()[2], behaviour);
  const auto service = open(day);
  carry_out(*service);
  auto& database = service->services().database;
  REQUIRE(database.check_invariants().value().empty());
  REQUIRE(storage::ComparisonStore(database).unfinished().value().empty());
  return storage::IncidentStore(database).list(10).value();
}

}  // namespace

TEST_CASE("an incident is closed when a later nightly no longer shows it") {
  const test::TemporaryFolder folder;
  const auto incidents = after_third_nightly(folder.path(), "noise 0.01\n# undone");
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].state == storage::IncidentState::closed);
  const auto database =
      storage::Database::open({.path = folder.path() / "state/torchwatch.sqlite"});
  const auto messages = storage::OutboxStore(**database).of_incident(incidents[0].id).value();
  REQUIRE(messages.size() == 3);
  CHECK(messages[2].kind == storage::OutboxKind::close);
  CHECK(messages[2].body.find("nothing of this is left") != std::string::npos);
}

TEST_CASE("an incident that a later nightly still shows stays open without a comment") {
  const test::TemporaryFolder folder;
  const auto incidents =
      after_third_nightly(folder.path(), "noise 0.01\ntime dlrm cpu-train 1.5\n# the third");
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].state == storage::IncidentState::open);
}
