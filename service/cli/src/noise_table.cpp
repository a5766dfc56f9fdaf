#include "noise_table.hpp"

#include <cmath>
#include <ostream>

#include "figures.hpp"
#include "table.hpp"
#include "torchwatch/report/issue.hpp"

namespace torchwatch::cli {
namespace {

using nightly::NoiseFigure;

double minutes(const NoiseFigure& figure, double runs) {
  return runs * figure.run_seconds / 60;
}

std::string floor_text(const NoiseFigure& figure) {
  if (std::isinf(figure.floor.change)) return "nothing below a doubling";
  return percent(1 + figure.floor.change);
}

std::string remark(const NoiseFigure& figure, double threshold) {
  if (figure.status != RunStatus::ok) {
    return std::string(to_string(figure.status)) + ": " + figure.reason;
  }
  if (figure.floor.change <= threshold) return "ok";
  return "too noisy for " + percent(1 + threshold);
}

}  // namespace

void print_noise(std::ostream& out, const std::vector<NoiseFigure>& figures, double threshold) {
  using Align = Table::Align;
  Table table({{"workload"},
               {"configuration"},
               {"time", Align::right},
               {"noise of a pair", Align::right},
               {"finds from", Align::right},
               {"minutes", Align::right},
               {"unchanged, minutes", Align::right},
               {""}});
  for (const auto& figure : figures) {
    const bool ran = figure.status == RunStatus::ok;
    const auto shown = [&](const std::string& text) { return ran ? text : std::string("-"); };
    table.add({figure.cell.workload, configuration_text(figure.cell),
               shown(report::human_value(Metric::time, figure.value_ns)),
               shown(decimal("%.1f %%", 100 * figure.pair_sd)), shown(floor_text(figure)),
               shown(decimal("%.1f", minutes(figure, figure.floor.runs_changed))),
               shown(decimal("%.1f", minutes(figure, figure.floor.runs_unchanged))),
               remark(figure, threshold)});
  }
  table.print(out);
  out << "\n\"finds from\" is the least slowdown that nine nights in ten would report, foretold "
         "from "
         "these runs of one build;\nthe minutes are those of the timing runs of such a night, and "
         "of "
         "one without a change.\n";
}

nlohmann::json noise_json(const std::vector<NoiseFigure>& figures) {
  auto array = nlohmann::json::array();
  for (const auto& figure : figures) {
    const bool finds = figure.status == RunStatus::ok && std::isfinite(figure.floor.change);
    array.push_back({{"workload", figure.cell.workload},
                     {"configuration", to_string(figure.cell.configuration)},
                     {"variant", to_string(figure.cell.variant)},
                     {"value_ns", figure.value_ns},
                     {"pair_sd", figure.pair_sd},
                     {"run_seconds", figure.run_seconds},
                     {"detectable", finds ? nlohmann::json(figure.floor.change) : nullptr},
                     {"runs_changed", figure.floor.runs_changed},
                     {"runs_unchanged", figure.floor.runs_unchanged},
                     {"status", to_string(figure.status)},
                     {"reason", figure.reason}});
  }
  return array;
}

}  // namespace torchwatch::cli
