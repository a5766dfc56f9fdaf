#include "torchwatch/comparison/schedule.hpp"

#include <algorithm>
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

void VainPairs::note(const storage::RunRow& run, int attempt) {
  const bool is_measured_apart =
      attempt > 1 && run.status != RunStatus::failed && run.pass == Pass::timing;
  if (is_measured_apart) ++runs_[run.benchmark];
}

bool VainPairs::are_in_vain(const Benchmark& benchmark) const {
  const auto runs = runs_.find(benchmark);
  return runs != runs_.end() && runs->second >= kRunsOfTwoPairs;
}

Schedule::Schedule(const Plan& plan, SeriesSettings settings, std::uint64_t seed)
    : plan_(plan), settings_(std::move(settings)), seed_(seed) {}

void Schedule::add(const storage::RunRow& run, const std::string& machine) {
  auto& slot = slots_[run.slot];
  ++slot.attempts;
  slot.run = run;
  slot.machine = machine;
  vain_pairs_.note(run, slot.attempts);
}

bool Schedule::is_closed(const std::string& name) const {
  const auto slot = slots_.find(name);
  if (slot == slots_.end()) return false;
  return slot->second.run.status != RunStatus::failed || slot->second.attempts >= kAttemptsPerSlot;
}

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
    if (is_begun(block.slot(0))) return index;
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
