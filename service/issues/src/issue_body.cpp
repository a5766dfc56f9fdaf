#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "bisection_section.hpp"
#include "sentences.hpp"
#include "torchwatch/drawing/strip.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/report/markdown.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::report {
namespace {

/// GitHub refuses a body of more than 65,536 characters; bytes are never fewer.
constexpr std::size_t kBodyBytesMax = 64'000;
constexpr std::string_view kMarkerStart = "<!-- torchwatch-key: ";
constexpr std::string_view kMarkerEnd = " -->";
constexpr std::size_t kMachineFactsMax = 60;
constexpr std::size_t kRemarksMax = 10;
constexpr std::size_t kRelatedMax = 5;
constexpr std::size_t kRemarkCharactersMax = 300;
constexpr std::size_t kReasonCharactersMax = 1000;
constexpr std::size_t kMachineBytesMax = 12'000;

std::string opening(const IncidentFacts& facts) {
  std::string text = summary(facts);
  if (facts.bisection) {
    text += "\n" + bisection_sentence(*facts.bisection, facts.commits_address) + "\n";
  }
  return text;
}

/// The end of what a lost workload printed: few need it, and it may be long.
std::string output_section(const IncidentFacts& facts) {
  if (facts.output.empty()) return "";
  return "\n<details><summary>What the process printed last</summary>\n\n" +
         code_block(facts.output) + "\n</details>\n";
}

std::string effects_section(const IncidentFacts& facts) {
  if (facts.kind == IncidentKind::lost || facts.effects.empty()) return "";
  return "\n### What got worse\n\n" +
         effects_table(facts.effects, "baseline", "candidate", facts.confidence);
}

/// How the comparison was chosen, and what is to be said of the comparison as a whole.
std::string comparison_section(const IncidentFacts& facts) {
  std::string text;
  if (facts.nightlies_back > 0) {
    text += fmt::format(
        "\nThis is a comparison with an older nightly, {} before, measured again together with the "
        "new one: changes that are too small for one comparison have added up.\n",
        facts.nightlies_back);
  }
  if (facts.remarks.empty()) return text;
  std::vector<std::string> items;
  for (const auto& remark : facts.remarks) items.push_back(code(remark, kRemarkCharactersMax));
  return text + "\nAbout the comparison as a whole:\n\n" + bullets(items, kRemarksMax, "remarks");
}

std::string builds_section(const IncidentFacts& facts) {
  const auto row = [&](const char* role, const BuildFacts& build) {
    const auto cell = [](const std::string& text) {
      return text.empty() ? std::string("-") : code_cell(text, 80);
    };
    return std::vector<std::string>{role, cell(build.name), cell(build.version),
                                    facts.commits_address.empty() || build.trunk_commit.empty()
                                        ? cell(build.trunk_commit)
                                        : commit_link(facts.commits_address, build.trunk_commit)};
  };
  return "\n### Builds\n\n" +
         table({"build", "name", "version", "commit"},
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

/// "0.6 to 2.1"; "0.6" where both read the same.
std::string load_text(const Disturbance& found) {
  const auto least = fmt::format("{:.1f}", found.load_least);
  const auto most = fmt::format("{:.1f}", found.load_most);
  return least == most ? least : least + " to " + most;
}

/// "Beside 24 runs of this pass: load 0.6 to 2.1, ..." Whether somebody else used the machine.
std::string disturbance_text(const Disturbance& found) {
  if (found.runs == 0) return "";
  auto text =
      fmt::format("Beside {} of this pass: load {}, to which they add",
                  figures::count(static_cast<std::size_t>(found.runs), "run"), load_text(found));
  if (found.stolen) text += "; steal " + figures::share(*found.stolen) + " of the time";
  return text + (found.is_virtual ? ". It is a virtual machine.\n\n" : ".\n\n");
}

std::string machine_section(const IncidentFacts& facts) {
  if (facts.machine.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : facts.machine) {
    rows.push_back({code_cell(name, 60), code_cell(value, 160)});
  }
  return "\n<details><summary>Machine</summary>\n\n" + disturbance_text(facts.disturbance) +
         whole_lines(table({"fact", "value"}, rows, kMachineFactsMax), kMachineBytesMax) +
         "\n</details>\n";
}

std::string suspect_part(const IncidentFacts& facts) {
  if (facts.test_suspect.empty()) return "";
  std::string text =
      "\nBuild the commit and its parent, and compare them. The configuration needs `[source]`, a "
      "clone of PyTorch, and a `[build] recipe`";
  if (facts.preset) text += "; `[suite] preset` was " + code(to_string(*facts.preset));
  return text + ":\n\n" + code_block(facts.test_suspect, "sh");
}

std::string torchbench_part(const IncidentFacts& facts) {
  if (facts.torchbench.empty()) return "";
  return "\nWithout torchwatch: with PyTorch of each build, in a clone of "
         "`https://github.com/pytorch/benchmark` (commit 73871abc has all originals) after its "
         "`python3 install.py`:\n\n" +
         code_block(facts.torchbench, "sh") +
         "\nThat is the original, in Python and with TorchBench's own sizes: its times differ from "
         "those above.\n";
}

std::string reproduce_section(const IncidentFacts& facts) {
  if (facts.reproduce.empty()) return "";
  std::string text = "\n### How to reproduce\n\nCompare the two builds again, in minutes";
  if (facts.preset) text += " (preset " + code(to_string(*facts.preset)) + ")";
  if (facts.reproduce_seconds > 0) {
    text += "; the runs took " + figures::duration(facts.reproduce_seconds) + " here";
  }
  return text + ":\n\n" + code_block(facts.reproduce, "sh") +
         "\ntorchwatch's README says how to install it: `deploy/quickstart`.\n" +
         suspect_part(facts) + torchbench_part(facts);
}

std::string unaffected_section(const IncidentFacts& facts) {
  const auto& [series, unchanged, undecided, related] = facts.unaffected;
  if (series == 0 || unchanged == 0) return "";
  auto text = fmt::format("\nNot affected: {} of {} series {} unchanged", unchanged, series,
                          unchanged == 1 ? "is" : "are");
  for (std::size_t i = 0; i < std::min(related.size(), kRelatedMax); ++i) {
    text += (i == 0 ? ", among them the times of " : ", ") + code(to_string(related[i]));
  }
  if (undecided > 0) text += fmt::format("; {} could not be decided", undecided);
  return text + ".\n";
}

/// The middle of all samples: single outliers would leave the rest in one column.
std::pair<double, double> shown_range(const SeriesRecord& record) {
  constexpr std::size_t kHundredth = 100;
  auto all = record.baseline_samples;
  all.insert(all.end(), record.candidate_samples.begin(), record.candidate_samples.end());
  std::ranges::sort(all);
  const auto cut = all.size() / kHundredth;
  return {static_cast<double>(all[cut]), static_cast<double>(all[all.size() - 1 - cut])};
}

std::string samples_part(const SeriesRecord& record, Metric metric) {
  constexpr std::size_t kColumns = 48;
  if (record.baseline_samples.empty() || record.candidate_samples.empty()) return "";
  const auto [low, high] = shown_range(record);
  if (!(high > low)) return "";
  const auto line = [&](const char* name, const std::vector<std::int64_t>& samples) {
    return std::string(name) + "|" + drawing::distribution(samples, low, high, kColumns) + "|\n";
  };
  const auto total = record.baseline_samples.size() + record.candidate_samples.size();
  return fmt::format("\nAll {} samples, from {} to {}:\n\n```\n",
                     figures::grouped(static_cast<std::int64_t>(total)),
                     figures::value(metric, low), figures::value(metric, high)) +
         line("baseline  ", record.baseline_samples) +
         line("candidate ", record.candidate_samples) + "```\n";
}

std::string nightlies_part(const SeriesRecord& record, Metric metric) {
  constexpr std::size_t kFewest = 3;  // fewer say no more than the table
  if (record.nightlies.size() < kFewest) return "";
  const auto [least, greatest] = std::ranges::minmax(record.nightlies);
  return fmt::format("\nThe newest {} nightlies, from {} to {}:\n\n```\n{}\n```\n",
                     record.nightlies.size(), figures::value(metric, least),
                     figures::value(metric, greatest), drawing::strip(record.nightlies));
}

/// The series that changed most, as it was before and as it was measured.
std::string record_section(const IncidentFacts& facts) {
  if (facts.kind == IncidentKind::lost || facts.effects.empty()) return "";
  const auto series = by_size(facts.effects).front().series;
  const auto text =
      nightlies_part(facts.record, series.metric) + samples_part(facts.record, series.metric);
  if (text.empty()) return "";
  return "\n### How " + code(to_string(series)) + " was and is\n" + text;
}

bool names_a_culprit(const IncidentFacts& facts) {
  return facts.bisection && !facts.bisection->culprits.empty();
}

/// What a reader can do: the incident is answered with torchwatch's own commands.
std::string answer_section(const IncidentFacts& facts) {
  std::string text;
  if (facts.id > 0) {
    const auto command = [&](const char* verb, const char* more) {
      return code(fmt::format("torchwatch incident {} {}{}", verb, facts.id, more));
    };
    // Nobody wants an environment in which nothing runs.
    text = is_lost_with_both(facts.kind, facts.effects)
               ? "\nIs the machine in order again? " + command("retest", "") + " measures it again."
               : "\nIs it intended? " + command("accept", " --reason \"...\"") +
                     " makes it the new normal.";
    if (names_a_culprit(facts)) {
      text += " Is it the wrong commit? " + command("dispute", " --reason \"...\"") +
              " searches again.";
      if (!facts.tally.empty()) text += " So far, " + facts.tally;
    }
    text += "\n";
  }
  if (facts.cc.empty()) return text;
  return text + fmt::format("\ncc @{}\n", fmt::join(facts.cc, " @"));
}

/// "`ada`: `it is mended`", as a line.
std::string with_reason(const std::string& by, const std::string& reason) {
  return code(by) + (reason.empty() ? "." : ": " + code(reason, kReasonCharactersMax)) + "\n";
}

/// "Preset `small`; ..." A figure means nothing without its sizes.
std::string method_text(const IncidentFacts& facts) {
  std::string text =
      "Found in " + code(facts.comparison) + " by torchwatch " + std::string(program_version());
  if (!facts.page.empty()) text += " ([its page](" + facts.page + "))";
  if (facts.preset) text += ", with preset " + code(to_string(*facts.preset));
  return text +
         ". A baseline's value is the median of runs in fresh, interleaved processes; a "
         "time's change is estimated from their pairs, and the candidate's value follows "
         "from both.\n\n";
}

}  // namespace

std::string issue_body(const IncidentFacts& facts) {
  const std::string tail = reproduce_section(facts) + answer_section(facts) +
                           machine_section(facts) + "\n" + method_text(facts) + marker(facts.key) +
                           "\n";
  std::string head = opening(facts) + output_section(facts) + comparison_section(facts) +
                     effects_section(facts) + unaffected_section(facts) + record_section(facts);
  if (facts.bisection) head += "\n" + bisection_section(*facts.bisection, facts.commits_address);
  head += builds_section(facts);
  return whole_lines(std::move(head), kBodyBytesMax - tail.size()) + tail;
}

std::string recurrence_comment(const IncidentFacts& facts) {
  std::string text = "Still there in " + code(facts.candidate.name) + ", compared with " +
                     code(facts.baseline.name) + ". " + summary(facts) + effects_section(facts);
  if (facts.bisection) {
    text += "\n" + bisection_sentence(*facts.bisection, facts.commits_address) + "\n";
  }
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
         code(facts.candidate.name) + " on, later builds are compared with it as it is.\n";
}

std::string with_marker(const std::string& text, const std::string& outbox_key,
                        const std::string& secret) {
  return text + "\n" + marker(outbox_key + ":" + secret) + "\n";
}

std::optional<std::string> marker_in(std::string_view body) {
  while (body.ends_with('\n')) body.remove_suffix(1);
  const auto start = body.rfind(kMarkerStart);
  if (start == std::string_view::npos) return std::nullopt;
  const auto found = body.substr(start);
  const bool is_last = found.find(kMarkerEnd) == found.size() - kMarkerEnd.size();
  return is_last ? std::optional(std::string(found)) : std::nullopt;
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
  text += "\n" + bisection_sentence(*facts.bisection, facts.commits_address) + "\n\n" +
          bisection_section(*facts.bisection, facts.commits_address);
  return whole_lines(std::move(text), kBodyBytesMax);
}

std::string marker(const std::string& outbox_key) {
  // One spelling for each key, and none that could end the comment ("--", ">"): whatever is not
  // plainly harmless is written as %XX.
  std::string spelled;
  for (const char c : outbox_key) {
    const bool second_dash = c == '-' && spelled.ends_with('-');
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' ||
                       c == ':' || c == '/' || c == '-';
    if (plain && !second_dash) {
      spelled += c;
      continue;
    }
    spelled += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return std::string(kMarkerStart) + spelled + std::string(kMarkerEnd);
}

}  // namespace torchwatch::report
