#include "probe_text.hpp"

#include <algorithm>

#include "torchwatch/bisect/posterior.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::bisection {
namespace {

constexpr double kHeld = 0.95;
/// More do not fit a line.
constexpr std::size_t kSeriesShown = 3;

std::string change_of(const bisect::Effect& effect, const BisectionSpec& spec) {
  const auto& series = spec.series.at(effect.series).series;
  const auto facts = report::effect_of(SeriesEffect{.series = series,
                                                    .effect = effect.effect,
                                                    .low = effect.low,
                                                    .high = effect.high,
                                                    .pairs = effect.pairs});
  const auto change = report::change_text(facts);
  const auto interval = report::interval_text(facts);
  return to_string(series) + " " + (change.empty() ? "no change" : change) +
         (interval.empty() ? "" : " " + interval);
}

std::string commits_text(int commits) {
  return figures::count(static_cast<std::size_t>(commits), "commit");
}

}  // namespace

std::string text_of(const Probe& probe, const BisectionSpec& spec) {
  auto text = short_sha(probe.commit) +
              (probe.against.empty() ? " alone" : " against " + short_sha(probe.against));
  const auto shown = std::min(probe.effects.size(), kSeriesShown);
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? ": " : ", ") + change_of(probe.effects[i], spec);
  }
  if (probe.effects.size() > shown) {
    text += " and " + std::to_string(probe.effects.size() - shown) + " more series";
  }
  const int holding = bisect::commits_holding(probe.posterior, kHeld);
  if (holding == 0) return text;
  return text + "; " + commits_text(probe.commits) + " -> " + std::to_string(holding) +
         (holding == 1 ? " holds " : " hold ") + figures::confidence(kHeld);
}

}  // namespace torchwatch::bisection
