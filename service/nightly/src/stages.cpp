#include "torchwatch/nightly/stages.hpp"

#include "follow_ups.hpp"
#include "judging.hpp"
#include "reporting.hpp"
#include "torchwatch/bisection/run.hpp"
#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::nightly {
namespace {

using comparison::Comparison;
using storage::ComparisonRow;
using storage::ComparisonState;
using storage::Purpose;

/// Each stage takes the comparison in one state and returns its row in a later one.
class Stages {
 public:
  Stages(comparison::Services& services, std::stop_token stop)
      : services_(services),
        comparisons_(services.database),
        builds_(services.database),
        stop_(stop) {}

  /// Carries out the stage that follows the comparison's state.
  Result<ComparisonRow> next(Comparison& comparison) {
    switch (comparison.row.state) {
      case ComparisonState::discovered:
        return prepare(comparison);
      case ComparisonState::ready:
        return measure(comparison);
      case ComparisonState::measured:
        return judge_comparison(services_, comparison);
      case ComparisonState::judged:
        return bisect(comparison);
      case ComparisonState::bisected:
        return report_comparison(services_, comparison);
      case ComparisonState::reported:
      case ComparisonState::accepted:
      case ComparisonState::refused:
        return comparison.row;
    }
    return fail(ErrorCode::internal, "comparison in an unknown state");
  }

 private:
  Result<ComparisonRow> advance(const Comparison& comparison, ComparisonState to,
                                const std::string& reason = "") {
    return comparisons_.advance(comparison.row, to, services_.clock.wall_now(), reason);
  }

  Result<ComparisonRow> prepare(Comparison& comparison) {
    const auto& row = comparison.row;
    if (!row.baseline) {
      const bool is_oldest = row.purpose == Purpose::nightly;
      return advance(comparison, ComparisonState::accepted,
                     is_oldest ? std::string(kOldestNightly) : "measured alone, and interrupted");
    }
    TW_TRY(const auto candidate, builds_.get(row.candidate));
    TW_TRY(const auto baseline, builds_.get(*row.baseline));
    for (const auto* build : {&baseline, &candidate}) {
      if (auto tree = builds::inspect(build->folder); !tree) {
        return advance(comparison, ComparisonState::refused,
                       "build " + build->name + ": " + tree.error().message);
      }
    }
    if (row.purpose == Purpose::nightly && candidate.content_hash == baseline.content_hash) {
      return end_without_measuring(comparison, baseline);
    }
    if (row.plan_json.empty()) {
      TW_TRY(comparison.plan, comparison::plan_of_config(services_));
      TW_TRY(comparison.row, comparisons_.set_plan(row, to_json(comparison.plan)));
    }
    services_.progress.phase_started("preparing runners for " + candidate.name);
    TW_TRY_VOID(comparison::ComparedBuilds::prepare(services_, comparison, stop_));
    return advance(comparison, ComparisonState::ready);
  }

  Result<ComparisonRow> end_without_measuring(Comparison& comparison,
                                              const storage::BuildRow& baseline) {
    TW_TRY(comparison.plan, comparison::plan_of_config(services_));
    ComparisonRow ended;
    TW_TRY_VOID(services_.database.transact([&]() -> Status {
      TW_TRY_VOID(open_self_test(services_, comparison));
      TW_TRY(ended, advance(comparison, ComparisonState::reported,
                            "the same libraries as " + baseline.name + ": nothing to measure"));
      return {};
    }));
    return ended;
  }

  Result<ComparisonRow> measure(const Comparison& comparison) {
    TW_TRY(const auto compared, comparison::ComparedBuilds::prepare(services_, comparison, stop_));
    TW_TRY_VOID(comparison::measure(services_, comparison, compared, stop_));
    return advance(comparison, ComparisonState::measured);
  }

  Result<ComparisonRow> bisect(const Comparison& comparison) {
    storage::IncidentStore incidents(services_.database);
    storage::BisectionStore bisections(services_.database);
    TW_TRY(const auto found, incidents.of_comparison(comparison.row.id));
    for (const auto& incident : found) {
      if (!incident.bisection) continue;
      TW_TRY(const auto bisection, bisections.get(*incident.bisection));
      services_.progress.phase_started("bisecting: " + incident.title);
      TW_TRY_VOID(bisection::carry_out_bisection(services_, bisection, stop_));
    }
    return advance(comparison, ComparisonState::bisected);
  }

  comparison::Services& services_;
  storage::ComparisonStore comparisons_;
  storage::BuildStore builds_;
  std::stop_token stop_;
};

}  // namespace

Result<ComparisonRow> carry_out_comparison(comparison::Services& services, ComparisonRow row,
                                           std::stop_token stop) {
  Stages stages(services, stop);
  TW_TRY(auto comparison, Comparison::of(std::move(row)));
  while (!is_end(comparison.row.state)) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "the comparison was interrupted");
    TW_TRY(comparison.row, stages.next(comparison));
  }
  return comparison.row;
}

Result<std::vector<ComparisonRow>> carry_out_comparisons(comparison::Services& services,
                                                         std::vector<ComparisonRow> comparisons,
                                                         const std::function<Status()>& after_each,
                                                         std::stop_token stop) {
  const auto carry_out = [&](std::vector<ComparisonRow>& some) -> Status {
    for (auto& row : some) {
      TW_TRY(row, carry_out_comparison(services, row, stop));
      TW_TRY_VOID(after_each());
    }
    return {};
  };
  TW_TRY_VOID(carry_out(comparisons));
  storage::ComparisonStore store(services.database);
  TW_TRY(auto left, store.unfinished());
  while (!left.empty()) {
    TW_TRY_VOID(carry_out(left));
    for (const auto& row : left) {
      TW_TRY(const auto found, storage::IncidentStore(services.database).of_comparison(row.id));
      if (!found.empty()) comparisons.push_back(row);
    }
    TW_TRY(left, store.unfinished());
  }
  return comparisons;
}

Result<ComparisonRow> open_requested_comparison(comparison::Services& services,
                                                storage::Id candidate, storage::Id baseline,
                                                bool opens_incidents) {
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(const auto plan, comparison::plan_of_config(services));
  const storage::NewComparison asked{.purpose = Purpose::requested,
                                     .candidate = candidate,
                                     .baseline = baseline,
                                     .opens_incidents = opens_incidents,
                                     .plan_json = to_json(plan)};
  TW_TRY(const auto interrupted, comparisons.unfinished());
  for (const auto& row : interrupted) {
    const bool is_same = row.purpose == asked.purpose && row.candidate == candidate &&
                         row.baseline == baseline && row.opens_incidents == opens_incidents &&
                         row.plan_json == asked.plan_json;
    if (!is_same) continue;
    services.progress.log("continuing comparison " + std::to_string(row.id) +
                          ", which was interrupted");
    return row;
  }
  return comparisons.open(asked, services.clock.wall_now());
}

}  // namespace torchwatch::nightly
