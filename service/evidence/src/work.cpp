#include "torchwatch/evidence/work.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "torchwatch/documents/block.hpp"
#include "torchwatch/documents/plan.hpp"
#include "torchwatch/documents/request.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

namespace torchwatch::evidence {
namespace {

using storage::BisectionRow;
using storage::BisectionState;
using storage::ComparisonRow;
using storage::ItemKind;
using storage::Purpose;
using storage::RequestRow;

constexpr double kMillisPerSecond = 1000;
constexpr std::size_t kEstimatedFromMin = 3;
constexpr int kEstimatedFrom = 14;   ///< comparisons of the same purpose: two weeks of nightlies
constexpr int kBisectionsRead = 50;  ///< likewise for searches

double seconds_between(storage::WallMillis from, storage::WallMillis to) {
  return static_cast<double>(to - from) / kMillisPerSecond;
}

/// How long work of each kind takes, each asked for once.
class Estimates {
 public:
  explicit Estimates(storage::Database& database) : database_(database) {}

  Result<std::optional<Estimate>> of(Purpose purpose) {
    const auto known = of_purpose_.find(purpose);
    if (known != of_purpose_.end()) return known->second;
    TW_TRY(auto seconds, storage::EvidenceReader(database_).durations_of(purpose, kEstimatedFrom));
    return of_purpose_[purpose] = estimate_of(std::move(seconds));
  }

  Result<std::optional<Estimate>> of_bisection() {
    if (of_bisection_) return *of_bisection_;
    TW_TRY(const auto rows, storage::BisectionStore(database_).list(kBisectionsRead));
    std::vector<double> seconds;
    for (const auto& row : rows) {
      if (row.state != BisectionState::ended) continue;
      seconds.push_back(seconds_between(row.created_at, row.ended_at));
    }
    of_bisection_ = estimate_of(std::move(seconds));
    return *of_bisection_;
  }

 private:
  storage::Database& database_;
  std::map<Purpose, std::optional<Estimate>> of_purpose_;
  std::optional<std::optional<Estimate>> of_bisection_;
};

bool is_asked_for(Purpose purpose) {
  return purpose == Purpose::requested || purpose == Purpose::measurement ||
         purpose == Purpose::study;
}

bool is_hurried(const RequestRow& row) {
  const auto body = report::embedded(row.body_json);
  return body.is_object() && body.contains("now") && body["now"] == true;
}

/// Gathers what waits, part by part in the order of the daemon (Daemon::attend_next).
class Queue {
 public:
  explicit Queue(storage::Database& database) : database_(database), estimates_(database) {}

  Result<std::vector<QueuedItem>> gather() {
    TW_TRY(const auto requests,
           storage::RequestStore(database_).with_state(storage::RequestState::pending));
    TW_TRY(const auto comparisons, storage::ComparisonStore(database_).unfinished());
    TW_TRY(const auto bisections, storage::BisectionStore(database_).unfinished());
    TW_TRY(const auto setbacks, storage::SetbackStore(database_).list());
    for (const auto& setback : setbacks) setbacks_.emplace(setback.key, setback);
    TW_TRY_VOID(add_requests(requests, true));
    TW_TRY_VOID(add(comparisons, [](auto purpose) { return purpose == Purpose::nightly; }));
    TW_TRY_VOID(add(comparisons, [](auto purpose) {
      return purpose != Purpose::nightly && !is_asked_for(purpose);
    }));
    TW_TRY_VOID(add_requests(requests, false));
    TW_TRY_VOID(add(comparisons, is_asked_for));
    for (const auto& row : bisections) {
      TW_TRY(const auto estimate, estimates_.of_bisection());
      add({ItemKind::bisection, row.id, "bisection", row.created_at, {}, estimate});
    }
    return std::move(items_);
  }

 private:
  void add(QueuedItem item) {
    const auto setback = setbacks_.find({item.kind, std::to_string(item.id)});
    if (setback != setbacks_.end()) item.setback = setback->second;
    items_.push_back(std::move(item));
  }

  template <typename Fits>
  Status add(const std::vector<ComparisonRow>& rows, const Fits& fits) {
    for (const auto& row : rows) {
      if (!fits(row.purpose)) continue;
      TW_TRY(const auto estimate, estimates_.of(row.purpose));
      add({ItemKind::comparison,
           row.id,
           std::string(to_string(row.purpose)),
           row.created_at,
           {},
           estimate});
    }
    return {};
  }

