#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "causes.hpp"
#include "sentences.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"

namespace torchwatch::report {
namespace {

/// Lists of issues show no more of a title on one line.
constexpr std::size_t kTitleCharactersMax = 80;

/// What kind of trouble it is, for people who scan a list.
std::string tag_of(const IncidentFacts& facts) {
  if (facts.kind == IncidentKind::lost) return "[lost] ";
  if (facts.kind == IncidentKind::leak) return "[leak] ";
  if (facts.kind == IncidentKind::result) return "[result] ";
  const auto is_of_time = [](const EffectFacts& effect) {
    return pass_of(effect.series.metric) == Pass::timing;
  };
  return std::ranges::any_of(facts.effects, is_of_time) ? "[perf] " : "[memory] ";
}

/// "+17 %" from ten per cent on: a title needs no tenths.
std::string brief_change(const EffectFacts& effect) {
  constexpr double kInTenths = 1.0995;
  constexpr double kInTimes = 3;
  if (!(effect.ratio > 0)) return change_text(effect);
  if (effect.ratio < kInTenths || effect.ratio >= kInTimes) return figures::change(effect.ratio);
  return fmt::format("+{:.0f} %", (effect.ratio - 1) * 100);
}

/// "+17 % time", of the largest change; of an operator "+17 % time of aten::gelu".
std::string how_much(const IncidentFacts& facts) {
  if (is_lost_with_both(facts.kind, facts.effects)) {
    return "environment, no result";
  }
  if (facts.kind == IncidentKind::lost || facts.effects.empty()) return "no result";
  const auto& worst = *std::ranges::min_element(facts.effects, is_larger);
  const auto metric = worst.series.metric;
  // Their tag and their unit say the rest.
  const bool is_plain = !has_ratio(metric) && metric != Metric::heap_growth;
  auto text = brief_change(worst) + (is_plain ? "" : " " + std::string(to_string(metric)));
  if (is_of_operator(worst.series.benchmark)) {
    text += " of " + worst.series.benchmark.variant.operator_name;
  }
  return text;
}

std::string brief_sha(const std::string& sha) {
  constexpr std::size_t kDigits = 7;
  return is_commit(sha) ? sha.substr(0, kDigits) : clean(sha, kDigits);
}

/// " by ", ", likely by ", ", in part by".
std::string_view by_as(Finding finding, bool is_part) {
  if (finding == Finding::likely) return is_part ? ", in part likely by " : ", likely by ";
  return is_part ? ", in part by " : " by ";
}

/// "33de6cd and 1 more", "one of 3 commits", "2 causes".
std::string causes_of(const BisectionFacts& search, const std::vector<CommitFacts>& leading) {
  const auto causes = cause_count(search);
  if (leading.size() != 1) {
    return causes > 1 ? figures::count(causes, "cause") : one_of_text(leading.size());
  }
  return brief_sha(leading.front().sha) +
         (causes > 1 ? " and " + std::to_string(causes - 1) + " more" : "");
}

/// " by 33de6cd and 1 more", ", cause unknown".
std::string by_whom(const IncidentFacts& facts) {
  if (!facts.bisection || is_lost_with_both(facts.kind, facts.effects)) return "";
  const auto& search = *facts.bisection;
  const auto finding = finding_of(search);
  if (finding == Finding::none) return ", cause unknown";
  if (finding == Finding::not_reproduced) return ", did not reproduce";
  const auto* cause = bisection::leading(search.culprits);
  const bool is_of_part = cause_count(search) == 1 && cause != nullptr && is_part(*cause, facts);
  return std::string(by_as(finding, is_of_part)) +
         causes_of(search, cause != nullptr ? cause->commits : search.suspects);
}

/// "resnet18", "2 workloads".
std::string names_or_number(const std::vector<std::string>& names, const char* noun) {
  return names.size() == 1 ? names.front() : figures::count(names.size(), noun);
}

/// "resnet18, cpu-train", "2 workloads, cpu-train", then "resnet18": what is said of where the
/// change is seen, from the longest to nothing.
std::vector<std::string> where(const std::vector<EffectFacts>& effects) {
  if (effects.empty()) return {""};
  std::vector<std::string> workloads;
  std::vector<std::string> configurations;
  for (const auto& effect : effects) {
    add_once(workloads, effect.series.benchmark.workload);
    add_once(configurations, configuration_text(whole_of(effect.series.benchmark)));
  }
  const auto of_workloads = names_or_number(workloads, "workload");
  return {of_workloads + ", " + names_or_number(configurations, "configuration"), of_workloads, ""};
}

/// As much of where the change is seen as fits.
std::string title_of(const IncidentFacts& facts, const std::string& since) {
  const auto start = tag_of(facts) + how_much(facts) + by_whom(facts);
  std::string title;
  for (const auto& at : where(facts.effects)) {
    title = start;
    for (const auto& part : {at, since}) {
      if (part.empty()) continue;
      title += (title.size() == start.size() ? ": " : ", ") + part;
    }
    if (characters_of(title) <= kTitleCharactersMax) break;
  }
  return without_live_links(clean(title, kTitleCharactersMax));
}

}  // namespace

std::string what_changed(const storage::IncidentRow& incident) {
  IncidentFacts facts;
  facts.kind = incident.kind;
  for (const auto& series : incident.series) facts.effects.push_back(effect_of(series));
  return title_of(facts, "");
}

std::string incident_title(const IncidentFacts& facts) {
  const bool is_drift = facts.nightlies_back > 0;
  return title_of(
      facts, is_drift ? facts.baseline.name + " to " + facts.candidate.name : facts.candidate.name);
}

}  // namespace torchwatch::report
