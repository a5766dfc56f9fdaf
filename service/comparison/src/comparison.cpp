#include "torchwatch/comparison/comparison.hpp"

#include <map>
#include <utility>

#include "block_executor.hpp"
#include "on_lanes.hpp"
#include "torchwatch/detect/time_verdict.hpp"
#include "torchwatch/documents/study.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::comparison {
namespace {

storage::Owner owner_of(const Comparison& comparison) {
  return {storage::OwnerKind::comparison, comparison.row.id};
}

Result<MeasurableBuild> measurable(Services& services, storage::Id build,
                                   const Comparison& comparison, std::stop_token stop) {
  TW_TRY(const auto row, storage::BuildStore(services.database).get(build));
  TW_TRY(auto tree, builds::inspect(row.folder));
  if (tree.content_hash != row.content_hash) {
    return fail(ErrorCode::conflict, "the libraries in " + row.folder +
                                         " have changed since they were checked: from the next "
                                         "look at the channel on they count as another build");
  }
  TW_TRY(const auto sides, sides_of(services.database, comparison.row.id));
  const auto workloads = with_alternatives(sides, workloads_of(comparison.plan));
  TW_TRY(auto kit, services.runners.kit_for(tree, workloads, stop));
  return MeasurableBuild{row.id, std::move(tree), std::move(kit)};
}

/// The ratio that half of each of the incident's changes makes.
Result<std::map<Series, double>> halves_of(storage::Database& database, storage::Id incident) {
  TW_TRY(const auto row, storage::IncidentStore(database).get(incident));
  std::map<Series, double> halves;
  for (const auto& was : row.series) {
    if (was.ratio > 0) halves.emplace(was.series, detect::half_of_change(was.ratio));
  }
  return halves;
}

}  // namespace

Result<Comparison> Comparison::of(storage::ComparisonRow row) {
  Comparison comparison{std::move(row), {}};
  if (comparison.row.plan_json.empty()) return comparison;
  TW_TRY(comparison.plan, parse_plan(comparison.row.plan_json));
  return comparison;
}

Result<ComparedBuilds> ComparedBuilds::prepare(Services& services, const Comparison& comparison,
                                               std::stop_token stop) {
  const auto& row = comparison.row;
  ComparedBuilds builds;
  TW_TRY(builds.baseline, measurable(services, row.baseline.value_or(0), comparison, stop));
  TW_TRY(builds.candidate, measurable(services, row.candidate, comparison, stop));
  TW_TRY(const auto sides, sides_of(services.database, row.id));
  builds.baseline.setting = sides.baseline;
  builds.candidate.setting = sides.candidate;
  TW_TRY_VOID(decide_placement(services.config, builds.baseline, builds.candidate));
  builds.candidate.planted_slowdown = comparison.plan.planted_slowdown;
  if (row.purpose == storage::Purpose::self_test || row.purpose == storage::Purpose::drill) {
    // As in the nightly's own comparison, whose builds have files in different places.
    const bool place = services.config.measure.place_libraries;
    builds.baseline.place_libraries = builds.candidate.place_libraries = place;
  }
  return builds;
}

Status try_build(Services& services, const Comparison& comparison, storage::Id build,
                 std::stop_token stop) {
  const auto tried = measurable(services, build, comparison, stop);
  return tried ? Status{} : Status{fail(tried.error())};
}

Result<Schedule> replay(Services& services, const Comparison& comparison) {
  const auto& [row, plan] = comparison;
  Schedule schedule(plan, series_settings(services.config, rule_of(row, plan)),
                    static_cast<std::uint64_t>(row.id));
  if (row.purpose == storage::Purpose::study) schedule.compare_settings();
  if (row.purpose == storage::Purpose::recheck && row.incident) {
    TW_TRY(auto halves, halves_of(services.database, *row.incident));
    schedule.bound_rests(std::move(halves));
  }
  TW_TRY(const auto past, RunRecorder(services, owner_of(comparison)).past_runs());
  for (const auto& run : past) schedule.add(run.row, run.machine);
  return schedule;
}

Status measure(Services& services, const Comparison& comparison, const ComparedBuilds& builds,
               std::stop_token stop) {
  RunRecorder recorder(services, owner_of(comparison));
  TW_TRY_VOID(recorder.free_slots());
  TW_TRY(auto schedule, replay(services, comparison));
  BlockExecutor blocks(services, recorder, comparison, builds, schedule);
  services.progress.phase_started("measuring");
  if (services.lanes != nullptr && services.lanes->count() > 1) {
    const auto done = measure_on_lanes(services, comparison, {recorder, schedule, blocks}, stop);
    TW_TRY_VOID(recorder.free_slots());
    return done;
  }
  for (auto step = schedule.next(); step.block; step = schedule.next()) {
    TW_TRY_VOID(require_unchanged(services, comparison.row));
    const auto& block = *step.block;
    services.progress.progress(step.decided, step.total,
                               to_string(block.benchmark) + ", " +
                                   std::string(to_string(block.pass)) + ", " +
                                   std::string(spelling(block.stage)));
    if (const auto done = blocks.run(block, stop); !done) {
      // A service that is stopped in good order leaves nothing that looks like its death.
      TW_TRY_VOID(recorder.free_slots());
      return done;
    }
  }
  return {};
}

}  // namespace torchwatch::comparison
