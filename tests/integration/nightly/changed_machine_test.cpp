// A bisection whose machine changes while it runs: a run alone cannot be compared with the values
// of its ends any more, so it must continue in pairs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "incident_day.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/storage/bisection_store.hpp"

using namespace torchwatch;

namespace {

constexpr std::size_t kCulprit = 5;

std::vector<test::ScriptedCommit> day_with_one_culprit() {
  auto commits = test::day_with_two_culprits();
  commits[8].behaviour = "# harmless";
  return commits;
}

/// Only runs that are not interleaved can be read alone.
std::unique_ptr<test::ScriptedService> open(const test::ScriptedDay& day) {
  auto config = day.config();
  config.measure.interleave = false;
  return test::ScriptedService::open(config).value();
}

/// Changes the kernel, on which everything takes longer, as soon as the bisection starts its first
/// run alone: compared with the ends, every commit would be bad.
class OtherKernel final : public comparison::Progress {
 public:
  explicit OtherKernel(std::filesystem::path scratch) : scratch_(std::move(scratch)) {}

  void phase_started(const std::string& what) override {
    const bool is_alone = what.find(" alone, ") != std::string::npos;
    if (is_booted_ && is_interrupting_) stop_.request_stop();
    if (is_booted_ || !is_alone) return;
    std::ofstream(scratch_ / "behaviour") << "fact kernel 6.2\ntime * * 1.5\n";
    is_booted_ = true;
  }
  void progress(int, int, const std::string&) override {}
  void log(const std::string&) override {}

  /// Stops the service at its next step after that.
  void interrupt() { is_interrupting_ = true; }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::filesystem::path scratch_;
  std::stop_source stop_;
  bool is_booted_ = false;
  bool is_interrupting_ = false;
};

/// Carries out the comparison of the day with that progress.
Result<std::vector<storage::ComparisonRow>> carry_out(test::ScriptedService& service,
                                                      OtherKernel& progress) {
  auto& own = service.services();
  comparison::Services services{own.config,  own.database, own.executor, own.runners, own.channel,
                                own.history, own.commits,  own.clock,    own.random,  progress};
  TW_TRY(const auto due, nightly::discover_comparisons(services, {}));
  return nightly::carry_out_comparisons(services, due, [] { return Status{}; }, progress.token());
}

/// Returns the only bisection, with its commits and its steps in order.
struct Search {
  bisection::BisectionResult result;
  std::vector<report::TraceStep> steps;

  long count(bisection::EventKind kind) const {
    return std::ranges::count(steps, kind, &report::TraceStep::kind);
  }
};

Search search_in(storage::Database& database) {
  storage::BisectionStore store(database);
  const auto rows = store.list(10).value();
  REQUIRE(rows.size() == 1);
  return {bisection::parse_bisection_result(rows[0].result_json).value(),
          bisection::trace_of(rows[0], store.events_of(rows[0].id).value()).value()};
}

/// Changes the kernel between the first two runs without a partner that a search makes.
class KernelBetweenRuns final : public executor::Executor {
 public:
  KernelBetweenRuns(executor::Executor& real, std::filesystem::path scratch)
      : real_(real), scratch_(std::move(scratch)) {}

  void arm() { is_armed_ = true; }
  bool has_changed() const { return is_changed_; }

  Result<executor::RunOutcome> run(const executor::RunSpec& spec, std::stop_token stop) override {
    auto outcome = real_.run(spec, stop);
    if (is_armed_ && !is_changed_) {
      std::ofstream(scratch_ / "behaviour") << "fact kernel 6.2\n";
      is_changed_ = true;
    }
    return outcome;
  }
  Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2> specs,
                                                       std::stop_token stop) override {
    return real_.run_pair(specs, stop);
  }

 private:
  executor::Executor& real_;
  std::filesystem::path scratch_;
  bool is_armed_ = false;
  bool is_changed_ = false;
};

void check_that_it_went_on_in_pairs(const Search& search, const std::string& culprit) {
  INFO(search.result.reason);
  CHECK(search.result.culprit() == culprit);
  CHECK(search.count(bisection::EventKind::level_lost) == 1);
  CHECK(search.count(bisection::EventKind::measured_alone) == 0);
  const auto lost =
      std::ranges::find(search.steps, bisection::EventKind::level_lost, &report::TraceStep::kind);
  REQUIRE(lost != search.steps.end());
  CHECK(lost->reason.find("kernel") != std::string::npos);
  const bool probed_in_pairs = std::any_of(lost, search.steps.end(), [](const auto& step) {
    return step.kind == bisection::EventKind::measured && step.purpose == bisect::Purpose::probe;
  });
  CHECK(probed_in_pairs);
}

}  // namespace

TEST_CASE("a bisection whose machine changes continues in pairs and still names the culprit") {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), day_with_one_culprit());
  const auto service = open(day);
  OtherKernel progress(day.config().executor.scratch);
  REQUIRE(carry_out(*service, progress));

  auto& database = service->services().database;
  check_that_it_went_on_in_pairs(search_in(database), day.commits()[kCulprit]);
  REQUIRE(database.check_invariants().value().empty());
}

TEST_CASE("a bisection that was stopped after its machine changed reads no build alone again") {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), day_with_one_culprit());
  {
    const auto service = open(day);
    OtherKernel progress(day.config().executor.scratch);
    progress.interrupt();
    const auto ended = carry_out(*service, progress);
    REQUIRE_FALSE(ended);
    REQUIRE(ended.error().code == ErrorCode::cancelled);
  }
  const auto service = open(day);
  REQUIRE(service->carry_out_due_comparisons());
  auto& database = service->services().database;
  check_that_it_went_on_in_pairs(search_in(database), day.commits()[kCulprit]);
  REQUIRE(database.check_invariants().value().empty());
}

TEST_CASE("a pair of leaks between whose runs the machine changes is measured anew") {
  test::IncidentDay day(false);
  KernelBetweenRuns kernel(day.service->services().executor, day.day.config().executor.scratch);
  day.executor = &kernel;
  day.log.at_phase = [&](const std::string& phase) {
    if (phase.find(" to see the change between both ends again") != std::string::npos) kernel.arm();
  };
  const auto comparison = day.carry_out();
  REQUIRE(kernel.has_changed());
  const auto incident = day.incident(comparison, IncidentKind::leak);
  const auto row = storage::BisectionStore(day.database()).get(incident.bisection.value()).value();
  const auto result = bisection::parse_bisection_result(row.result_json).value();
  INFO(result.reason);
  CHECK(result.culprit() == day.day.commits()[8]);
  const auto runs =
      storage::RunStore(day.database()).runs_of({storage::OwnerKind::bisection, row.id}).value();
  const auto anew = std::ranges::count_if(
      runs, [](const auto& run) { return run.slot.find("/anew") != std::string::npos; });
  CHECK(anew == 2);
  CHECK(day.database().check_invariants().value().empty());
}
