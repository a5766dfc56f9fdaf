#include "spread_night.hpp"

#include <algorithm>
#include <set>

#include "scripted_lanes.hpp"

namespace torchwatch::test {
namespace {

using comparison::Block;

/// All nodes are of one class.
constexpr const char* kMachine = "cpu_model: scripted\n";

/// The blocks that a schedule asks for, measured by a script.
class ScheduledBlocks {
 public:
  ScheduledBlocks(const SpreadNight& night, std::uint64_t seed)
      : night_(night), schedule_(night.plan, night.settings, seed), nodes_(night.seconds.size()) {}

  std::optional<comparison::Dealing::Rank> next(std::size_t portion) const {
    const auto block = next_block(portion);
    if (!block) return std::nullopt;
    return schedule_.rank_of(*block);
  }
  void measure(std::size_t portion, const std::string& node) {
    measure(portion, node, Block::kRuns);
  }
  void lose(std::size_t portion, const std::string& node) {
    measure(portion, node, Block::kRuns / 2);
  }

  SpreadNight::Outcome outcome() const {
    const auto moved =
        std::ranges::count_if(nodes_, [](const auto& nodes) { return nodes.size() > 1; });
    return {schedule_.judged(), runs_, static_cast<int>(moved)};
  }

 private:
  std::optional<Block> next_block(std::size_t portion) const {
    return schedule_.next(night_.plan.benchmarks[portion], Pass::timing);
  }
  void measure(std::size_t portion, const std::string& node, int until) {
    const auto block = next_block(portion);
    for (int position = 0; position < until; ++position) {
      const auto slot = block->slot(position);
      while (!schedule_.runs().is_closed(slot)) add_run(*block, position, node);
      nodes_[portion].insert(node);
    }
  }
  void add_run(const Block& block, int position, const std::string& node) {
    auto run = night_.script(block, block.side(position), node);
    run.slot = block.slot(position);
    run.benchmark = block.benchmark;
    run.pass = block.pass;
    run.node = node;
    schedule_.add(run, kMachine);
    ++runs_;
  }

  const SpreadNight& night_;
  comparison::Schedule schedule_;
  std::vector<std::set<std::string>> nodes_;  ///< of each benchmark's runs
  int runs_ = 0;
};

}  // namespace

SpreadNight::Outcome SpreadNight::measure(int nodes, std::uint64_t seed) const {
  ScheduledBlocks blocks(*this, seed);
  ScriptedLanes lanes(seconds, blocks, nodes);
  lanes.measure(is_lost);
  return blocks.outcome();
}

}  // namespace torchwatch::test
