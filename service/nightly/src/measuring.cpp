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

Status make_block(Workshop& workshop, RunMaker& maker, const Block& block, const Sides& sides,
                  Comparison& comparison, std::stop_token stop) {
  for (int position = 0; position < Block::kRuns; ++position) {
    const auto slot = block.slot(position);
    const auto& subject = block.side(position) == Side::baseline ? sides.baseline : sides.candidate;
    while (!comparison.is_closed(slot)) {
      TW_TRY(const auto run, maker.make(slot, subject, sides.plan, block.cell, block.pass, stop));
      comparison.add(run.row, run.machine);
      if (run.row.status == RunStatus::failed) {
        workshop.progress.note("run " + slot + " failed: " + run.row.reason);
      }
    }
  }
  return {};
}

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
  workshop.progress.began("measuring");
  for (auto step = comparison.next(); step.block; step = comparison.next()) {
    const auto& block = *step.block;
    workshop.progress.at(step.decided, step.courses,
                         to_string(block.cell) + ", " + std::string(to_string(block.pass)) + ", " +
                             std::string(to_string(block.stage)));
    TW_TRY_VOID(make_block(workshop, maker, block, sides, comparison, stop));
  }
  return {};
}

}  // namespace torchwatch::nightly
