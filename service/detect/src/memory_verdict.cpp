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

Extremes extremes_of(Values some, Values others) {
  std::vector<std::int64_t> all(some.begin(), some.end());
  all.insert(all.end(), others.begin(), others.end());
  return extremes_of(all);
}

double ratio_of(std::int64_t candidate, std::int64_t baseline) {
  return static_cast<double>(candidate) / static_cast<double>(baseline);
}

/// How far one side must exceed the other to count: by a share of the lower one, and by a floor.
struct Margin {
  double share;
  std::int64_t floor_bytes;
  bool includes_floor;          ///< the floor itself already counts
  bool includes_share = false;  ///< the share itself already counts

  [[nodiscard]] bool exceeds(std::int64_t high, std::int64_t low) const {
    const std::int64_t growth = high - low;
    const double of_share = share * static_cast<double>(low);
    const auto grown = static_cast<double>(growth);
    const bool over_floor = includes_floor ? growth >= floor_bytes : growth > floor_bytes;
    return growth > 0 && over_floor && (includes_share ? grown >= of_share : grown > of_share);
  }
};

/// A heap's slope is accurate within a quarter, so a leak that much larger may be the same one.
constexpr double kHeapScatter = 0.25;

Margin leak_margin(Metric metric, const Settings& settings) {
  return {.share = metric == Metric::heap_growth ? kHeapScatter : 0,
          .floor_bytes = floor_bytes(metric, settings),
          .includes_floor = true};
}

/// An exact change has no noise about it, so the limits themselves count.
Margin peak_margin(Metric metric, bool is_exact, const Settings& settings) {
  return {.share = is_exact ? settings.exact_threshold : settings.threshold,
          .floor_bytes = is_exact ? settings.exact_floor_bytes : floor_bytes(metric, settings),
          .includes_floor = is_exact,
          .includes_share = is_exact};
}

/// One run alone agrees with itself, which shows nothing.
constexpr std::size_t kRunsToAgree = 2;

bool agree(Values values) {
  return values.size() >= kRunsToAgree &&
         std::ranges::count(values, values.front()) == static_cast<std::ptrdiff_t>(values.size());
}

bool agree(Values some, Values others) {
  return agree(some) && agree(others) && some.front() == others.front();
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

/// What the runs of a peak state, before it is judged.
MemoryDecision stated_peak(const MemoryRuns& runs, bool is_exact) {
  MemoryDecision decision;
  decision.is_exact = is_exact;
  if (runs.baseline.empty() || runs.candidate.empty()) return decision;
  const Extremes before = extremes_of(runs.baseline);
  const Extremes after = extremes_of(runs.candidate);
  decision.baseline_value = before.median;
  decision.candidate_value = after.median;
  decision.reason =
      figures::grouped(before.median) + " to " + figures::grouped(after.median) + " bytes, ";
  if (before.least <= 0) return decision;
  decision.ratio = ratio_of(after.median, before.median);
  decision.low = ratio_of(after.least, before.greatest);
  decision.high = ratio_of(after.greatest, before.least);
  decision.reason = (is_exact && decision.ratio != 1 ? "exactly " : "") +
                    figures::change(decision.ratio) + ", " + decision.reason;
  return decision;
}

/// What the runs of a leak state, before it is judged.
MemoryDecision stated_leak(Metric metric, const MemoryRuns& runs) {
  MemoryDecision decision;
  if (runs.baseline.empty() || runs.candidate.empty()) return decision;
  decision.baseline_value = extremes_of(runs.baseline).median;
  decision.candidate_value = extremes_of(runs.candidate).median;
  const auto more = decision.candidate_value - decision.baseline_value;
  decision.reason = (more < 0 ? "" : "+") + figures::grouped(more) +
                    (is_growth(metric) ? " bytes per iteration, " : " bytes, ");
  return decision;
}

MemoryDecision judge_peak_as(Metric metric, const MemoryRuns& runs, bool is_exact,
                             const Settings& settings) {
  auto decision = stated_peak(runs, is_exact);
  judge(runs.baseline, runs.candidate, peak_margin(metric, is_exact, settings), settings, decision);
  if (is_counted(metric) && !is_exact && decision.verdict == Verdict::unchanged) {
    decision.reason += ", not exact: runs of one build differ";
  }
  return decision;
}

bool are_alike(Metric metric, std::int64_t baseline, std::int64_t candidate,
               const Settings& settings) {
  const bool is_sampled =
      metric == Metric::heap_growth || (has_ratio(metric) && !is_counted(metric));
  if (!is_sampled) return candidate == baseline;
  auto margin =
      is_leak(metric) ? leak_margin(metric, settings) : peak_margin(metric, false, settings);
  margin.share /= 2;
  margin.floor_bytes /= 2;
  return !margin.exceeds(candidate, baseline) && !margin.exceeds(baseline, candidate);
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

bool is_counted(Metric metric) {
  return metric == Metric::cpu_peak || metric == Metric::device_peak;
}

MemoryDecision judge_peak(Metric metric, const MemoryRuns& runs, const Settings& settings) {
  const bool is_exact = is_counted(metric) && agree(runs.baseline) && agree(runs.candidate);
  return judge_peak_as(metric, runs, is_exact, settings);
}

std::optional<MemoryDecision> judge_alike(Metric metric, std::int64_t baseline,
                                          std::int64_t candidate, const Settings& settings) {
  if (!are_alike(metric, baseline, candidate, settings)) return std::nullopt;
  const MemoryRuns runs{.baseline = Values(&baseline, 1), .candidate = Values(&candidate, 1)};
  MemoryDecision decision;
  if (is_leak(metric)) decision = stated_leak(metric, runs);
  if (has_ratio(metric)) decision = stated_peak(runs, false);
  if (metric == Metric::output_difference) decision.reason = "outputs are the same, ";
  decision.verdict = Verdict::unchanged;
  decision.reason += runs_in_words(runs.baseline, runs.candidate);
  return decision;
}

MemoryDecision confirm_peak(Metric metric, const MemoryRuns& screened, const MemoryRuns& fresh,
                            const Settings& settings) {
  const bool is_exact = is_counted(metric) && agree(screened.baseline, fresh.baseline) &&
                        agree(screened.candidate, fresh.candidate);
  auto decision = judge_peak_as(metric, fresh, is_exact, settings);
  if (is_exact || !is_counted(metric) || decision.ratio == 0) return decision;
  // The interval holds all runs, so that it does not look exact where only the fresh ones agree.
  const auto before = extremes_of(screened.baseline, fresh.baseline);
  const auto after = extremes_of(screened.candidate, fresh.candidate);
  if (before.least <= 0) return decision;
  decision.low = ratio_of(after.least, before.greatest);
  decision.high = ratio_of(after.greatest, before.least);
  return decision;
}

MemoryDecision judge_leak(Metric metric, Values baseline, Values candidate,
                          const Settings& settings) {
  auto decision = stated_leak(metric, {baseline, candidate});
  judge(baseline, candidate, leak_margin(metric, settings), settings, decision);
  return decision;
}

}  // namespace torchwatch::detect