  Status add_requests(const std::vector<RequestRow>& rows, bool hurried) {
    for (const auto& row : rows) {
      if (is_hurried(row) != hurried) continue;
      TW_TRY(const auto estimate, row.kind == storage::RequestKind::bisection
                                      ? estimates_.of_bisection()
                                      : estimates_.of(Purpose::requested));
      add({ItemKind::request, row.id, requests::kind_text(row), row.created_at, {}, estimate});
    }
    return {};
  }

  storage::Database& database_;
  Estimates estimates_;
  std::map<storage::ItemKey, storage::SetbackRow> setbacks_;
  std::vector<QueuedItem> items_;
};

/// What the slots of a stage's runs have in them.
std::string in_slot(comparison::Stage stage) {
  return "/" + std::string(spelling(stage)) + "/";
}

/// How many searches for the incidents of a comparison have not ended.
Result<int> open_bisections(storage::Database& database, storage::Id comparison) {
  TW_TRY(const auto incidents, storage::IncidentStore(database).of_comparison(comparison));
  int open = 0;
  for (const auto& incident : incidents) {
    if (!incident.bisection) continue;
    TW_TRY(const auto search, storage::BisectionStore(database).get(*incident.bisection));
    if (search.state == BisectionState::open) ++open;
  }
  return open;
}

Result<std::vector<RunningRun>> running_in(storage::Database& database, storage::Id comparison) {
  TW_TRY(const auto issued, storage::EvidenceReader(database).running_in(comparison));
  std::vector<RunningRun> running;
  for (const auto& run : issued) {
    running.push_back({run.attempt, run.benchmark, run.pass, run.issued_at});
  }
  return running;
}

}  // namespace

std::optional<Estimate> estimate_of(std::vector<double> seconds) {
  constexpr double kMost = 0.9;
  if (seconds.size() < kEstimatedFromMin) return std::nullopt;
  std::ranges::sort(seconds);
  const auto most = std::ceil(kMost * static_cast<double>(seconds.size())) - 1;
  return Estimate{.likely = seconds[(seconds.size() - 1) / 2],
                  .at_most = seconds[static_cast<std::size_t>(most)],
                  .of = static_cast<int>(seconds.size())};
}

Estimate left_of(Estimate whole, double elapsed) {
  whole.likely = std::max(0.0, whole.likely - elapsed);
  whole.at_most = std::max(0.0, whole.at_most - elapsed);
  return whole;
}

Result<Progress> progress_of(storage::Database& database, const ComparisonRow& comparison,
                             storage::WallMillis now) {
  Progress progress{.comparison = comparison};
  TW_TRY(const auto counts, storage::EvidenceReader(database).counts_of(
                                comparison.id, in_slot(comparison::Stage::confirm)));
  progress.first_run_at = counts.first_at;
  progress.confirm_began_at = counts.later_at;
  progress.last_run_at = counts.last_at;
  progress.benchmarks_begun = counts.benchmarks;
  progress.runs_done = counts.done;
  progress.runs_failed = counts.failed;
  const auto plan = comparison::parse_plan(comparison.plan_json);
  if (plan) progress.benchmarks_planned = static_cast<int>(plan->benchmarks.size());
  TW_TRY(progress.bisections_open, open_bisections(database, comparison.id));
  TW_TRY(progress.running, running_in(database, comparison.id));
  if (is_end(comparison.state)) return progress;
  TW_TRY(const auto whole, Estimates(database).of(comparison.purpose));
  const double elapsed = counts.first_at == 0 ? 0 : seconds_between(counts.first_at, now);
  if (whole) progress.left = left_of(*whole, elapsed);
  return progress;
}

Result<std::optional<ComparisonRow>> current_comparison(storage::Database& database,
                                                        std::optional<storage::Id> at_work) {
  storage::ComparisonStore comparisons(database);
  if (at_work) {
    TW_TRY(auto row, comparisons.get(*at_work));
    return std::optional(std::move(row));
  }
  TW_TRY(auto unfinished, comparisons.unfinished());
  if (unfinished.empty()) return std::nullopt;
  const auto nightly = std::ranges::find(unfinished, Purpose::nightly, &ComparisonRow::purpose);
  return nightly == unfinished.end() ? unfinished.front() : *nightly;
}

Result<std::vector<QueuedItem>> queue_of(storage::Database& database) {
  return Queue(database).gather();
}

}  // namespace torchwatch::evidence
