#include "efficiency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "torchwatch/commands/page_text.hpp"
#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/inquiry/runner_call.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::measuring {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

/// The runs that an efficiency is made of.
class EfficiencyRuns {
 public:
  EfficiencyRuns(comparison::Services& services, inquiry::Runner runner, comparison::Plan plan,
                 std::stop_token stop)
      : services_(services),
        runner_(std::move(runner)),
        plan_(std::move(plan)),
        stop_(std::move(stop)) {}

  Result<double> flops_per_iteration(const Benchmark& benchmark) {
    TW_TRY(const auto result, run(benchmark, Pass::flops));
    return static_cast<double>(result.flops_per_iteration.value());
  }

  /// Measured once for benchmarks that are alike in what it depends on.
  Result<double> peak(const Benchmark& benchmark) {
    const auto key = std::tuple(benchmark.configuration.device, benchmark.variant.precision,
                                benchmark.variant.threads);
    if (const auto known = peaks_.find(key); known != peaks_.end()) return known->second;
    TW_TRY(const auto result, run(benchmark, Pass::peak));
    return peaks_[key] = static_cast<double>(result.flops_per_second.value());
  }

 private:
  /// An ok result has the figure of its pass: the executor has checked it.
  Result<RunResult> run(const Benchmark& benchmark, Pass pass) {
    const auto request = comparison::request_for(plan_, benchmark, pass);
    TW_TRY(auto result, inquiry::run_unstored(services_, runner_, request, stop_));
    if (result.status == RunStatus::ok) return result;
    return fail(ErrorCode::unavailable, to_string(benchmark) + ", " + std::string(to_string(pass)) +
                                            " pass: " + result.reason);
  }

  comparison::Services& services_;
  inquiry::Runner runner_;
  comparison::Plan plan_;
  std::stop_token stop_;
  std::map<std::tuple<Device, Precision, int>, double> peaks_;
};

}  // namespace

Result<std::vector<Efficiency>> efficiency_of(
    comparison::Services& services, const storage::BuildRow& build,
    const std::vector<measurement::MeasuredFigure>& figures, std::stop_token stop) {
  TW_TRY(const auto plan, comparison::plan_of_config(services));
  TW_TRY(auto runner, inquiry::prepare_runner(services, build, stop));
  EfficiencyRuns runs(services, std::move(runner), plan, stop);
  services.progress.phase_started("counting the operations of each workload");
  std::vector<Efficiency> all;
  for (const auto& figure : figures) {
    if (figure.series.metric != Metric::time || figure.status != RunStatus::ok) continue;
    // Nobody counts the operations of a program of somebody's own.
    if (plan.stated.contains(figure.series.benchmark.workload)) continue;
    // Nor those of a package, which calls few operators, and of an operator.
    if (figure.series.benchmark.variant.backend == Backend::aot_inductor) continue;
    if (is_of_operator(figure.series.benchmark)) continue;
    Efficiency one;
    one.benchmark = figure.series.benchmark;
    TW_TRY(one.flops_per_iteration, runs.flops_per_iteration(one.benchmark));
    TW_TRY(one.peak_flops_per_second, runs.peak(one.benchmark));
    one.flops_per_second = one.flops_per_iteration / (figure.value / kNanosecondsPerSecond);
    one.spread = figure.spread;
    all.push_back(one);
  }
  return all;
}

namespace {

/// Nothing is faster than the machine: then the measured peak is too low.
bool is_above_peak(const Efficiency& one) {
  return one.share_of_peak() > 1;
}

}  // namespace

void print_efficiency(const commands::Invocation& invocation, const std::vector<Efficiency>& all) {
  using Align = terminal::Table::Align;
  terminal::Table table({{"workload"},
                         {"configuration"},
                         {"GFLOP", Align::right, 2},
                         {"GFLOP/s", Align::right},
                         {"peak GFLOP/s", Align::right, 3},
                         {"of the peak", Align::right},
                         {"spread", Align::right, 1}});
  for (const auto& one : all) {
    table.add({one.benchmark.workload, report::configuration_text(one.benchmark),
               figures::number(one.flops_per_iteration / 1e9),
               figures::number(one.flops_per_second / 1e9),
               figures::number(one.peak_flops_per_second / 1e9),
               figures::share(one.share_of_peak()), figures::spread(one.spread)});
  }
  commands::print_table(invocation, table);
  const auto above = std::ranges::count_if(all, is_above_peak);
  if (above == 0) return;
  invocation.out
      << '\n'
      << terminal::wrapped(
             fmt::format("Warning: {} reached more than the measured peak. The peak was measured "
                         "while something else ran, or at a lower clock; measure again.",
                         figures::count(static_cast<std::size_t>(above), "benchmark")),
             invocation.screen.columns);
}

nlohmann::json efficiency_json(const std::vector<Efficiency>& all) {
  auto array = nlohmann::json::array();
  for (const auto& one : all) {
    auto object = report::json_of(one.benchmark);
    object.update({{"flops_per_iteration", one.flops_per_iteration},
                   {"flops_per_second", one.flops_per_second},
                   {"peak_flops_per_second", one.peak_flops_per_second},
                   {"share_of_peak", one.share_of_peak()},
                   {"is_above_peak", is_above_peak(one)},
                   {"spread", one.spread}});
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace torchwatch::measuring
