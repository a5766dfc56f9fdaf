#include "torchwatch/terminal/incident_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/bisection_text.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::terminal {
namespace {

using storage::IncidentState;

/// What gave no result has no values, and is said with the reason instead.
void print_lost(std::ostream& out, const IncidentFacts& facts, const Screen& screen) {
  const auto builds = facts.baseline + " nor " + facts.candidate;
  out << wrapped(
      report::is_lost_with_both(facts.row)
          ? "No result with either build, neither " + builds +
                ": look at this machine, not at the build."
          : "Measured with " + facts.baseline + ", but no longer with " + facts.candidate + ".",
      screen.columns);
  for (const auto& lost : facts.row.series) out << "  " << to_string(lost.series) << '\n';
  const auto& [reason, output] = facts.loss;
  if (!reason.empty()) out << wrapped("Reason: " + reason, screen.columns, 2);
  if (!output.empty()) out << "What the process printed last:\n";
  for (const auto& line : output) out << wrapped("  " + line, screen.columns, 4);
  out << '\n';
}

void print_effects(std::ostream& out, const IncidentFacts& facts, const Screen& screen) {
  using Align = Table::Align;
  Table table({{"workload"},
               {"configuration"},
               {"metric"},
               {"change", Align::right},
               {report::interval_heading(facts.confidence), Align::right, 1},
               {"before", Align::right, 3},
               {"now", Align::right, 2}},
              2);
  std::vector<report::EffectFacts> effects;
  for (const auto& row : facts.row.series) effects.push_back(report::effect_of(row));
  std::ranges::stable_sort(effects, report::is_larger);
  for (const auto& effect : effects) {
    const auto& [benchmark, metric] = effect.series;
    table.add({benchmark.workload,
               report::configuration_text(benchmark),
               to_string(metric),
               {report::change_text(effect), Tone::bad},
               report::interval_text(effect),
               figures::value(metric, effect.baseline_value),
               figures::value(metric, effect.candidate_value)});
  }
  if (table.empty()) return;
  out << "What changed from " << facts.baseline << " to " << facts.candidate << ":\n";
  table.print(out, screen);
  out << '\n';
}

void print_dispute(std::ostream& out, const Disputed& disputed, bool has_ended,
                   const Screen& screen) {
  const auto& [commit, decision] = disputed;
  out << wrapped(fmt::format("Commit {}, which was named first, was {}.", short_sha(commit),
                             report::decision_text({storage::DecisionKind::disputed, decision})),
                 screen.columns, 2);
  out << (has_ended ? "What the second search found:\n" : "The second search has not ended.\n");
}

/// How a search that has not ended can be carried on.
void print_open_search(std::ostream& out, const IncidentFacts& facts, const Screen& screen) {
  if (!facts.cancelled) {
    out << "The search for the culprit has not ended.\n";
    return;
  }
  out << wrapped(
      fmt::format("The search for the culprit was cancelled with comparison {0}{1}{2}; "
                  "`torchwatch comparison retry {0}` starts it again.",
                  facts.row.comparison, facts.cancelled->empty() ? "" : ", ", *facts.cancelled),
      screen.columns);
}

void print_cause(std::ostream& out, const IncidentFacts& facts,
                 const bisect::CommitHistory* history, const Screen& screen) {
  if (facts.disputed) print_dispute(out, *facts.disputed, facts.result.has_value(), screen);
  if (facts.result) {
    print(out, *facts.result, history,
          {.good = facts.baseline, .bad = facts.candidate, .suspect = {}}, screen);
  } else if (facts.row.bisection && !facts.disputed) {
    print_open_search(out, facts, screen);
  } else if (!facts.row.bisection && facts.row.kind != IncidentKind::lost) {
    out << "No culprit was searched for: the commits of both builds are not known.\n";
  }
  out << wrapped("Issue: " + report::issue_text(facts.messages, facts.row.unfiled) + ".",
                 screen.columns, 2);
}

void print_rechecks(std::ostream& out, const std::vector<report::Recheck>& rechecks,
                    const Screen& screen) {
  if (rechecks.empty()) return;
  out << "\nMeasured again, newest first:\n";
  for (const auto& recheck : rechecks) {
    out << wrapped("  " + report::recheck_text(recheck), screen.columns, 4);
  }
}

/// The newest decision stands in the first line.
void print_decisions(std::ostream& out, const std::vector<storage::DecisionRow>& decisions,
                     const Screen& screen) {
  if (decisions.size() < 2) return;
  out << "\nWhat was decided:\n";
  for (const auto& row : decisions) {
    out << wrapped("  " + report::decision_text(row), screen.columns, 4);
  }
}

void print_lines(std::ostream& out, const char* heading, const std::vector<std::string>& lines,
                 const Screen& screen) {
  if (lines.empty()) return;
  out << '\n' << heading << '\n';
  for (const auto& line : lines) out << wrapped("  " + line, screen.columns, 4);
}

/// The drawings of the page, as wide as the terminal. Wider ones are harder to read.
void print_drawings(std::ostream& out, const IncidentFacts& facts, const Screen& screen) {
  constexpr int kColumnsMax = 120;
  if (!facts.drawings) return;
  for (const auto& text : facts.drawings(std::min(screen.columns, kColumnsMax)))
    out << '\n' << text;
}

void print_next(std::ostream& out, const IncidentFacts& facts, const Screen& screen) {
  out << "\nWhat to do next:\n";
  const bool names_culprit = facts.result && !facts.result->single_commits().empty();
  auto advice = report::advice_on(facts.row, names_culprit, facts.reproduce);
  if (facts.row.state != IncidentState::closed) {
    advice.push_back({"The issue's text",
                      fmt::format("torchwatch incident show {} --format markdown", facts.row.id)});
  }
  for (const auto& [when, command] : advice) {
    out << wrapped(fmt::format("  {}: `{}`", when, command), screen.columns, 4);
  }
}

}  // namespace

void print(std::ostream& out, const IncidentFacts& facts, const bisect::CommitHistory* history,
           const Screen& screen) {
  const bool is_closed = facts.row.state == IncidentState::closed;
  const auto& row = facts.row;
  out << wrapped(
      fmt::format("Incident {}, {}, {}", row.id, to_string(row.kind), report::state_text(row)),
      screen.columns, 2);
  const auto title = wrapped(facts.row.title, screen.columns, 2);
  out << painted(title.substr(0, title.size() - 1), is_closed ? Tone::plain : Tone::bad, screen)
      << "\n\n";
  if (row.kind == IncidentKind::lost) {
    print_lost(out, facts, screen);
  } else {
    print_effects(out, facts, screen);
  }
  print_cause(out, facts, history, screen);
  print_rechecks(out, facts.rechecks, screen);
  print_decisions(out, row.decisions, screen);
  print_lines(out, "What was done to the issue:", facts.issue_events, screen);
  print_lines(out, "Muted (`torchwatch mute lift ID` ends it):", facts.mutes, screen);
  print_drawings(out, facts, screen);
  if (!facts.operators.empty()) {
    print_lines(out, "By operator:", {facts.operators}, screen);
  }
  print_lines(out, "Traces of one iteration, for Perfetto:", facts.traces, screen);
  print_next(out, facts, screen);
  if (facts.trace.empty()) return;
  out << "\nHow the culprit was searched:\n";
  if (facts.result && facts.result->folded > 0) {
    out << wrapped(
        "  (a commit that cannot change the library, also at an end, is measured as the "
        "one before it)",
        screen.columns, 2);
  }
  print(out, facts.trace, screen);
}

}  // namespace torchwatch::terminal
