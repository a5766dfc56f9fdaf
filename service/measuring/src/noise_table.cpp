#include "noise_table.hpp"

#include <cmath>
#include <ostream>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::measuring {
namespace {

using measurement::NoiseFigure;

std::string time_of(const NoiseFigure& figure, double runs) {
  return figures::duration(runs * figure.run_seconds);
}

std::string floor_text(const NoiseFigure& figure) {
  if (std::isinf(figure.floor.change)) return "nothing below a doubling";
  return figures::change(1 + figure.floor.change);
}

std::string remark(const NoiseFigure& figure) {
  if (figure.status != RunStatus::ok) {
    return std::string(to_string(figure.status)) + ": " + figure.reason;
  }
  if (figure.floor.change <= figure.threshold) return "ok";
  return "too noisy for " + figures::change(1 + figure.threshold);
}

}  // namespace

void print_noise(std::ostream& out, const std::vector<NoiseFigure>& figures,
                 const terminal::Screen& screen) {
  using Align = terminal::Table::Align;
  terminal::Table table({{"workload"},
                         {"configuration"},
                         {"time", Align::right, 3},
                         {"noise of a pair", Align::right, 2},
                         {"detects from", Align::right},
                         {"takes", Align::right, 4},
                         {"takes if unchanged", Align::right, 5},
                         {"judgement"}});
  for (const auto& figure : figures) {
    const bool ran = figure.status == RunStatus::ok;
    const auto shown = [&](const std::string& text) { return ran ? text : std::string("-"); };
    table.add({figure.benchmark.workload, report::configuration_text(figure.benchmark),
               shown(figures::value(Metric::time, figure.value_ns)),
               shown(figures::spread(figure.pair_sd)), shown(floor_text(figure)),
               shown(time_of(figure, figure.floor.runs_changed)),
               shown(time_of(figure, figure.floor.runs_unchanged)), remark(figure)});
  }
  table.print(out, screen);
  out << '\n'
      << terminal::wrapped(
             "\"detects from\" is the minimum detectable effect: the smallest slowdown that nine "
             "comparisons in ten report, estimated from these runs of one build. What it takes "
             "is the time of the timing runs of a nightly comparison with such a slowdown, "
             "and of one without a change.",
             screen.columns);
}

nlohmann::json noise_json(const std::vector<NoiseFigure>& figures) {
  auto array = nlohmann::json::array();
  for (const auto& figure : figures) {
    const bool ran = figure.status == RunStatus::ok;
    const bool finds = ran && std::isfinite(figure.floor.change);
    const auto known = [&](bool is_known, double number) {
      return is_known ? nlohmann::json(number) : nlohmann::json(nullptr);
    };
    auto object = report::json_of(Series{figure.benchmark, Metric::time});
    object.update({{"value", known(ran, figure.value_ns)},
                   {"pair_spread", known(ran, figure.pair_sd)},
                   {"run_seconds", known(ran, figure.run_seconds)},
                   {"minimum_detectable_effect", known(finds, figure.floor.change)},
                   {"runs_changed", known(finds, figure.floor.runs_changed)},
                   {"runs_unchanged", known(ran, figure.floor.runs_unchanged)},
                   {"status", to_string(figure.status)},
                   {"reason", report::text_or_null(figure.reason)}});
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace torchwatch::measuring
