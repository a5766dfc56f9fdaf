#include "torchwatch/comparison/schedule.hpp"

#include <cmath>

#include "benchmark_schedule.hpp"

namespace torchwatch::comparison {

std::array<double, 2> log_ratios(const Block& block,
                                 const std::array<double, Block::kRuns>& values) {
  const auto pair = [&](int first, int second) {
    const double ratio = std::log(values[second] / values[first]);
    return block.side(first) == Side::baseline ? ratio : -ratio;
  };
  return {pair(0, 1), pair(2, 3)};
}

Schedule::Schedule(const Plan& plan, SeriesSettings settings, std::uint64_t seed)
    : plan_(plan), settings_(std::move(settings)), seed_(seed) {
  for (const auto& benchmark : plan_.benchmarks) {
    for (const auto pass : plan_.passes) {
      if (has_pass(plan_, benchmark, pass)) portions_.emplace(benchmark, pass);
    }
  }
  stale_ = portions_;
}

void Schedule::add(const storage::RunRow& run, const std::string& machine) {
  slots_.add({run, machine});
  const Portion portion{run.benchmark, run.pass};
  if (portions_.contains(portion)) stale_.insert(portion);
}

ScheduleStep Schedule::next() {
  for (const auto& portion : stale_) rank(portion);
  stale_.clear();
  ScheduleStep step;
  step.total = static_cast<int>(portions_.size());
  step.decided = static_cast<int>(portions_.size() - open_.size());
  if (open_.empty()) return step;
  const auto& [place, block] = *open_.begin();
  step.block = block;
  stale_.insert(place.second);
  return step;
}

void Schedule::rank(const Portion& portion) {
  if (const auto before = ranks_.find(portion); before != ranks_.end()) {
    open_.erase({before->second, portion});
    ranks_.erase(before);
  }
  const auto block = next(portion.first, portion.second);
  if (!block) return;
  const auto now = rank_of(*block);
  ranks_.emplace(portion, now);
  open_.emplace(std::pair(now, portion), *block);
}

std::optional<Block> Schedule::next(const Benchmark& benchmark, Pass pass) const {
  return BenchmarkSchedule(*this, benchmark, pass).next();
}

int Schedule::first_index(Block block) const {
  if (block.pass != Pass::timing) return 0;
  for (const int index : {0, 1}) {
    block.index = index;
    if (slots_.is_begun(block.slot(0))) return index;
  }
  // Neighbouring seeds differ in more than the lowest bits of the upper half.
  constexpr int kHalf = 32;
  return static_cast<int>((stable_hash(block.slot(0), seed_) >> kHalf) & 1U);
}

Schedule::Rank Schedule::rank_of(const Block& block) const {
  return {block.stage, block.index - first_index(block), stable_hash(block.slot(0), seed_)};
}

std::vector<JudgedSeries> Schedule::judged() const {
  std::vector<JudgedSeries> all;
  for (const auto& benchmark : plan_.benchmarks) {
    for (const auto pass : plan_.passes) {
      if (!has_pass(plan_, benchmark, pass)) continue;
      for (auto& series : BenchmarkSchedule(*this, benchmark, pass).judged())
        all.push_back(std::move(series));
    }
  }
  return all;
}

}  // namespace torchwatch::comparison
