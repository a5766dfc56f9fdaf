#include <algorithm>
#include <string>

#include "sentences.hpp"
#include "torchwatch/report/issue.hpp"
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

/// "Add a check (#12345)" -> "Add a check".
std::string without_pull_request(std::string subject) {
  const auto open = subject.rfind(" (#");
  if (open != std::string::npos && subject.ends_with(')')) subject.resize(open);
  return subject;
}

std::string lost_title(const IncidentFacts& facts) {
  if (facts.effects.empty()) return facts.reason;
  std::string text = to_string(facts.effects.front().series.benchmark);
  if (facts.effects.size() > 1) {
    text += " and " + std::to_string(facts.effects.size() - 1) + " more";
  }
  return text + ": no result any more";
}

std::string what_got_worse(const IncidentFacts& facts) {
  if (facts.kind == IncidentKind::lost || facts.effects.empty()) return lost_title(facts);
  const auto effects = by_size(facts.effects);
  const auto& worst = effects.front();
  std::string text = to_string(worst.series) + " ";
  text += change_text(worst);
  if (effects.size() > 1) text += " and " + std::to_string(effects.size() - 1) + " more";
  return text;
}

/// ": 5d1c1c3f0a9e Add a check", of the largest culprit that is one commit.
std::string culprit_in_title(const BisectionFacts& bisection) {
  const auto named = std::ranges::find(bisection.culprits, std::size_t{1},
                                       [](const auto& culprit) { return culprit.commits.size(); });
  if (named == bisection.culprits.end()) return "";
  const auto& commit = named->commits.front();
  std::string text = ": " + commit.sha.substr(0, 12) + " " + without_pull_request(commit.subject);
  const auto others = bisection.culprits.size() - 1;
  if (others > 0)
    text += " and " + std::to_string(others) + " other cause" + (others > 1 ? "s" : "");
  return text;
}

}  // namespace

std::string what_changed(const storage::IncidentRow& incident) {
  IncidentFacts facts;
  facts.kind = incident.kind;
  for (const auto& series : incident.series) facts.effects.push_back(effect_of(series));
  return without_live_links(clean(what_got_worse(facts), kTitleCharactersMax));
}

std::string incident_title(const IncidentFacts& facts) {
  const bool is_drift = facts.nightlies_back > 0;
  std::string text = what_got_worse(facts) +
                     (is_drift ? " from " + facts.baseline.name + " to " : " in ") +
                     facts.candidate.name;
  if (facts.bisection) text += culprit_in_title(*facts.bisection);
  return without_live_links(clean(text, kTitleCharactersMax));
}

}  // namespace torchwatch::report
