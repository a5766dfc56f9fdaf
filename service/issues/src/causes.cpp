#include "causes.hpp"

#include <algorithm>
#include <cmath>

#include "sentences.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"

namespace torchwatch::report {
namespace {

/// The part of a change that a cause must make to stand for it; a revert asks for as much.
constexpr double kWhole = 0.5;

}  // namespace

double size_of(const EffectFacts& effect) {
  return effect.ratio > 0 ? std::log(effect.ratio) : difference_of(effect);
}

std::size_t cause_count(const BisectionFacts& search) {
  return search.culprits.size() + (search.suspects.empty() ? 0 : 1);
}

bool is_part(const CulpritFacts& cause, const IncidentFacts& facts) {
  if (facts.bisection && cause_count(*facts.bisection) > 1) return true;
  if (facts.effects.empty()) return false;
  const auto& worst = *std::ranges::min_element(facts.effects, is_larger);
  const auto own = std::ranges::find(cause.effects, worst.series, &EffectFacts::series);
  return own != cause.effects.end() && size_of(*own) < kWhole * size_of(worst);
}

std::vector<EffectFacts> own_effects(const CulpritFacts& cause) {
  auto effects = by_size(cause.effects);
  const auto may_be_nothing = [](const auto& effect) { return !is_sure_increase(effect); };
  if (!std::ranges::all_of(effects, may_be_nothing)) std::erase_if(effects, may_be_nothing);
  return effects;
}

bool names_a_commit(const IncidentFacts& facts) {
  return facts.bisection && std::ranges::any_of(facts.bisection->culprits, [](const auto& culprit) {
           return finding_of(culprit) == Finding::named;
         });
}

}  // namespace torchwatch::report
