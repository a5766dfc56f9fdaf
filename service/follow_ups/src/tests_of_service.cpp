#include <algorithm>

#include "torchwatch/comparison/series_settings.hpp"
#include "torchwatch/documents/plan.hpp"
#include "torchwatch/follow_ups/follow_ups.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/runs/drills.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::follow_ups {
namespace {

using comparison::Comparison;
using storage::Purpose;

Status open_self_test(comparison::Services& services, const Comparison& nightly, int number) {
  auto plan = nightly.plan;
  plan.benchmarks = {
      nightly.plan.benchmarks[static_cast<std::size_t>(number) % nightly.plan.benchmarks.size()]};
  TW_TRY_VOID(storage::ComparisonStore(services.database)
                  .open({.purpose = Purpose::self_test,
                         .candidate = nightly.row.candidate,
                         .baseline = nightly.row.candidate,
                         .budget_series = series_count(nightly.plan),
                         .plan_json = to_json(plan)},
                        services.clock.wall_now()));
  return {};
}

/// What is known of drills when a nightly ends.
struct PastDrills {
  std::optional<storage::ComparisonRow> last = {};
  bool was_missed = false;  ///< a slowdown, and none was found since
};

Result<PastDrills> past_drills(comparison::Services& services) {
  PastDrills past;
  TW_TRY(const auto times, storage::AlarmStore(services.database).times());
  past.was_missed = times.missed_drill.has_value();
  TW_TRY(const auto last, storage::last_drill(services.database));
  if (!last) return past;
  TW_TRY(past.last, storage::ComparisonStore(services.database).get(*last));
  return past;
}

/// Returns whether [detect] drill_every nightlies came since the last drill, or ever, or a slowdown
/// was missed: the next nightly tells whether one is found again. One drill at a time.
Result<bool> is_drill_due(comparison::Services& services, const PastDrills& past, int number) {
  const int every = services.config.detect.drill_every;
  if (every == 0 || (past.last && !is_end(past.last->state))) return false;
  if (past.was_missed) return true;
  if (!past.last) return number >= every;
  TW_TRY(const int then,
         storage::ComparisonStore(services.database).nightlies_until(past.last->id));
  return number - then >= every;
}

/// Returns the place of the benchmark whose slowdown was missed; nothing where none was, or where
/// the benchmark is not in the plan any more.
std::optional<std::size_t> place_of_missed(const PastDrills& past, const comparison::Plan& plan) {
  if (!past.was_missed || !past.last) return std::nullopt;
  const auto then = comparison::parse_plan(past.last->plan_json);
  if (!then || then->benchmarks.empty()) return std::nullopt;
  const auto found = std::ranges::find(plan.benchmarks, then->benchmarks.front());
  if (found == plan.benchmarks.end()) return std::nullopt;
  return static_cast<std::size_t>(found - plan.benchmarks.begin());
}

/// Returns the plan of a drill, with benchmarks that alternate from drill to drill, but for one
/// that was missed; nothing where there is none that can be slowed down: external workloads cannot,
/// nor operators.
std::optional<comparison::Plan> plan_of_drill(const config::Config& config, const PastDrills& past,
                                              comparison::Plan plan, int number) {
  std::erase_if(plan.benchmarks, [&](const Benchmark& benchmark) {
    return plan.stated.contains(benchmark.workload) || is_of_operator(benchmark);
  });
  if (plan.benchmarks.empty()) return std::nullopt;
  const auto drills = static_cast<std::size_t>(number / config.detect.drill_every);
  const auto place = place_of_missed(past, plan).value_or(drills % plan.benchmarks.size());
  plan.benchmarks = {plan.benchmarks[place]};
  plan.passes = {Pass::timing};
  const auto settings = comparison::series_settings(config, {});
  plan.planted_slowdown = 2 * settings.of({plan.benchmarks.front(), Metric::time}).threshold;
  return plan;
}

Status open_drill(comparison::Services& services, const Comparison& nightly, int number) {
  TW_TRY(const auto past, past_drills(services));
  TW_TRY(const bool is_due, is_drill_due(services, past, number));
  if (!is_due) return {};
  const auto plan = plan_of_drill(services.config, past, nightly.plan, number);
  if (!plan) return {};
  storage::ComparisonStore comparisons(services.database);
  TW_TRY_VOID(comparisons.open({.purpose = Purpose::drill,
                                .candidate = nightly.row.candidate,
                                .baseline = nightly.row.candidate,
                                .budget_series = series_count(nightly.plan),
                                .plan_json = to_json(*plan)},
                               services.clock.wall_now()));
  return {};
}

}  // namespace

Status open_tests_of_service(comparison::Services& services, const Comparison& nightly) {
  if (nightly.plan.benchmarks.empty()) return {};
  TW_TRY(const int number,
         storage::ComparisonStore(services.database).nightlies_until(nightly.row.id));
  TW_TRY_VOID(open_self_test(services, nightly, number));
  return open_drill(services, nightly, number);
}

}  // namespace torchwatch::follow_ups
