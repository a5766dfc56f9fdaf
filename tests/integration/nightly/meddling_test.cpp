// What people cancel and retry, and what kills runs, while the real stages are at work.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "fake_clock.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/second_searches.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"
#include "torchwatch/triage/triage.hpp"

using namespace torchwatch;
using Catch::Contains;
using nightly::Retry;
using nightly::Scope;
using storage::ComparisonState;

namespace {

/// Carries out runs, and does something else before one of them.
class Meddling final : public executor::Executor {
 public:
  explicit Meddling(executor::Executor& real) : real_(real) {}

  /// Before the run that is that many runs away.
  void before_run(int number, std::function<void()> meddle) {
    left_ = number;
    meddle_ = std::move(meddle);
  }
  Result<executor::RunOutcome> run(const executor::RunSpec& spec, std::stop_token stop) override {
    count();
    return real_.run(spec, std::move(stop));
  }
  Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2> specs,
                                                       std::stop_token stop) override {
    count();
    return real_.run_pair(std::move(specs), std::move(stop));
  }
  int runs() const { return runs_; }

 private:
  void count() {
    ++runs_;
    if (--left_ == 0) meddle_();
  }

  executor::Executor& real_;
  std::function<void()> meddle_;
  int left_ = 0;
  int runs_ = 0;
};

/// Kills each run, as the kernel does when memory runs out.
class Killing final : public executor::Executor {
 public:
  Result<executor::RunOutcome> run(const executor::RunSpec&, std::stop_token) override {
    const auto kind = is_killing ? executor::FailureKind::killed : executor::FailureKind::other;
    return executor::RunFailure{
        .reason = "killed by signal 9 (SIGKILL)", .output = {}, .kind = kind};
  }
  Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2>,
                                                       std::stop_token) override {
    return fail(ErrorCode::internal, "no pair is expected");
  }
  bool is_killing = true;
};

/// Makes no kit: a person cancels what it is made for meanwhile.
class CancelledKits final : public comparison::RunnerSource {
 public:
  Result<kits::Kit> kit_for(const builds::Tree&, const std::vector<std::string>&,
                            std::stop_token stop) override {
    cancel();
    is_stopped = stop.stop_requested();
    return fail(ErrorCode::cancelled, "interrupted");
  }
  Result<std::vector<std::string>> workloads() const override {
    return std::vector<std::string>{"dlrm", "soft_actor_critic"};
  }

  std::function<void()> cancel;
  bool is_stopped = false;
};

/// The same services, with another executor, another clock, and other runners if they are given.
comparison::Services with(const comparison::Services& services, executor::Executor& executor,
                          const platform::Clock& clock,
                          comparison::RunnerSource* runners = nullptr) {
  return {.config = services.config,
          .database = services.database,
          .executor = executor,
          .runners = runners != nullptr ? *runners : services.runners,
          .channel = services.channel,
          .history = services.history,
          .commits = services.commits,
          .clock = clock,
          .random = services.random,
          .progress = services.progress,
          .releases = services.releases};
}

/// A day whose nightly is due.
struct DueDay {
  DueDay() {
    services.interrupts = &interrupts;
    REQUIRE(nightly::discover_comparisons(services, {}));
  }

  storage::ComparisonRow nightly() const {
    const auto rows = storage::ComparisonStore(services.database).list(100).value();
    const auto found = std::ranges::find_if(rows, [](const auto& row) {
      return row.purpose == storage::Purpose::nightly && row.baseline;
    });
    REQUIRE(found != rows.end());
    return *found;
  }
  storage::ComparisonRow carry_out() {
    nightly::WorkList work(services, Retry::when_due);
    return work.carry_out_next(nightly::Scope::nightlies, {}).value().value();
  }
  std::vector<storage::SetbackRow> setbacks() const {
    return storage::SetbackStore(services.database).list().value();
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day{folder.path(), test::day_with_two_culprits()};
  std::unique_ptr<test::ScriptedService> service =
      test::ScriptedService::open(day.config()).value();
  Meddling executor{service->services().executor};
  signals::Interrupts interrupts;
  comparison::Services services = with(service->services(), executor, service->services().clock);
};

}  // namespace

