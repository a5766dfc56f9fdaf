#include "torchwatch/detect/memory_verdict.hpp"

#include <algorithm>
#include <vector>

#include "wording.hpp"

namespace torchwatch::detect {
namespace {

using Values = std::span<const std::int64_t>;

struct Side {
  std::int64_t least;
  std::int64_t median;
  std::int64_t greatest;
};

Side side_of(Values values) {
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  // Of an even number the lower middle: a value that was measured, never a mean of two.
  return {sorted.front(), sorted[(sorted.size() - 1) / 2], sorted.back()};
}

double ratio_of(std::int64_t candidate, std::int64_t baseline) {
  return static_cast<double>(candidate) / static_cast<double>(baseline);
}

/// How far one side must lie over the other to count: a share of the lower one, and a floor.
struct Margin {
  double share;
  std::int64_t floor_bytes;
  bool floor_counts;  ///< the floor itself already counts

  [[nodiscard]] bool exceeds(std::int64_t high, std::int64_t low) const {
    const std::int64_t growth = high - low;
    const bool over_floor = floor_counts ? growth >= floor_bytes : growth > floor_bytes;
    return over_floor && static_cast<double>(growth) > share * static_cast<double>(low);
  }
};

std::int64_t peak_floor(Metric metric, const Settings& settings) {
  const bool is_resident =
      metric == Metric::cpu_peak_resident || metric == Metric::device_peak_total;
  return is_resident ? settings.resident_floor_bytes : settings.memory_floor_bytes;
}

/// A heap's slope is right within a quarter, so as much more may be the same leak.
constexpr double kHeapScatter = 0.25;

Margin leak_margin(Metric metric, const Settings& settings) {
  if (metric == Metric::heap_growth) return {kHeapScatter, settings.heap_growth_floor_bytes, true};
  const bool is_retained = metric == Metric::leak_retained;
  return {0, is_retained ? settings.retained_floor_bytes : settings.growth_floor_bytes, true};
}

std::string runs_in_words(Values baseline, Values candidate) {
  return std::to_string(baseline.size()) + " + " + std::to_string(candidate.size()) + " runs";
}

/// The verdict from the extremes of both sides: near-deterministic figures need no statistics, but
/// never one number against one number.
void judge(Values baseline, Values candidate, const Margin& margin, const Settings& settings,
           MemoryDecision& decision) {
  const std::size_t runs = std::min(baseline.size(), candidate.size());
  const std::string behind = runs_in_words(baseline, candidate);
  if (runs < 2) {
    decision.reason += "only " + behind + "; two a side are needed to screen";
    return;
  }
  const Side before = side_of(baseline);
  const Side after = side_of(candidate);
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

MemoryDecision judge_peak(Metric metric, Values baseline, Values candidate,
                          const Settings& settings) {
  MemoryDecision decision;
  if (!baseline.empty() && !candidate.empty()) {
    const Side before = side_of(baseline);
    const Side after = side_of(candidate);
    decision.baseline_value = before.median;
    decision.candidate_value = after.median;
    decision.reason =
        grouped(before.median, false) + " to " + grouped(after.median, false) + " bytes, ";
    if (before.least > 0) {
      decision.ratio = ratio_of(after.median, before.median);
      decision.low = ratio_of(after.least, before.greatest);
      decision.high = ratio_of(after.greatest, before.least);
      decision.reason = in_percent(decision.ratio) + ", " + decision.reason;
    }
  }
  const Margin margin{settings.threshold, peak_floor(metric, settings), false};
  judge(baseline, candidate, margin, settings, decision);
  return decision;
}

MemoryDecision judge_leak(Metric metric, Values baseline, Values candidate,
                          const Settings& settings) {
  MemoryDecision decision;
  if (!baseline.empty() && !candidate.empty()) {
    decision.baseline_value = side_of(baseline).median;
    decision.candidate_value = side_of(candidate).median;
    decision.reason = grouped(decision.candidate_value - decision.baseline_value, true) +
                      (is_growth(metric) ? " bytes per iteration, " : " bytes, ");
  }
  judge(baseline, candidate, leak_margin(metric, settings), settings, decision);
  return decision;
}

}  // namespace torchwatch::detect
