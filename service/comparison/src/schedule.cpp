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
    : plan_(plan), settings_(std::move(settings)), seed_(seed) {}

ScheduleStep Schedule::next() const {
  ScheduleStep step;
  for (const auto& benchmark : plan_.benchmarks) {
    for (const auto pass : plan_.passes) {
      if (!has_pass(plan_, benchmark, pass)) continue;
      ++step.total;
      const auto block = next(benchmark, pass);
      if (!block) ++step.decided;
      if (block && (!step.block || rank_of(*block) < rank_of(*step.block))) step.block = block;
    }
  }
  return step;
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
