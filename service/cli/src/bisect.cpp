#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/commands/bisection_output.hpp"
#include "commands.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/daemon/on_demand.hpp"

namespace torchwatch::cli {
namespace {

struct Options {
  bisection::BisectionRequest request;
  std::string configuration;
  std::string device;
  std::string mode;
  std::string variant;
  std::string metric;
};

Result<bisection::BisectionRequest> request_of(const Options& options) {
  auto request = options.request;
  if (!options.configuration.empty()) {
    TW_TRY(const auto configuration, parse_configuration(options.configuration));
    request.device = configuration.device;
    request.mode = configuration.mode;
  }
  if (!options.variant.empty()) {
    TW_TRY(request.variant, parse_variant(options.variant));
  }
  if (!options.device.empty()) {
    TW_TRY(request.device, parse_device(options.device));
  }
  if (!options.mode.empty()) {
    TW_TRY(request.mode, parse_mode(options.mode));
  }
  if (!options.metric.empty()) {
    TW_TRY(request.metric, parse_metric(options.metric));
  }
  return request;
}

/// The body that the API takes: what is not asked for is not in it.
nlohmann::json body_of(const bisection::BisectionRequest& request) {
  auto body = nlohmann::json::parse(to_json(request));
  for (const auto* member : {"good", "bad", "suspect", "workloads"}) {
    const auto& value = body.at(member);
    const bool is_filled = value.is_string() ? value != "" : !value.empty();
    if (!is_filled) body.erase(member);
  }
  return body;
}

Outcome bisect_here(const Invocation& invocation, commands::SessionOfCommand& opened,
                    const bisection::BisectionRequest& request) {
  TW_TRY(const auto row, daemon::bisect_on_demand(*opened.application, request, invocation.stop));
  TW_TRY(const auto result, bisection::parse_bisection_result(row.result_json));
  if (invocation.json) {
    invocation.out << nlohmann::json::parse(row.result_json).dump(2) << '\n';
  } else {
    commands::print(invocation.out, result, opened.services().history);
  }
  return commands::exit_status_of(result);
}

Outcome run_bisect(const Invocation& invocation, const Options& options) {
  TW_TRY(const auto request, request_of(options));
  TW_TRY(auto config, invocation.load_config());
  return commands::carry_out(invocation, std::move(config),
                             {.path = "/api/v1/bisections",
                              .body = body_of(request),
                              .without_daemon = [&](auto& opened) {
                                return bisect_here(invocation, opened, request);
                              }});
}

}  // namespace

void add_bisect(Commands& all) {
  auto options = std::make_shared<Options>();
  auto& command = all.add(
      "bisect", "Find the commit between GOOD and BAD that made a benchmark worse",
      [options](const Invocation& invocation) { return run_bisect(invocation, *options); });
  command.add_option("GOOD", options->request.good,
                     "The last commit known good: a revision of [source] or a nightly's name");
  command.add_option("BAD", options->request.bad, "The first commit known bad, named likewise");
  command.add_option("--suspect", options->request.suspect,
                     "Test this commit against its parent first; the range only if that does not "
                     "reproduce");
  command.add_option("--workload", options->request.workloads,
                     "The workload that got worse; default: the suite is compared between the ends "
                     "first");
  auto* configuration = command.add_option("--configuration", options->configuration,
                                           "cpu-train, cpu-infer, cuda-train or cuda-infer");
  command.add_option("--device", options->device, "cpu (default) or cuda")->excludes(configuration);
  command.add_option("--mode", options->mode, "train or infer; default: both")
      ->excludes(configuration);
  command.add_option("--variant", options->variant,
                     "A precision (fp32, tf32, fp16, bf16, amp), batch=N, threads=N, joined by "
                     "commas; default: fp32, the preset's batch, [measure] threads");
  command.add_option("--metric", options->metric,
                     "time (default), cpu_peak, leak_growth, heap_growth, ...");
  command.footer("torchwatch bisect 2026-08-16 2026-08-17 --workload resnet18 --mode train");
}

}  // namespace torchwatch::cli
