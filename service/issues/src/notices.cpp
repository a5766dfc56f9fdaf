#include "torchwatch/issues/notices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bisection_section.hpp"
#include "causes.hpp"
#include "sentences.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::report {
namespace {

constexpr std::string_view kStateStart = "*Now:* ";
constexpr std::size_t kListedMax = 60;
constexpr std::size_t kImprovementsMax = 40;
constexpr std::size_t kReasonCharactersMax = 300;

std::vector<std::string> row_of(const Improvement& improvement) {
  const auto& effect = improvement.effect;
  const auto interval = interval_text(effect);
  return {code_cell(to_string(effect.series.benchmark)),
          std::string(to_string(effect.series.metric)), code_cell(improvement.build),
          "**" + change_text(effect) + "**", interval.empty() ? "-" : interval};
}

/// What a commit that made a part has to do with the change as a whole.
std::string its_place(const IncidentFacts& facts, const CulpritFacts& culprit) {
  if (!is_part(culprit, facts)) return "";
  const auto causes = cause_count(*facts.bisection);
  return causes > 1 ? "The commit is one of " + std::to_string(causes) + " causes of this change: "
                    : "The rest of this change was traced to no commit: ";
}

}  // namespace

std::string state_found_again(const std::string& build) {
  return "found again in " + code(build) + ".";
}

std::string state_gone(const std::string& build) {
  return "gone in " + code(build) + ".";
}

std::string state_decided(const storage::DecisionRow& row, const std::string& by) {
  const auto& reason = row.decision.reason;
  return std::string(to_string(row.kind)) + " by " + code(by) +
         (reason.empty() ? "." : ": " + code(reason, kReasonCharactersMax));
}

std::string state_searched_again() {
  return "searched again; this is what the newest search found.";
}

std::string with_state(const std::string& body, const std::string& state) {
  auto text = body;
  if (text.starts_with(kStateStart)) text.erase(0, text.find("\n\n") + 2);
  return std::string(kStateStart) + state + "\n\n" + text;
}

std::string with_marker_of(const std::string& body, const std::string& filed) {
  const auto own = marker_in(body);
  const auto theirs = marker_in(filed);
  if (!own || !theirs) return body;
  return body.substr(0, body.rfind(*own)) + *theirs + "\n";
}

bool has_grown(const storage::IncidentRow& before, const IncidentFacts& now) {
  constexpr double kGrown = 1.5;
  if (before.series.empty() || now.effects.empty()) return false;
  double then = 0;
  const auto worst = by_size(now.effects).front();
  for (const auto& series : before.series) {
    if (series.series == worst.series) then = size_of(effect_of(series));
  }
  return then > 0 && size_of(worst) > kGrown * then;
}

std::string naming_comment(const IncidentFacts& facts) {
  return headline(facts) + "\n\n" + (facts.bisection ? bisection_sentence(facts) + "\n" : "") +
         mentions(facts.cc);
}

std::string pull_comment(const IncidentFacts& facts, const CulpritFacts& culprit) {
  return headline_of(culprit, facts) + "\n\n" + its_place(facts, culprit) + summary(facts) +
         "\nThe commit was measured against the one before it. If the change is intended, or the "
         "commit is the wrong one, say so in the issue.\n";
}

std::string with_issue_link(const std::string& body, const std::string& repository,
                            std::int64_t issue) {
  const auto line = fmt::format("The issue: {}#{}.\n", clean(repository, 200), issue);
  const auto marker = marker_in(body);
  if (!marker) return body + "\n" + line;
  return body.substr(0, body.rfind(*marker)) + line + *marker + "\n";
}

std::string umbrella_title(std::size_t incidents, const std::string& build) {
  return fmt::format("[perf] {}: {}", figures::count(incidents, "more incident"),
                     without_live_links(clean(build, 40)));
}

std::string umbrella_body(const std::vector<ListedIncident>& incidents, const std::string& build,
                          int issues_per_night) {
  std::vector<std::string> items;
  for (const auto& incident : incidents) {
    const auto page = link("its page", incident.page);
    items.push_back(code(incident.title) + (page.empty() ? "" : ", " + page));
  }
  return fmt::format(
      "More changes were found in {} than get issues of their own; the {} largest have them "
      "(`[github] issues_per_night`). The others:\n\n{}\n"
      "When so much changes at once, look for one cause first: the machine, the compiler, "
      "a change of the build. `torchwatch incident list` lists them all.\n",
      code(build), issues_per_night, bullets(items, kListedMax, "incidents"));
}

std::string digest_title(std::size_t improvements, const std::string& month) {
  return fmt::format("[digest] {} in {}", figures::count(improvements, "improvement"), month);
}

std::string digest_body(std::vector<Improvement> improvements, const std::string& month) {
  std::ranges::stable_sort(improvements, [](const auto& left, const auto& right) {
    return size_of(left.effect) < size_of(right.effect);
  });
  std::vector<std::vector<std::string>> rows;
  for (const auto& improvement : improvements) rows.push_back(row_of(improvement));
  constexpr std::size_t kFirstNumber = 3;
  const auto text =
      "What got faster or smaller in " + code(month) +
      ", each in the first nightly that had it. Nothing is to be done; close this issue.\n\n" +
      table({"series", "metric", "build", "change", "interval"}, rows, kImprovementsMax,
            kFirstNumber);
  return whole_lines(text, kHardStopBytes);
}

std::string pull_of(std::string_view subject) {
  constexpr std::size_t kDigitsMax = 9;
  const auto start = subject.rfind("(#");
  if (start == std::string_view::npos || !subject.ends_with(')')) return "";
  const auto digits = subject.substr(start + 2, subject.size() - start - 3);
  const bool is_number =
      !digits.empty() && digits.size() <= kDigitsMax && digits.front() != '0' &&
      std::ranges::all_of(digits, [](char byte) { return byte >= '0' && byte <= '9'; });
  return is_number ? std::string(digits) : "";
}

}  // namespace torchwatch::report
