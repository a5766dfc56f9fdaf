#include "block_executor.hpp"

#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::comparison {

Status BlockExecutor::run(const Block& block, std::stop_token stop, Place* place) {
  if (place != nullptr) {
    TW_TRY_VOID(require_more_runs());
    TW_TRY_VOID(run_on_node(block, stop, *place));
  }
  for (int first = 0; first < block.runs; first += 2) {
    if (place == nullptr) TW_TRY_VOID(run_pair(block, first, stop));
    for (const int position : {first, first + 1}) {
      TW_TRY_VOID(run_alone(block, position, stop, place));
    }
  }
  return {};
}

RunSlot BlockExecutor::slot(const Block& block, int position) const {
  const bool is_baseline = block.side(position) == Side::baseline;
  return {block.slot(position), is_baseline ? builds_.baseline : builds_.candidate, is_baseline};
}

Status BlockExecutor::run_pair(const Block& block, int first, std::stop_token stop) {
  const std::array slots{slot(block, first), slot(block, first + 1)};
  const bool may_pair = schedule_.runs().may_pair(slots[0].slot, slots[1].slot, block.benchmark);
  if (!may_pair || !is_interleaved(plan_, block.pass)) return {};
  TW_TRY(const auto runs, recorder_.run_pair(slots, plan_, block.benchmark, std::move(stop)));
  for (const auto& run : runs) add(run);
  return {};
}

/// On a lane all pairs of the block go to the node at once, and both runs of any pair count
/// together, so that none is of two nodes.
Status BlockExecutor::run_on_node(const Block& block, std::stop_token stop, Place& place) {
  const auto& runs = schedule_.runs();
  std::vector<RunSlot> slots;
  for (int first = 0; first < block.runs; first += 2) {
    const bool is_begun = runs.is_begun(block.slot(first)) || runs.is_begun(block.slot(first + 1));
    if (is_begun) continue;
    slots.push_back(slot(block, first));
    slots.push_back(slot(block, first + 1));
  }
  if (slots.empty()) return {};
  const bool is_in_pairs =
      is_interleaved(plan_, block.pass) && !runs.pairs_are_in_vain(block.benchmark);
  TW_TRY(const auto made, recorder_.run_block(slots, plan_, block.benchmark,
                                              {.pass = block.pass, .is_in_pairs = is_in_pairs},
                                              std::move(stop), &place));
  for (const auto& run : made) add(run);
  return {};
}

Status BlockExecutor::run_alone(const Block& block, int position, std::stop_token stop,
                                Place* place) {
  const auto open = slot(block, position);
  while (!schedule_.runs().is_closed(open.slot)) {
    TW_TRY(const auto run, recorder_.run(open, plan_, block.benchmark, block.pass, stop, place));
    add(run);
  }
  return {};
}

/// Runs of other lanes may be under way when somebody asks for the last one.
Status BlockExecutor::require_more_runs() const {
  if (services_.last_run == nullptr || !services_.last_run->is_last()) return {};
  return fail(ErrorCode::cancelled, "interrupted before a run");
}

void BlockExecutor::add(const MachineRun& run) {
  schedule_.add(run.row, run.machine);
  if (run.row.status == RunStatus::failed) {
    services_.progress.log("run " + run.row.slot + " failed: " + run.row.reason);
  }
}

Status require_unchanged(Services& services, const storage::ComparisonRow& measured) {
  TW_TRY(const auto row, storage::ComparisonStore(services.database).get(measured.id));
  if (row.version == measured.version) return {};
  return fail(ErrorCode::conflict, "comparison " + std::to_string(row.id) + " became " +
                                       std::string(to_string(row.state)) + " meanwhile");
}

}  // namespace torchwatch::comparison
