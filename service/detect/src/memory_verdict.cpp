#include "torchwatch/detect/memory_verdict.hpp"

#include <algorithm>
#include <vector>

#include "torchwatch/figures/figures.hpp"

namespace torchwatch::detect {
namespace {

using Values = std::span<const std::int64_t>;

struct Extremes {
  std::int64_t least;
  std::int64_t median;
  std::int64_t greatest;
};

Extremes extremes_of(Values values) {
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  // The lower of two middle values: one that was measured, not a mean of two.
  return {sorted.front(), sorted[(sorted.size() - 1) / 2], sorted.back()};
}

double ratio_of(std::int64_t candidate, std::int64_t baseline) {
  return static_cast<double>(candidate) / static_cast<double>(baseline);
}

/// How far one side must exceed the other to count: by a share of the lower one, and by a floor.
struct Margin {
  double share;
  std::int64_t floor_bytes;
  bool includes_floor;  ///< the floor itself already counts

  [[nodiscard]] bool exceeds(std::int64_t high, std::int64_t low) const {
    const std::int64_t growth = high - low;
    const bool over_floor = includes_floor ? growth >= floor_bytes : growth > floor_bytes;
    return over_floor && static_cast<double>(growth) > share * static_cast<double>(low);
  }
};

/// A heap's slope is accurate within a quarter, so a leak that much larger may be the same one.
constexpr double kHeapScatter = 0.25;

Margin leak_margin(Metric metric, const Settings& settings) {
  return {.share = metric == Metric::heap_growth ? kHeapScatter : 0,
          .floor_bytes = floor_bytes(metric, settings),
          .includes_floor = true};
}

std::string runs_in_words(Values baseline, Values candidate) {
  return std::to_string(baseline.size()) + " + " + std::to_string(candidate.size()) + " runs";
}

/// Judges by the extremes of both sides: nearly deterministic figures need no statistics, but more
/// than one run a side.
void judge(Values baseline, Values candidate, const Margin& margin, const Settings& settings,
           MemoryDecision& decision) {
  const std::size_t runs = std::min(baseline.size(), candidate.size());
  const std::string behind = runs_in_words(baseline, candidate);
  if (runs < 2) {
    decision.reason += "only " + behind + "; two a side are needed to screen";
    return;
  }
  const Extremes before = extremes_of(baseline);
  const Extremes after = extremes_of(candidate);
  decision.reason += behind;
  const bool rose = margin.exceeds(after.least, before.greatest);
  const bool fell = margin.exceeds(before.least, after.greatest);
  const bool may_have_risen = margin.exceeds(after.greatest, before.least);
  const bool may_have_fallen = margin.exceeds(before.greatest, after.least);
  if (!may_have_risen && !may_have_fallen) {
    decision.verdict = Verdict::unchanged;
  } else if (runs < static_cast<std::size_t>(std::max(2, settings.memory_runs))) {
    decision.suspect = true;
    decision.reason += ": to be confirmed";
  } else if (rose || fell) {
    decision.verdict = rose ? Verdict::regressed : Verdict::improved;
  } else {
    decision.reason += ": the runs of one build disagree";
  }
}

}  // namespace

std::int64_t floor_bytes(Metric metric, const Settings& settings) {
  switch (metric) {
    case Metric::leak_growth:
      return settings.growth_floor_bytes;
    case Metric::leak_retained:
      return settings.retained_floor_bytes;
    case Metric::heap_growth:
      return settings.heap_growth_floor_bytes;
    case Metric::cpu_peak_resident:
    case Metric::device_peak_total:
      return settings.resident_floor_bytes;
    default:
      return settings.memory_floor_bytes;
  }
}

MemoryDecision judge_peak(Metric metric, Values baseline, Values candidate,
                          const Settings& settings) {
  MemoryDecision decision;
  if (!baseline.empty() && !candidate.empty()) {
    const Extremes before = extremes_of(baseline);
    const Extremes after = extremes_of(candidate);
    decision.baseline_value = before.median;
    decision.candidate_value = after.median;
    decision.reason =
        figures::grouped(before.median) + " to " + figures::grouped(after.median) + " bytes, ";
    if (before.least > 0) {
      decision.ratio = ratio_of(after.median, before.median);
      decision.low = ratio_of(after.least, before.greatest);
      decision.high = ratio_of(after.greatest, before.least);
      decision.reason = figures::change(decision.ratio) + ", " + decision.reason;
    }
  }
  const Margin margin{.share = settings.threshold,
                      .floor_bytes = floor_bytes(metric, settings),
                      .includes_floor = false};
  judge(baseline, candidate, margin, settings, decision);
  return decision;
}

MemoryDecision judge_leak(Metric metric, Values baseline, Values candidate,
                          const Settings& settings) {
  MemoryDecision decision;
  if (!baseline.empty() && !candidate.empty()) {
    decision.baseline_value = extremes_of(baseline).median;
    decision.candidate_value = extremes_of(candidate).median;
    const auto more = decision.candidate_value - decision.baseline_value;
    decision.reason = (more < 0 ? "" : "+") + figures::grouped(more) +
                      (is_growth(metric) ? " bytes per iteration, " : " bytes, ");
  }
  judge(baseline, candidate, leak_margin(metric, settings), settings, decision);
  return decision;
}

}  // namespace torchwatch::detect
