#include "torchwatch/nightly/comparison.hpp"

#include <tuple>

#include "course.hpp"
#include "stable_hash.hpp"

namespace torchwatch::nightly {

Comparison::Comparison(const Plan& plan, SeriesSettings settings, std::uint64_t seed)
    : plan_(plan), settings_(std::move(settings)), seed_(seed) {}

void Comparison::add(const storage::RunRow& run, const std::string& machine) {
  auto& slot = slots_[run.slot];
  ++slot.attempts;
  slot.run = run;
  slot.machine = machine;
}

bool Comparison::is_closed(const std::string& name) const {
  const auto slot = slots_.find(name);
  if (slot == slots_.end()) return false;
  return slot->second.run.status != RunStatus::failed || slot->second.attempts >= kAttemptsPerSlot;
}

ComparisonStep Comparison::next() const {
  ComparisonStep step;
  const auto rank = [&](const Block& block) {
    return std::tuple(block.stage, block.index, stable_hash(block.slot(0), seed_));
  };
  for (const auto& cell : plan_.cells) {
    for (const auto pass : plan_.passes) {
      ++step.courses;
      const auto block = Course(*this, cell, pass).next();
      if (!block) ++step.decided;
      if (block && (!step.block || rank(*block) < rank(*step.block))) step.block = block;
    }
  }
  return step;
}

std::vector<Finding> Comparison::findings() const {
  std::vector<Finding> all;
  for (const auto& cell : plan_.cells) {
    for (const auto pass : plan_.passes) {
      for (auto& finding : Course(*this, cell, pass).findings()) all.push_back(std::move(finding));
    }
  }
  return all;
}

}  // namespace torchwatch::nightly
