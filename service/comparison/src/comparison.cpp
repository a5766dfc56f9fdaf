#include "torchwatch/comparison/comparison.hpp"

#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::comparison {
namespace {

storage::Owner owner_of(const Comparison& comparison) {
  return {storage::OwnerKind::comparison, comparison.row.id};
}

Result<MeasurableBuild> measurable(Services& services, storage::Id build, const Plan& plan,
                                   std::stop_token stop) {
  TW_TRY(const auto row, storage::BuildStore(services.database).get(build));
  TW_TRY(auto tree, builds::inspect(row.folder));
  if (tree.content_hash != row.content_hash) {
    return fail(ErrorCode::conflict, "the libraries in " + row.folder +
                                         " have changed since they were checked: from the next "
                                         "look at the channel on they count as another build");
  }
  TW_TRY(auto kit, services.runners.kit_for(tree, workloads_of(plan), stop));
  return MeasurableBuild{row.id, std::move(tree), std::move(kit)};
}

/// Carries out the blocks of one comparison.
class BlockExecutor {
 public:
  BlockExecutor(Services& services, RunRecorder& recorder, const Comparison& comparison,
                const ComparedBuilds& builds, Schedule& schedule)
      : services_(services),
        recorder_(recorder),
        plan_(comparison.plan),
        builds_(builds),
        schedule_(schedule) {}

  Status run(const Block& block, std::stop_token stop) {
    for (int first = 0; first < Block::kRuns; first += 2) {
      TW_TRY_VOID(run_interleaved(block, first, stop));
      for (const int position : {first, first + 1}) TW_TRY_VOID(run_alone(block, position, stop));
    }
    return {};
  }

 private:
  RunSlot slot(const Block& block, int position) const {
    const bool is_baseline = block.side(position) == Side::baseline;
    return {block.slot(position), is_baseline ? builds_.baseline : builds_.candidate};
  }

  /// Tries a pair once; if one of the two fails, both are run again without a partner.
  Status run_interleaved(const Block& block, int first, std::stop_token stop) {
    const std::array slots{slot(block, first), slot(block, first + 1)};
    const bool is_begun = schedule_.is_begun(slots[0].slot) || schedule_.is_begun(slots[1].slot);
    if (is_begun || !is_interleaved(plan_, block.benchmark, block.pass)) return {};
    TW_TRY(const auto runs, recorder_.run_pair(slots, plan_, block.benchmark, stop));
    for (const auto& run : runs) add(run);
    return {};
  }

  Status run_alone(const Block& block, int position, std::stop_token stop) {
    const auto open = slot(block, position);
    while (!schedule_.is_closed(open.slot)) {
      TW_TRY(const auto run, recorder_.run(open, plan_, block.benchmark, block.pass, stop));
      add(run);
    }
    return {};
  }

  void add(const MachineRun& run) {
    schedule_.add(run.row, run.machine);
    if (run.row.status == RunStatus::failed) {
      services_.progress.log("run " + run.row.slot + " failed: " + run.row.reason);
    }
  }

  Services& services_;
  RunRecorder& recorder_;
  const Plan& plan_;
  const ComparedBuilds& builds_;
  Schedule& schedule_;
};

/// Somebody may cancel a comparison, and make it due again, while it is measured.
Status require_unchanged(Services& services, const storage::ComparisonRow& measured) {
  TW_TRY(const auto row, storage::ComparisonStore(services.database).get(measured.id));
  if (row.version == measured.version) return {};
  return fail(ErrorCode::conflict, "comparison " + std::to_string(row.id) + " became " +
                                       std::string(to_string(row.state)) + " meanwhile");
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
  const auto& [row, plan] = comparison;
  ComparedBuilds builds;
  TW_TRY(builds.baseline, measurable(services, row.baseline.value_or(0), plan, stop));
  TW_TRY(builds.candidate, measurable(services, row.candidate, plan, stop));
  TW_TRY_VOID(decide_placement(services.config, builds.baseline, builds.candidate));
  if (row.purpose == storage::Purpose::self_test) {
    // As in the nightly's own comparison, whose builds have files in different places.
    const bool place = services.config.measure.place_libraries;
    builds.baseline.place_libraries = builds.candidate.place_libraries = place;
  }
  return builds;
}

Status try_build(Services& services, const Comparison& comparison, storage::Id build,
                 std::stop_token stop) {
  const auto tried = measurable(services, build, comparison.plan, stop);
  return tried ? Status{} : Status{fail(tried.error())};
}

Result<Schedule> replay(Services& services, const Comparison& comparison) {
  const auto& [row, plan] = comparison;
  Schedule schedule(plan, series_settings(services.config, rule_of(row, plan)),
                    static_cast<std::uint64_t>(row.id));
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
