#include "efficiency.hpp"

#include <map>
#include <ostream>

#include "figures.hpp"
#include "runner_call.hpp"
#include "table.hpp"
#include "torchwatch/doors/publish.hpp"
#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/plan.hpp"

namespace torchwatch::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kTimeMax{10};
constexpr double kNanosecondsPerSecond = 1e9;

/// Asks a runner about requests.
class Questions {
 public:
  Questions(daemon::Session& session, Runner runner, nightly::Plan plan, fs::path folder,
            std::stop_token stop)
      : session_(session),
        runner_(std::move(runner)),
        plan_(std::move(plan)),
        file_(std::move(folder) / "efficiency-request.json"),
        stop_(std::move(stop)) {}

  Result<double> flops_per_iteration(const Cell& cell) {
    return ask("flops", cell, "flops_per_iteration");
  }

  /// Asked once for cells that are alike in what it depends on.
  Result<double> peak(const Cell& cell) {
    const auto key =
        std::tuple(cell.configuration.device, cell.variant.precision, cell.variant.threads);
    if (const auto known = peaks_.find(key); known != peaks_.end()) return known->second;
    TW_TRY(const double peak, ask("peak", cell, "flops_per_second"));
    peaks_[key] = peak;
    return peak;
  }

 private:
  Result<double> ask(const std::string& command, const Cell& cell, const char* figure) {
    auto request = nightly::request_for(plan_, cell, Pass::timing);
    request.attempt = "efficiency";
    TW_TRY_VOID(doors::publish_file(file_, protocol::to_json(request)));
    TW_TRY(const auto answer,
           ask_runner(session_, runner_, {command, file_.string()}, kTimeMax, stop_));
    if (answer.contains(figure) && answer[figure].is_number()) return answer[figure].get<double>();
    return fail(ErrorCode::corrupt,
                "runner " + command + " said no " + figure + ": " + answer.dump());
  }

  daemon::Session& session_;
  Runner runner_;
  nightly::Plan plan_;
  fs::path file_;
  std::stop_token stop_;
  std::map<std::tuple<Device, Precision, int>, double> peaks_;
};

}  // namespace

Result<std::vector<Efficiency>> efficiency_of(daemon::Session& session,
                                              const storage::BuildRow& build,
                                              const std::vector<nightly::SoloFigure>& figures,
                                              std::stop_token stop) {
  TW_TRY(auto plan, nightly::plan_of_config(session.workshop()));
  TW_TRY(auto runner, prepare_runner(session, build, stop));
  TW_TRY(const auto scratch,
         doors::PartialFolder::create(session.config().executor.scratch / "efficiency"));
  Questions questions(session, std::move(runner), std::move(plan), scratch.path(), stop);
  session.workshop().progress.began("counting the operations of each workload");
  std::vector<Efficiency> all;
  for (const auto& figure : figures) {
    if (figure.target.metric != Metric::time || figure.status != RunStatus::ok) continue;
    Efficiency one;
    one.cell = figure.target.cell;
    TW_TRY(one.flops_per_iteration, questions.flops_per_iteration(one.cell));
    TW_TRY(one.peak_flops_per_second, questions.peak(one.cell));
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
    table.add({one.cell.workload, configuration_text(one.cell),
               decimal("%.3f", one.flops_per_iteration / 1e9),
               decimal("%.1f", one.flops_per_second / 1e9),
               decimal("%.1f", one.peak_flops_per_second / 1e9),
               decimal("%.1f %%", 100 * one.share_of_peak()),
               decimal("%.1f %%", 100 * one.spread)});
  }
  table.print(out);
}

nlohmann::json efficiency_json(const std::vector<Efficiency>& all) {
  auto array = nlohmann::json::array();
  for (const auto& one : all) {
    array.push_back({{"workload", one.cell.workload},
                     {"configuration", to_string(one.cell.configuration)},
                     {"variant", to_string(one.cell.variant)},
                     {"flops_per_iteration", one.flops_per_iteration},
                     {"flops_per_second", one.flops_per_second},
                     {"peak_flops_per_second", one.peak_flops_per_second},
                     {"share_of_peak", one.share_of_peak()},
                     {"spread", one.spread}});
  }
  return array;
}

}  // namespace torchwatch::cli