TEST_CASE("a comparison that is cancelled and due again while it is measured gets its verdict") {
  DueDay due;
  const auto id = due.nightly().id;
  due.executor.before_run(3, [&] {
    storage::ComparisonStore comparisons(due.services.database);
    REQUIRE(comparisons.cancel(id, "cancelled by a person", 1));
    REQUIRE(comparisons.retry(id));
  });
  const auto ended = due.carry_out();
  CHECK(ended.id == id);
  CHECK(ended.state == ComparisonState::reported);
  CHECK(ended.reason.empty());
  CHECK_FALSE(storage::verdicts_of(due.services.database, id).value().empty());
  CHECK(due.setbacks().empty());
  CHECK(due.services.database.check_invariants().value().empty());
}

TEST_CASE("a comparison that is cancelled while it is measured is measured no further") {
  DueDay due;
  const auto id = due.nightly().id;
  due.executor.before_run(3, [&] {
    REQUIRE(storage::ComparisonStore(due.services.database).cancel(id, "by a person", 1));
  });
  const auto ended = due.carry_out();
  CHECK(ended.state == ComparisonState::cancelled);
  CHECK(ended.reason == "by a person");
  CHECK(due.executor.runs() <= comparison::Block::kRuns);
  CHECK(due.setbacks().empty());
}

TEST_CASE("a cancelled comparison gives up the run in flight, and keeps those that ended") {
  DueDay due;
  const auto id = due.nightly().id;
  const auto runs_stored = [&] {
    const storage::Owner owner{storage::OwnerKind::comparison, id};
    return storage::RunStore(due.services.database).runs_of(owner).value().size();
  };
  std::size_t stored = 0;
  due.executor.before_run(3, [&] {
    stored = runs_stored();
    REQUIRE(triage::cancel_comparison(due.services, id, {.user = 1000}));
  });
  const auto ended = due.carry_out();
  CHECK(ended.state == ComparisonState::cancelled);
  CHECK(ended.reason == "by uid 1000");
  CHECK(stored > 0);
  CHECK(runs_stored() == stored);
  CHECK(due.executor.runs() == 3);
  CHECK(due.setbacks().empty());
  CHECK(storage::ComparisonStore(due.services.database).retry(id));
  CHECK(due.carry_out().state == ComparisonState::reported);
  CHECK(due.services.database.check_invariants().value().empty());
}

TEST_CASE("a kit that is being made for a cancelled comparison is stopped") {
  DueDay due;
  const auto id = due.nightly().id;
  CancelledKits kits;
  auto services = with(due.services, due.executor, due.services.clock, &kits);
  services.interrupts = &due.interrupts;
  kits.cancel = [&] { REQUIRE(triage::cancel_comparison(services, id, {.user = 1000})); };
  const auto row = storage::ComparisonStore(services.database).get(id).value();
  const auto ended = nightly::carry_out_comparison(services, row, {});
  REQUIRE(ended);
  CHECK(kits.is_stopped);
  CHECK(ended->state == ComparisonState::cancelled);
  CHECK(due.executor.runs() == 0);
}

TEST_CASE("the search of a cancelled comparison stops at once, and continues when it is retried") {
  DueDay due;
  const auto id = due.nightly().id;
  storage::BisectionStore bisections(due.services.database);
  std::function<void()> cancel = [&] {
    if (bisections.unfinished().value().empty()) return due.executor.before_run(1, cancel);
    REQUIRE(triage::cancel_comparison(due.services, id, {.user = 1000}));
  };
  due.executor.before_run(1, cancel);
  CHECK(due.carry_out().state == ComparisonState::cancelled);
  const auto runs = due.executor.runs();
  CHECK(bisections.unfinished().value().empty());
  CHECK(bisections.list(1).value().front().state == storage::BisectionState::open);
  CHECK_FALSE(nightly::attend_second_searches(due.services, Retry::now, {}).value());
  CHECK(due.executor.runs() == runs);
  REQUIRE(storage::ComparisonStore(due.services.database).retry(id));
  CHECK(due.carry_out().state == ComparisonState::reported);
  const auto all = bisections.list(100).value();
  for (const auto& row : all) {
    CHECK(row.state == storage::BisectionState::ended);
  }
  CHECK(due.services.database.check_invariants().value().empty());
}

