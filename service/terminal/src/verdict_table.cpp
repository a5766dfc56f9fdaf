#include "torchwatch/terminal/verdict_table.hpp"

#include <algorithm>
#include <array>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::terminal {
namespace {

std::ptrdiff_t rank(const storage::VerdictRow& row) {
  constexpr std::array kOrder{Verdict::regressed, Verdict::failed,    Verdict::inconclusive,
                              Verdict::improved,  Verdict::unchanged, Verdict::unsupported};
  return std::ranges::find(kOrder, row.verdict) - kOrder.begin();
}

}  // namespace

void print_verdicts(std::ostream& out, std::vector<storage::VerdictRow> rows, double confidence) {
  std::ranges::stable_sort(rows, {}, rank);
  using Align = Table::Align;
  Table table({{"workload"},
               {"configuration"},
               {"metric"},
               {"baseline", Align::right},
               {"candidate", Align::right},
               {"change", Align::right},
               {report::interval_heading(confidence), Align::right},
               {"runs", Align::right},
               {"verdict"}});
  for (const auto& row : rows) {
    const auto effect = report::effect_of(row);
    const auto metric = row.series.metric;
    const bool ran = row.verdict != Verdict::failed && row.verdict != Verdict::unsupported;
    const auto value = [&](double number) {
      return ran ? figures::value(metric, number) : std::string("-");
    };
    table.add({row.series.benchmark.workload, report::configuration_text(row.series.benchmark),
               std::string(to_string(metric)), value(effect.baseline_value),
               value(effect.candidate_value), report::change_text(effect),
               report::interval_text(effect), std::to_string(row.runs),
               std::string(to_string(row.verdict))});
  }
  table.print(out);
}

}  // namespace torchwatch::terminal
