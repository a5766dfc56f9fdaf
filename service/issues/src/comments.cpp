#include <string>

#include "bisection_section.hpp"
#include "sentences.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::report {
namespace {

constexpr std::size_t kReasonCharactersMax = 1000;

/// "`ada`: `it is mended`", as a line.
std::string with_reason(const std::string& by, const std::string& reason) {
  return code(by) + (reason.empty() ? "." : ": " + code(reason, kReasonCharactersMax)) + "\n";
}

}  // namespace

std::string recurrence_comment(const IncidentFacts& facts, bool has_grown) {
  std::string text = has_grown ? "**It has grown.** " : "";
  text += "Still there in " + code(facts.candidate.name) + ", compared with " +
          code(facts.baseline.name) + ". " + summary(facts) + effects_section(facts);
  if (facts.bisection) {
    text += "\n" + bisection_sentence(facts) + "\n";
  }
  return whole_lines(std::move(text), kHardStopBytes);
}

std::string recovery_comment(const IncidentFacts& facts) {
  std::string text = "Gone in " + code(facts.candidate.name) + ": compared with " +
                     code(facts.baseline.name) + " nothing of this is left.\n";
  if (!facts.effects.empty()) {
    text += "\n" + effects_table(facts.effects, "last good", "now", facts.confidence);
  }
  return whole_lines(std::move(text), kHardStopBytes);
}

std::string acceptance_comment(const IncidentFacts& facts, const std::string& by,
                               const std::string& reason) {
  return "Accepted by " + code(by) + ": " + code(reason, kReasonCharactersMax) + "\n\nFrom " +
         code(facts.candidate.name) + " on, later builds are compared with it as it is.\n";
}

std::string closing_comment(const std::string& by, const std::string& reason) {
  return "Closed by " + with_reason(by, reason);
}

std::string reopening_comment(const std::string& by, const std::string& reason) {
  return "Opened again by " + with_reason(by, reason);
}

std::string dispute_comment(const std::string& by, const std::string& reason) {
  return code(by) +
         " holds the commit named here for the wrong one: " + code(reason, kReasonCharactersMax) +
         "\n\nThe search is carried out again, on fresh measurements; its result follows here.\n";
}

std::string second_search_comment(const IncidentFacts& facts) {
  std::string text = "The second search has ended.\n";
  if (!facts.bisection) return text;
  text += "\n" + bisection_sentence(facts) + "\n\n" +
          bisection_section(*facts.bisection, facts.commits_address);
  return whole_lines(std::move(text), kHardStopBytes);
}

}  // namespace torchwatch::report
