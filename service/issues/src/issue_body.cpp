#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "bisection_section.hpp"
#include "drawings_section.hpp"
#include "sentences.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"

namespace torchwatch::report {
namespace {

/// What people still read. A section that does not fit is left out.
constexpr std::size_t kBodyBytesMax = 20'000;
constexpr std::size_t kOpeningBytesMax = 5'000;
constexpr std::size_t kBisectionBytesMax = 7'000;
constexpr std::size_t kMachineFactsMax = 60;
constexpr std::size_t kRemarksMax = 10;
constexpr std::size_t kRelatedMax = 5;
constexpr std::size_t kRemarkCharactersMax = 300;
constexpr std::size_t kOperatorsCharactersMax = 400;
constexpr std::size_t kMachineBytesMax = 3'000;

std::string opening(const IncidentFacts& facts) {
  std::string text = headline(facts) + "\n\n" + summary(facts);
  if (facts.bisection) {
    text += "\n" + bisection_sentence(facts) + "\n";
  }
  return whole_lines(std::move(text), kOpeningBytesMax);
}

/// The end of what a lost workload printed: few need it, and it may be long.
std::string output_section(const IncidentFacts& facts) {
  if (facts.output.empty()) return "";
  return "\n<details><summary>What the process printed last</summary>\n\n" +
         code_block(facts.output) + "\n</details>\n";
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

/// "on a machine like this one: `AMD EPYC 7763`, cpus `2`, threads `1`". What the comparison needs.
std::string machine_class_text(const IncidentFacts& facts) {
  std::string text;
  for (const auto* name : {"cpu_model", "cpus", "threads", "gpu_model"}) {
    const auto fact = facts.machine.find(name);
    if (fact == facts.machine.end()) continue;
    text += (text.empty() ? "" : ", ") + std::string(name) + " " + code(fact->second, 80);
  }
  return text.empty() ? "" : " on a machine like this one (" + text + ")";
}

std::string reproduce_section(const IncidentFacts& facts) {
  if (facts.reproduce.empty()) return "";
  std::string text = "\n### How to reproduce\n\nCompare the two builds again, in minutes" +
                     machine_class_text(facts);
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

bool names_a_culprit(const IncidentFacts& facts) {
  return facts.bisection && !facts.bisection->culprits.empty();
}

/// Who reads the issue may have no shell where torchwatch is.
std::string comments_part(const IncidentFacts& facts, const std::string& command_prefix) {
  if (command_prefix.empty()) return "";
  const auto command = [&](const char* words) { return code(command_prefix + words); };
  std::string text = "\nIn a comment here, ";
  if (is_lost_with_both(facts.kind, facts.effects)) {
    return text + command("retest") + " measures it again; " + command("bisect help") +
           " lists what else can be asked for.\n";
  }
  text += command("ack REASON") + " acknowledges it";
  if (names_a_culprit(facts)) text += ", " + command("wrong REASON") + " searches again";
  return text + "; " + command("bisect help") +
         " lists what else can be asked for. Closed as not planned, it is the new normal.\n";
}

/// What a reader can do: the incident is answered with torchwatch's own commands.
std::string answer_section(const IncidentFacts& facts, const std::string& command_prefix) {
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
      if (names_a_commit(facts) && !facts.tally.empty()) text += " So far, " + facts.tally + ".";
    }
    text += "\n" + comments_part(facts, command_prefix);
  }
  return text + mentions(facts.cc);
}

/// "Preset `small`; ..." A figure means nothing without its sizes.
std::string method_text(const IncidentFacts& facts) {
  std::string text =
      "Found in " + code(facts.comparison) + " by torchwatch " + std::string(program_version());
  if (const auto page = link("its page", facts.page); !page.empty()) {
    text += " (" + page + ", " + link("JSON", facts.page + ".json") + ")";
  }
  if (facts.preset) text += ", with preset " + code(to_string(*facts.preset));
  return text +
         ". A baseline's value is the median of runs in fresh, interleaved processes; a "
         "time's change is estimated from their pairs, and the candidate's value follows "
         "from both.\n\n";
}

/// As many of the sections as fit, in their order, each as a whole.
std::string sections_that_fit(const std::vector<std::string>& sections, std::size_t bytes_max) {
  constexpr std::string_view kNote =
      "\n*More does not fit into an issue; `torchwatch incident show` and the page have it.*\n";
  std::string text;
  bool is_whole = true;
  for (const auto& section : sections) {
    const bool fits = text.size() + section.size() + kNote.size() <= bytes_max;
    if (fits) text += section;
    is_whole = is_whole && fits;
  }
  return is_whole ? text : text.append(kNote);
}

/// Leads to one iteration of each build, operator by operator.
std::string traces_line(const std::vector<TraceFacts>& traces) {
  std::string links;
  for (const auto& trace : traces) {
    links += (links.empty() ? "" : ", ") + link(trace.side, trace.address);
  }
  return links.empty() ? "" : "\nTraces of one iteration, for Perfetto: " + links + ".\n";
}

/// Which operators take more, as the build under test calls them.
std::string operators_line(const std::string& operators) {
  return operators.empty() ? ""
                           : "\nBy operator: " + code(operators, kOperatorsCharactersMax) + "\n";
}

std::string found_section(const IncidentFacts& facts) {
  if (!facts.bisection) return "";
  return whole_lines("\n" + bisection_section(*facts.bisection, facts.commits_address),
                     kBisectionBytesMax);
}

}  // namespace

std::string issue_body(const IncidentFacts& facts, const std::string& command_prefix) {
  const auto start = opening(facts);
  const auto end = "\n" + method_text(facts) + marker(facts.key) + "\n";
  const auto answer = answer_section(facts, command_prefix);
  const auto used = start.size() + answer.size() + end.size();
  const auto reproduce = reproduce_section(facts);
  const auto left = kBodyBytesMax - std::min(kBodyBytesMax, used + reproduce.size());
  const auto evidence = sections_that_fit(
      {output_section(facts), comparison_section(facts), effects_section(facts),
       unaffected_section(facts), drawings_section(facts.drawings), operators_line(facts.operators),
       traces_line(facts.traces), found_section(facts), builds_section(facts)},
      left);
  const auto machine = machine_section(facts);
  const bool fits = evidence.size() + machine.size() <= left;
  return start + evidence + reproduce + answer + (fits ? machine : "") + end;
}

}  // namespace torchwatch::report
