#include "torchwatch/terminal/incident_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/bisection_text.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::terminal {
namespace {

using storage::IncidentState;

std::string state_text(const storage::IncidentRow& row) {
  auto text =
      fmt::format("Incident {}, {}, {}", row.id, to_string(row.kind), report::state_word(row));
  if (row.acceptance) {
    return text + fmt::format(" by {} on {}: {}", row.acceptance->by,
                              platform::date_and_minute(row.acceptance->at),
                              row.acceptance->reason);
  }
  const bool is_closed = row.state == IncidentState::closed;
  const auto at = platform::date_and_minute(is_closed ? row.closed_at : row.opened_at);
  return text + fmt::format(" {} {} UTC", is_closed ? "on" : "since", at);
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

void print_cause(std::ostream& out, const IncidentFacts& facts,
                 const bisect::CommitHistory* history, const Screen& screen) {
  if (facts.result) {
    print(out, *facts.result, history, "", screen);
  } else if (facts.row.bisection) {
    out << "The search for the culprit has not ended.\n";
  } else if (facts.row.kind != IncidentKind::lost) {
    out << "No culprit was searched for: the commits of both builds are not known.\n";
  }
  out << wrapped("Issue: " + report::issue_text(facts.messages) + ".", screen.columns, 2);
}

void print_next(std::ostream& out, const IncidentFacts& facts, const Screen& screen) {
  out << "\nWhat to do next:\n";
  const bool names_culprit = facts.result && facts.result->culprit();
  auto advice = report::advice_on(facts.row, names_culprit, facts.reproduce);
  if (facts.row.state != IncidentState::closed) {
    advice.push_back(
        {"The issue's text", fmt::format("torchwatch incident show {} --markdown", facts.row.id)});
  }
  for (const auto& [when, command] : advice) {
    out << wrapped(fmt::format("  {}: `{}`", when, command), screen.columns, 4);
  }
}

}  // namespace

void print(std::ostream& out, const IncidentFacts& facts, const bisect::CommitHistory* history,
           const Screen& screen) {
  const bool is_closed = facts.row.state == IncidentState::closed;
  out << wrapped(state_text(facts.row), screen.columns, 2);
  const auto title = wrapped(facts.row.title, screen.columns, 2);
  out << painted(title.substr(0, title.size() - 1), is_closed ? Tone::plain : Tone::bad, screen)
      << "\n\n";
  print_effects(out, facts, screen);
  print_cause(out, facts, history, screen);
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
