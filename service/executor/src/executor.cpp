#include "torchwatch/executor/executor.hpp"

#include <utility>

namespace torchwatch::executor {

Result<std::vector<RunOutcome>> Executor::run_block(RunBlock block, std::stop_token stop) {
  std::vector<RunOutcome> outcomes;
  auto& runs = block.runs;
  if (!block.is_in_pairs) {
    for (const auto& each : runs) {
      TW_TRY(auto outcome, run(each, stop));
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  }
  for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
    TW_TRY(auto pair, run_pair({std::move(runs[i]), std::move(runs[i + 1])}, stop));
    for (auto& outcome : pair) outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace torchwatch::executor
