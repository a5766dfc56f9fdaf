#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::test {

/// Keeps what is logged.
class KeptLog final : public comparison::Progress {
 public:
  void phase_started(const std::string& phase) override {
    if (at_phase) at_phase(phase);
  }
  void progress(int, int, const std::string&) override {}
  void log(const std::string& line) override { lines += line + "\n"; }

  std::string lines;
  std::function<void(const std::string&)> at_phase;  ///< called with what begins
};

/// A day whose nightly has an incident about a time and one about a leak.
struct IncidentDay {
  explicit IncidentDay(bool is_on = true,
                       std::vector<ScriptedCommit> commits = day_with_two_culprits())
      : day(folder.path(), std::move(commits)) {
    open(is_on);
  }

  /// Opens the service anew. `is_on`: [detect] incident_traces; `looks_at_operators`: [detect]
  /// operators.
  void open(bool is_on, bool looks_at_operators = false) {
    auto config = day.config();
    config.detect.incident_traces = is_on;
    config.detect.operators = looks_at_operators;
    config.web.public_address = "https://perf.example/";
    service.reset();
    service = ScriptedService::open(config).value();
  }

  comparison::Services services() {
    auto& own = service->services();
    auto& runs = executor == nullptr ? own.executor : *executor;
    const auto& time = clock == nullptr ? own.clock : *clock;
    return {own.config,  own.database, runs, own.runners, own.channel,
            own.history, own.commits,  time, own.random,  log};
  }

  storage::ComparisonRow carry_out() {
    auto with_log = services();
    const auto due = nightly::discover_comparisons(with_log, {}).value();
    const auto done =
        nightly::carry_out_comparisons(with_log, due, [] { return Status{}; }, {}).value();
    REQUIRE(done.size() == 1);
    CHECK(done[0].state == storage::ComparisonState::reported);
    return done[0];
  }

  storage::IncidentRow incident(const storage::ComparisonRow& comparison, IncidentKind kind) {
    const auto all = storage::IncidentStore(database()).of_comparison(comparison.id).value();
    const auto found = std::ranges::find(all, kind, &storage::IncidentRow::kind);
    REQUIRE(found != all.end());
    return *found;
  }

  /// Comparisons in which one build was measured alone.
  std::size_t measurements() {
    const auto all = storage::ComparisonStore(database()).list(100).value();
    return static_cast<std::size_t>(
        std::ranges::count(all, storage::Purpose::measurement, &storage::ComparisonRow::purpose));
  }

  /// Runs that measure, or those that watch operators.
  std::vector<storage::Id> attempts_of(storage::Owner owner, bool watch = false) {
    std::vector<storage::Id> ids;
    const auto runs = storage::RunStore(database()).runs_of(owner).value();
    for (const auto& run : runs) {
      if ((run.pass == Pass::profile) == watch) ids.push_back(run.attempt);
    }
    return ids;
  }

  storage::Database& database() { return service->services().database; }

  TemporaryFolder folder;
  ScriptedDay day;
  std::unique_ptr<ScriptedService> service;
  executor::Executor* executor = nullptr;  ///< where runs take place; null: the service's own
  const platform::Clock* clock = nullptr;  ///< null: the service's own
  KeptLog log;
};

}  // namespace torchwatch::test
