#include <algorithm>
#include <string>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/markdown.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::report {
namespace {

constexpr std::size_t kTitleCharactersMax = 200;

/// A title is not Markdown, but mentions and references would be live in it, too.
std::string without_live_links(std::string text) {
  std::erase_if(text, [](char c) { return c == '@' || c == '#' || c == '`' || c == '<'; });
  return text;
}

/// What kind of trouble it is, for people who scan a list.
std::string tag_of(const IncidentFacts& facts) {
  if (facts.kind == IncidentKind::lost) return "[lost] ";
  if (facts.kind == IncidentKind::leak) return "[leak] ";
  const auto is_of_time = [](const EffectFacts& effect) {
    return pass_of(effect.series.metric) == Pass::timing;
  };
  return std::ranges::any_of(facts.effects, is_of_time) ? "[perf] " : "[memory] ";
}

template <typename T>
void add_once(std::vector<T>& list, const T& element) {
  if (std::ranges::find(list, element) == list.end()) list.push_back(element);
}

/// "resnet18 (cpu-train)", "2 workloads (cpu-train)", "3 workloads (2 configurations)".
std::string where(const std::vector<EffectFacts>& effects) {
  std::vector<std::string> workloads;
  std::vector<std::string> configurations;
  for (const auto& effect : effects) {
    add_once(workloads, effect.series.benchmark.workload);
    add_once(configurations, configuration_text(effect.series.benchmark));
  }
  const auto said = [](const std::vector<std::string>& names, const char* noun) {
    return names.size() == 1 ? names.front() : figures::count(names.size(), noun);
  };
  return said(workloads, "workload") + " (" + said(configurations, "configuration") + ")";
}

/// "+15.2 % time, 2 workloads (cpu-train)", of the largest change.
std::string what_got_worse(const IncidentFacts& facts) {
  if (facts.effects.empty()) return facts.reason;
  if (is_lost_with_both(facts.kind, facts.effects)) {
    return "environment: no result with either build, " + where(facts.effects);
  }
  if (facts.kind == IncidentKind::lost) return where(facts.effects) + ": no result any more";
  const auto& worst = *std::ranges::min_element(facts.effects, is_larger);
  return change_text(worst) + " " + std::string(to_string(worst.series.metric)) + ", " +
         where(facts.effects);
}

/// "5d1c1c3f0a9e and 1 other: ", of the largest culprit that is one commit.
std::string culprit_in_title(const BisectionFacts& bisection) {
  const auto named = std::ranges::find(bisection.culprits, std::size_t{1},
                                       [](const auto& culprit) { return culprit.commits.size(); });
  if (named == bisection.culprits.end()) return "";
  const auto others = bisection.culprits.size() - 1;
  auto text = short_sha(named->commits.front().sha);
  if (others > 0) text += " and " + std::to_string(others) + " other" + (others > 1 ? "s" : "");
  return text + ": ";
}

}  // namespace

std::string what_changed(const storage::IncidentRow& incident) {
  IncidentFacts facts;
  facts.kind = incident.kind;
  for (const auto& series : incident.series) facts.effects.push_back(effect_of(series));
  return without_live_links(clean(tag_of(facts) + what_got_worse(facts), kTitleCharactersMax));
}

std::string incident_title(const IncidentFacts& facts) {
  const bool is_drift = facts.nightlies_back > 0;
  auto text = tag_of(facts);
  if (facts.bisection) text += culprit_in_title(*facts.bisection);
  text += what_got_worse(facts) + ", ";
  if (is_drift) text += facts.baseline.name + " to ";
  return without_live_links(clean(text + facts.candidate.name, kTitleCharactersMax));
}

}  // namespace torchwatch::report
