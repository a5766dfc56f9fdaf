#include "efficiency.hpp"

#include <fmt/format.h>

#include <map>
#include <ostream>

#include "runner_call.hpp"
#include "table.hpp"
#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kTimeMax{10};
constexpr double kNanosecondsPerSecond = 1e9;

/// Asks a runner about requests.
class Questions {
 public:
  Questions(daemon::Application& application, Runner runner, comparison::Plan plan, fs::path folder,
            std::stop_token stop)
      : application_(application),
        runner_(std::move(runner)),
        plan_(std::move(plan)),
        file_(std::move(folder) / "efficiency-request.json"),
        stop_(std::move(stop)) {}

  Result<double> flops_per_iteration(const Benchmark& benchmark) {
    return ask("flops", benchmark, "flops_per_iteration");
  }

  /// Asked once for benchmarks that are alike in what it depends on.
  Result<double> peak(const Benchmark& benchmark) {
    const auto key = std::tuple(benchmark.configuration.device, benchmark.variant.precision,
                                benchmark.variant.threads);
    if (const auto known = peaks_.find(key); known != peaks_.end()) return known->second;
    TW_TRY(const double peak, ask("peak", benchmark, "flops_per_second"));
    peaks_[key] = peak;
    return peak;
  }

 private:
  Result<double> ask(const std::string& command, const Benchmark& benchmark, const char* figure) {
    auto request = comparison::request_for(plan_, benchmark, Pass::timing);
    request.attempt = "efficiency";
    TW_TRY_VOID(platform::publish_file(file_, protocol::to_json(request)));
    TW_TRY(const auto answer,
           ask_runner(application_, runner_, {command, file_.string()}, kTimeMax, stop_));
    if (answer.contains(figure) && answer[figure].is_number()) return answer[figure].get<double>();
    return fail(ErrorCode::corrupt,
                "runner " + command + " answered without " + figure + ": " + answer.dump());
  }

  daemon::Application& application_;
  Runner runner_;
  comparison::Plan plan_;
  fs::path file_;
  std::stop_token stop_;
  std::map<std::tuple<Device, Precision, int>, double> peaks_;
};

}  // namespace

Result<std::vector<Efficiency>> efficiency_of(
    daemon::Application& application, const storage::BuildRow& build,
    const std::vector<comparison::MeasuredFigure>& figures, std::stop_token stop) {
  TW_TRY(auto plan, comparison::plan_of_config(application.services()));
  TW_TRY(auto runner, prepare_runner(application, build, stop));
  TW_TRY(const auto scratch,
         platform::PartialFolder::create(application.config().executor.scratch / "efficiency"));
  Questions questions(application, std::move(runner), std::move(plan), scratch.path(), stop);
  application.services().progress.phase_started("counting the operations of each workload");
  std::vector<Efficiency> all;
  for (const auto& figure : figures) {
    if (figure.series.metric != Metric::time || figure.status != RunStatus::ok) continue;
    Efficiency one;
    one.benchmark = figure.series.benchmark;
    TW_TRY(one.flops_per_iteration, questions.flops_per_iteration(one.benchmark));
    TW_TRY(one.peak_flops_per_second, questions.peak(one.benchmark));
    one.flops_per_second = one.flops_per_iteration / (figure.value / kNanosecondsPerSecond);
    one.spread = figure.spread;
    all.push_back(one);
  }
  return all;
}

void print_efficiency(std::ostream& out, const std::vector<Efficiency>& all) {
  using Align = Table::Align;
  Table table({{"workload"},
               {"configuration"},
               {"GFLOP", Align::right},
               {"GFLOP/s", Align::right},
               {"peak GFLOP/s", Align::right},
               {"of the peak", Align::right},
               {"spread", Align::right}});
  for (const auto& one : all) {
    table.add({one.benchmark.workload, report::configuration_text(one.benchmark),
               fmt::format("{:.3f}", one.flops_per_iteration / 1e9),
               fmt::format("{:.1f}", one.flops_per_second / 1e9),
               fmt::format("{:.1f}", one.peak_flops_per_second / 1e9),
               figures::share(one.share_of_peak()), figures::spread(one.spread)});
  }
  table.print(out);
}

nlohmann::json efficiency_json(const std::vector<Efficiency>& all) {
  auto array = nlohmann::json::array();
  for (const auto& one : all) {
    array.push_back({{"workload", one.benchmark.workload},
                     {"configuration", to_string(one.benchmark.configuration)},
                     {"variant", to_string(one.benchmark.variant)},
                     {"flops_per_iteration", one.flops_per_iteration},
                     {"flops_per_second", one.flops_per_second},
                     {"peak_flops_per_second", one.peak_flops_per_second},
                     {"share_of_peak", one.share_of_peak()},
                     {"spread", one.spread}});
  }
  return array;
}

}  // namespace torchwatch::cli
