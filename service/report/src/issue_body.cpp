#include <algorithm>
#include <string>

#include "figures.hpp"
#include "markdown.hpp"
#include "search_section.hpp"
#include "sentences.hpp"
#include "torchwatch/report/issue.hpp"

namespace torchwatch::report {
namespace {

/// GitHub refuses a body of more than 65,536 characters; bytes are never fewer.
constexpr std::size_t kBodyBytesMax = 64'000;
constexpr std::size_t kMachineFactsMax = 60;
constexpr std::size_t kRemarksMax = 10;
constexpr std::size_t kRemarkCharactersMax = 300;
constexpr std::size_t kReasonCharactersMax = 1000;
constexpr std::size_t kMachineBytesMax = 12'000;

std::string opening(const IncidentFacts& facts) {
  std::string text = summary(facts);
  if (facts.search) text += "\n" + search_sentence(*facts.search) + "\n";
  return text;
}

std::string effects_section(const IncidentFacts& facts) {
  if (facts.kind == IncidentKind::lost || facts.effects.empty()) return "";
  return "\n### What got worse\n\n" +
         effects_table(facts.effects, "baseline", "candidate", facts.confidence);
}

/// How the comparison was chosen, and what is to be said of the night as a whole.
std::string night_section(const IncidentFacts& facts) {
  std::string text;
  if (facts.nightlies_back > 0) {
    text += "\nThis is a comparison with an older nightly, " +
            std::to_string(facts.nightlies_back) +
            " before, measured again beside the new one: changes that are too small for one night "
            "have added up.\n";
  }
  if (facts.remarks.empty()) return text;
  std::vector<std::string> items;
  for (const auto& remark : facts.remarks) items.push_back(code(remark, kRemarkCharactersMax));
  return text + "\nOf that night as a whole:\n\n" + bullets(items, kRemarksMax, "remarks");
}

std::string builds_section(const IncidentFacts& facts) {
  const auto row = [](const char* role, const BuildFacts& build) {
    const auto cell = [](const std::string& text) {
      return text.empty() ? std::string("-") : code_cell(text, 80);
    };
    return std::vector<std::string>{role, cell(build.name), cell(build.version),
                                    cell(build.trunk_commit),
                                    cell(build.content_hash.substr(0, 16))};
  };
  return "\n### Builds\n\n" +
         table({"", "name", "version", "trunk commit", "content"},
               {row("baseline", facts.baseline), row("candidate", facts.candidate)}, 2);
}

/// Whole lines of `text` that fit into `bytes_max`, and a note when some had to go.
std::string whole_lines(std::string text, std::size_t bytes_max) {
  constexpr std::string_view kNote = "\n*Cut here: the text was too long for an issue.*\n";
  if (text.size() <= bytes_max) return text;
  text.resize(bytes_max - kNote.size());
  text.resize(text.rfind('\n') + 1);
  return text += kNote;
}

std::string machine_section(const IncidentFacts& facts) {
  if (facts.machine.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : facts.machine) {
    rows.push_back({code_cell(name, 60), code_cell(value, 160)});
  }
  return "\n<details><summary>Machine</summary>\n\n" +
         whole_lines(table({"fact", "value"}, rows, kMachineFactsMax), kMachineBytesMax) +
         "\n</details>\n";
}

std::string reproduce_section(const IncidentFacts& facts) {
  if (facts.reproduce.empty()) return "";
  return "\n### How to reproduce\n\n" + code_block(facts.reproduce, "sh");
}

}  // namespace

std::string issue_body(const IncidentFacts& facts) {
  const std::string tail = reproduce_section(facts) + machine_section(facts) + "\n" +
                           "Found in the night of " + code(facts.night) +
                           " by torchwatch. Figures are medians of runs in fresh, interleaved "
                           "processes.\n\n" +
                           marker(facts.key) + "\n";
  std::string head = opening(facts) + night_section(facts) + effects_section(facts);
  if (facts.search) head += "\n" + search_section(*facts.search, facts.confidence);
  head += builds_section(facts);
  return whole_lines(std::move(head), kBodyBytesMax - tail.size()) + tail;
}

std::string recurrence_comment(const IncidentFacts& facts) {
  std::string text = "Still there in " + code(facts.candidate.name) + ", compared with " +
                     code(facts.baseline.name) + ". " + summary(facts) + effects_section(facts);
  if (facts.search) text += "\n" + search_sentence(*facts.search) + "\n";
  return whole_lines(std::move(text), kBodyBytesMax);
}

std::string recovery_comment(const IncidentFacts& facts) {
  std::string text = "Gone in " + code(facts.candidate.name) + ": compared with " +
                     code(facts.baseline.name) + " nothing of this is left.\n";
  if (!facts.effects.empty()) {
    text += "\n" + effects_table(facts.effects, "last good", "now", facts.confidence);
  }
  return whole_lines(std::move(text), kBodyBytesMax);
}

std::string acceptance_comment(const IncidentFacts& facts, const std::string& by,
                               const std::string& reason) {
  return "Accepted by " + code(by) + ": " + code(reason, kReasonCharactersMax) + "\n\nFrom " +
         code(facts.candidate.name) + " on it is what later builds are compared with.\n";
}

}  // namespace torchwatch::report