TEST_CASE("a service that stops is not taken for a person who cancels") {
  DueDay due;
  const auto id = due.nightly().id;
  std::stop_source stop;
  due.executor.before_run(3, [&] { stop.request_stop(); });
  nightly::WorkList work(due.services, Retry::when_due);
  const auto stopped = work.carry_out_next(nightly::Scope::nightlies, stop.get_token());
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::cancelled);
  CHECK(storage::ComparisonStore(due.services.database).get(id).value().state ==
        ComparisonState::ready);
}

TEST_CASE("work that ends with the run under way stores that run and begins no other") {
  DueDay due;
  const auto id = due.nightly().id;
  storage::RunStore runs(due.services.database);
  const storage::Owner owner{storage::OwnerKind::comparison, id};
  std::stop_source stop;
  signals::LastRun last_run(stop);
  due.services.last_run = &last_run;
  CHECK_FALSE(last_run.end_after_it());
  std::size_t before = 0;
  due.executor.before_run(3, [&] {
    before = runs.runs_of(owner).value().size();
    CHECK(last_run.end_after_it());
    CHECK_FALSE(last_run.end_after_it());
  });
  nightly::WorkList work(due.services, Retry::when_due);
  const auto stopped = work.carry_out_next(nightly::Scope::nightlies, stop.get_token());
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::cancelled);
  CHECK(runs.runs_of(owner).value().size() > before);
  CHECK(storage::ComparisonStore(due.services.database).get(id).value().state ==
        ComparisonState::ready);
  due.services.last_run = nullptr;
  CHECK(due.carry_out().state == ComparisonState::reported);
}

TEST_CASE("a search that is cancelled while it measures ends, and its comparison is reported") {
  DueDay due;
  storage::BisectionStore bisections(due.services.database);
  std::optional<storage::Id> cancelled;
  // Meddles with the first run of the first search, however many runs the comparison had.
  std::function<void()> cancel = [&] {
    const auto open = bisections.unfinished().value();
    if (open.empty()) return due.executor.before_run(1, cancel);
    cancelled = open.front().id;
    REQUIRE(triage::cancel_bisection(due.services, *cancelled, {.user = 1000}));
  };
  due.executor.before_run(1, cancel);
  const auto ended = due.carry_out();
  REQUIRE(cancelled);
  const auto row = bisections.get(*cancelled).value();
  CHECK(bisection::parse_bisection_result(row.result_json).value().reason ==
        "cancelled by uid 1000");
  CHECK(ended.state == ComparisonState::reported);
  const auto messages =
      storage::OutboxStore(due.services.database).of_incident(row.incident.value()).value();
  REQUIRE(messages.size() == 1);
  CHECK_THAT(messages.front().body, Contains("cancelled by somebody on the machine"));
  CHECK_THAT(messages.front().body, !Contains("uid 1000"));
  CHECK(due.setbacks().empty());
}

