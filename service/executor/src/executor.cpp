#include "torchwatch/executor/executor.hpp"

#include <utility>

namespace torchwatch::executor {

Result<std::vector<RunOutcome>> Executor::run_block(RunBlock block, std::stop_token stop) {
  std::vector<RunOutcome> outcomes;
  auto& runs = block.runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!block.is_in_pairs || i + 1 == runs.size()) {
      TW_TRY(auto outcome, run(runs[i], stop));
      outcomes.push_back(std::move(outcome));
      continue;
    }
    TW_TRY(auto pair, run_pair({std::move(runs[i]), std::move(runs[i + 1])}, stop));
    for (auto& outcome : pair) outcomes.push_back(std::move(outcome));
    ++i;
  }
  return outcomes;
}

}  // namespace torchwatch::executor
