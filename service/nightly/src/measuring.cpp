#include "measuring.hpp"

#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/subjects.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::nightly {
namespace {

storage::Owner owner_of(const storage::NightRow& night) {
  return {storage::OwnerKind::night, night.id};
}

Result<Subject> subject(Workshop& workshop, storage::Id build, const Plan& plan,
                        std::stop_token stop) {
  TW_TRY(const auto row, storage::BuildStore(workshop.database).get(build));
  TW_TRY(auto tree, builds::inspect(row.folder));
  if (tree.content_hash != row.content_hash) {
    return fail(ErrorCode::conflict, "build " + row.name + " in " + row.folder +
                                         " has changed since it was checked; publish a changed "
                                         "build under a new name");
  }
  TW_TRY(auto kit, workshop.runners.kit_for(tree, workloads_of(plan), stop));
  return Subject{row.id, std::move(tree), std::move(kit)};
}

/// Carries out the blocks of one comparison.
class BlockMaker {
 public:
  BlockMaker(Workshop& workshop, RunMaker& maker, const Sides& sides, Comparison& comparison)
      : workshop_(workshop), maker_(maker), sides_(sides), comparison_(comparison) {}

  Status make(const Block& block, std::stop_token stop) {
    for (int first = 0; first < Block::kRuns; first += 2) {
      TW_TRY_VOID(make_pair_in_turns(block, first, stop));
      for (const int position : {first, first + 1}) TW_TRY_VOID(make_alone(block, position, stop));
    }
    return {};
  }

 private:
  RunPlace place(const Block& block, int position) const {
    const bool is_baseline = block.side(position) == Side::baseline;
    return {block.slot(position), is_baseline ? sides_.baseline : sides_.candidate};
  }

  /// Once: what fails beside its partner is tried again alone, as is its partner.
  Status make_pair_in_turns(const Block& block, int first, std::stop_token stop) {
    const std::array places{place(block, first), place(block, first + 1)};
    const bool is_begun =
        comparison_.is_begun(places[0].slot) || comparison_.is_begun(places[1].slot);
    if (is_begun || !takes_turns(sides_.plan, block.cell, block.pass)) return {};
    TW_TRY(const auto runs, maker_.make_in_turns(places, sides_.plan, block.cell, stop));
    for (const auto& run : runs) take(run);
    return {};
  }

  Status make_alone(const Block& block, int position, std::stop_token stop) {
    const auto where = place(block, position);
    while (!comparison_.is_closed(where.slot)) {
      TW_TRY(const auto run, maker_.make(where, sides_.plan, block.cell, block.pass, stop));
      take(run);
    }
    return {};
  }

  void take(const MachineRun& run) {
    comparison_.add(run.row, run.machine);
    if (run.row.status == RunStatus::failed) {
      workshop_.progress.note("run " + run.row.slot + " failed: " + run.row.reason);
    }
  }

  Workshop& workshop_;
  RunMaker& maker_;
  const Sides& sides_;
  Comparison& comparison_;
};

}  // namespace

Result<Sides> Sides::of(Workshop& workshop, const storage::NightRow& night, std::stop_token stop) {
  Sides sides;
  TW_TRY(sides.plan, parse_plan(night.plan_json));
  TW_TRY(sides.baseline, subject(workshop, night.baseline.value_or(0), sides.plan, stop));
  TW_TRY(sides.candidate, subject(workshop, night.candidate, sides.plan, stop));
  TW_TRY_VOID(decide_placement(workshop.config, sides.baseline, sides.candidate));
  if (night.kind == storage::NightKind::self_test) {
    // As in the night that it stands for, where the two builds' files lie in different places.
    const bool place = workshop.config.measure.place_libraries;
    sides.baseline.place_libraries = sides.candidate.place_libraries = place;
  }
  return sides;
}

Result<Comparison> replay(Workshop& workshop, const storage::NightRow& night) {
  TW_TRY(const auto plan, parse_plan(night.plan_json));
  Comparison comparison(plan, series_settings(workshop.config, plan),
                        static_cast<std::uint64_t>(night.id));
  TW_TRY(const auto past, RunMaker(workshop, owner_of(night)).past_runs());
  for (const auto& run : past) comparison.add(run.row, run.machine);
  return comparison;
}

Status measure_night(Workshop& workshop, const storage::NightRow& night, const Sides& sides,
                     std::stop_token stop) {
  TW_TRY(auto comparison, replay(workshop, night));
  RunMaker maker(workshop, owner_of(night));
  BlockMaker blocks(workshop, maker, sides, comparison);
  workshop.progress.began("measuring");
  for (auto step = comparison.next(); step.block; step = comparison.next()) {
    const auto& block = *step.block;
    workshop.progress.at(step.decided, step.courses,
                         to_string(block.cell) + ", " + std::string(to_string(block.pass)) + ", " +
                             std::string(to_string(block.stage)));
    TW_TRY_VOID(blocks.make(block, stop));
  }
  return {};
}

}  // namespace torchwatch::nightly