TEST_CASE("a search that is cancelled keeps the culprit that it had confirmed, and says so") {
  DueDay due;
  storage::BisectionStore bisections(due.services.database);
  storage::BisectionRow row;
  const auto is_verified = [](const storage::BisectionEventRow& event) {
    return event.body_json.find("verify_culprit") != std::string::npos;
  };
  // The culprit is measured against its parent; then comes a run of the newest commit without it.
  std::function<void()> cancel = [&] {
    const auto unfinished = bisections.unfinished().value();
    for (const auto& open : unfinished) {
      row = open;
      if (std::ranges::none_of(bisections.events_of(open.id).value(), is_verified)) break;
      REQUIRE(triage::cancel_bisection(due.services, open.id, {.user = 1000}));
      return;
    }
    due.executor.before_run(1, cancel);
  };
  due.executor.before_run(1, cancel);
  CHECK(due.carry_out().state == ComparisonState::reported);
  row = bisections.get(row.id).value();
  const auto result = bisection::parse_bisection_result(row.result_json).value();
  CHECK(result.reason == "cancelled by uid 1000; what is named was confirmed before");
  REQUIRE(result.culprits.size() == 1);
  CHECK_THAT(result.culprits.front().verified, Contains("the commit before it that builds"));
  const auto messages =
      storage::OutboxStore(due.services.database).of_incident(row.incident.value()).value();
  CHECK_THAT(messages.at(0).title, Contains(result.culprit().value_or("none").substr(0, 7)));
  CHECK_THAT(messages.front().body, Contains("Why no further: `cancelled by somebody on the "
                                             "machine; what is named was confirmed before`"));
}

TEST_CASE("a comparison that is cancelled while its culprit is searched is not judged again") {
  DueDay due;
  const auto id = due.nightly().id;
  storage::ComparisonStore comparisons(due.services.database);
  storage::BisectionStore bisections(due.services.database);
  std::function<void()> cancel = [&] {
    if (bisections.unfinished().value().empty()) return due.executor.before_run(1, cancel);
    REQUIRE(comparisons.cancel(id, "by a person", 1));
  };
  due.executor.before_run(1, cancel);
  CHECK(due.carry_out().state == ComparisonState::cancelled);
  CHECK(due.setbacks().empty());
  const auto verdicts = storage::verdicts_of(due.services.database, id).value().size();
  CHECK(comparisons.retry(id).value().state == ComparisonState::judged);
  CHECK(due.carry_out().state == ComparisonState::reported);
  CHECK(storage::verdicts_of(due.services.database, id).value().size() == verdicts);
  CHECK(due.services.database.check_invariants().value().empty());
}

namespace {

/// Makes runs of the due nightly, which are killed.
struct KilledRuns {
  Result<comparison::MachineRun> run(const std::string& slot) {
    return recorder.run({slot, build}, plan, plan.benchmarks.front(), Pass::timing, {});
  }
  std::int64_t pause_before_run(const std::string& slot) {
    const auto before = clock.monotonic_now();
    REQUIRE(run(slot));
    return std::chrono::duration_cast<std::chrono::seconds>(clock.monotonic_now() - before).count();
  }

  DueDay due;
  storage::ComparisonRow nightly = due.nightly();
  test::FakeClock clock;
  Killing killing;
  comparison::Services services = with(due.services, killing, clock);
  comparison::Plan plan = comparison::plan_of_config(services).value();
  comparison::MeasurableBuild build{.build = nightly.candidate, .tree = {}, .kit = {}};
  comparison::RunRecorder recorder{services, {storage::OwnerKind::comparison, nightly.id}};
};

}  // namespace

TEST_CASE("runs that are killed from outside are tried again after a pause that grows") {
  KilledRuns runs;
  std::vector<std::int64_t> pauses;
  for (const auto* slot : {"a", "a", "b", "b", "c", "c", "d"}) {
    pauses.push_back(runs.pause_before_run(slot));
  }
  CHECK(pauses == std::vector<std::int64_t>{0, 5, 10, 20, 40, 60, 60});
  runs.killing.is_killing = false;
  CHECK(runs.pause_before_run("d") == 60);
  CHECK(runs.pause_before_run("e") == 0);
}

TEST_CASE("a machine that kills every run puts the comparison off, and others have their turn") {
  KilledRuns runs;
  for (const auto* slot : {"a", "a", "b", "b", "c", "c", "d", "d"}) REQUIRE(runs.run(slot));
  const auto next = runs.run("e");
  REQUIRE_FALSE(next);
  CHECK(next.error().code == ErrorCode::unavailable);
  CHECK_THAT(next.error().message, Contains("8 runs in a row were killed from outside"));
}
