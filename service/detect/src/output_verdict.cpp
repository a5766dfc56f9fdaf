#include "torchwatch/detect/output_verdict.hpp"

#include <algorithm>
#include <cmath>

#include "torchwatch/figures/figures.hpp"

namespace torchwatch::detect {
namespace {

constexpr double kUnit = 1e-9;
/// By how much outputs must differ more than those of two runs of one build.
constexpr std::int64_t kOverOwnScatter = 10;

bool are_comparable(const OutputFigures& one, const OutputFigures& other) {
  return one.name == other.name && one.figures.size() == other.figures.size();
}

/// A share of the greatest possible; not finite where only one of the two is.
double difference_of(double one, double other, double scale) {
  if (one == other || (std::isnan(one) && std::isnan(other))) return 0;
  return std::abs(one - other) / scale;
}

/// The greater size of the two; where neither has one, as some elements are not finite, that of the
/// finite figures.
double size_of(const OutputFigures& one, const OutputFigures& other) {
  double size = std::fmax(one.scale, other.scale);
  if (std::isfinite(size)) return size;
  size = 0;
  for (const auto* output : {&one, &other}) {
    for (const double figure : output->figures) {
      if (std::isfinite(figure)) size = std::max(size, std::abs(figure));
    }
  }
  return size;
}

double difference_of(const OutputFigures& one, const OutputFigures& other) {
  double greatest = 0;
  const double scale = size_of(one, other);
  for (std::size_t i = 0; i < one.figures.size(); ++i) {
    const double each = difference_of(one.figures[i], other.figures[i], scale);
    if (!std::isfinite(each)) return each;
    greatest = std::max(greatest, each);
  }
  return greatest;
}

std::int64_t in_units(double difference) {
  const double units = difference / kUnit;
  // Not a number is in no order.
  if (!(units < static_cast<double>(kOutputDifferenceMax))) return kOutputDifferenceMax;
  return std::llround(units);
}

struct Furthest {
  std::int64_t difference = 0;
  std::string name = {};
};

/// Both must be the same outputs.
Furthest furthest(const std::vector<OutputFigures>& some,
                  const std::vector<OutputFigures>& others) {
  Furthest furthest;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const auto difference = in_units(difference_of(some[i], others[i]));
    if (difference > furthest.difference) furthest = {difference, some[i].name};
  }
  return furthest;
}

/// The distance from 1 to the next number.
double last_place(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return 0x1p-23;
    case Precision::tf32:
    case Precision::fp16:
      return 0x1p-10;
    case Precision::bf16:
    case Precision::amp:
      return 0x1p-7;
  }
  return 0x1p-7;
}

}  // namespace

std::int64_t output_difference(const std::vector<OutputFigures>& some,
                               const std::vector<OutputFigures>& others) {
  if (!std::ranges::equal(some, others, are_comparable)) return kOutputDifferenceMax;
  return furthest(some, others).difference;
}

std::string furthest_output(const std::vector<OutputFigures>& some,
                            const std::vector<OutputFigures>& others) {
  if (!std::ranges::equal(some, others, are_comparable)) return {};
  return furthest(some, others).name;
}

std::int64_t tolerated_difference(Precision precision, const Settings& settings) {
  constexpr double kLastPlaces = 8;
  return in_units(std::max(settings.output_tolerance, kLastPlaces * last_place(precision)));
}

MemoryDecision judge_outputs(std::span<const std::int64_t> baseline,
                             std::span<const std::int64_t> candidate, Precision precision,
                             const Settings& settings) {
  MemoryDecision decision;
  decision.reason =
      std::to_string(baseline.size()) + " + " + std::to_string(candidate.size()) + " runs";
  const auto runs = std::min(baseline.size(), candidate.size());
  if (runs < 2) {
    decision.reason = "only " + decision.reason + "; two a side are needed to screen";
    return decision;
  }
  const auto own = *std::ranges::max_element(baseline);
  const auto [least, greatest] = std::ranges::minmax(candidate);
  const auto tolerated = tolerated_difference(precision, settings);
  const auto limit = std::max(tolerated, kOverOwnScatter * own);
  decision.baseline_value = own;
  decision.candidate_value = least;
  decision.reason = "outputs differ by " +
                    figures::value(Metric::output_difference, static_cast<double>(greatest)) +
                    ", " + decision.reason + ", " +
                    figures::value(Metric::output_difference, static_cast<double>(limit)) +
                    " is tolerated";
  if (own > 0 && limit >= kOutputDifferenceMax) {
    decision.reason += ": the baseline's own runs disagree";
  } else if (greatest <= limit) {
    decision.verdict = Verdict::unchanged;
  } else if (runs < static_cast<std::size_t>(std::max(2, settings.memory_runs))) {
    decision.suspect = true;
    decision.reason += ": to be confirmed";
  } else if (least > limit) {
    decision.verdict = Verdict::regressed;
  } else {
    decision.reason += ": the runs of one build disagree";
  }
  return decision;
}

}  // namespace torchwatch::detect
