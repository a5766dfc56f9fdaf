#include "torchwatch/comparison/plan.hpp"

#include <algorithm>
#include <filesystem>

#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/config/classes.hpp"
#include "torchwatch/documents/batch_table.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::comparison {

namespace {

std::vector<Configuration> configurations_of(const config::Config& config) {
  if (!config.suite.configurations.empty()) return config.suite.configurations;
  std::vector<Configuration> here{{Device::cpu, Mode::train}, {Device::cpu, Mode::infer}};
  if (std::filesystem::exists("/dev/nvidiactl")) {
    here.push_back({Device::cuda, Mode::train});
    here.push_back({Device::cuda, Mode::infer});
  }
  return here;
}

Status apply_batch_table(const std::filesystem::path& file, Plan& plan) {
  constexpr std::size_t kBytesMax = 1U << 20U;
  if (file.empty()) return {};
  TW_TRY(const auto text, platform::read_file(file, kBytesMax));
  const auto table = parse_batch_table(text, plan.preset);
  if (!table) return fail(table.error().within(file.string()));
  apply(*table, plan.benchmarks);
  return {};
}

}  // namespace

bool measures_cuda(const config::Config& config) {
  return std::ranges::any_of(configurations_of(config),
                             [](const auto& each) { return each.device == Device::cuda; });
}

Plan make_plan(const config::Config& config, const std::vector<std::string>& workloads,
               const std::vector<Configuration>& configurations) {
  Plan plan;
  plan.preset = config.suite.preset;
  plan.threads = config.measure.threads;
  plan.warmup = config.measure.warmup;
  plan.iterations = config.measure.iterations;
  plan.enough_ns = std::chrono::nanoseconds(config.measure.enough).count();
  plan.time_limit_ms = std::chrono::milliseconds(config.measure.time_limit).count();
  plan.memory_limit_bytes = config.measure.memory_limit_bytes;
  plan.interleave = config.measure.interleave;
  plan.outputs = config.measure.outputs;
  for (const auto& external : config.suite.externals) {
    plan.stated[external.name] = external.metrics;
  }
  for (const auto& workload : workloads) {
    for (const auto configuration : configurations) {
      if (!is_measured_in(config, workload, configuration)) continue;
      for (const auto& variant : config.suite.variants) {
        const Benchmark benchmark{workload, configuration, variant};
        const bool states_operators =
            configuration.device == Device::cpu && external_workload(config, workload) == nullptr;
        if (is_of_operator(benchmark) && !states_operators) continue;
        const bool is_named_twice =
            std::ranges::find(plan.benchmarks, benchmark) != plan.benchmarks.end();
        if (!is_named_twice) plan.benchmarks.push_back(benchmark);
      }
    }
  }
  return plan;
}

protocol::Request request_for(const Plan& plan, const Benchmark& benchmark, Pass pass) {
  protocol::Request request;
  request.benchmark = pass == Pass::timing ? benchmark : whole_of(benchmark);
  if (request.benchmark.variant.threads == 0) request.benchmark.variant.threads = plan.threads;
  request.pass = pass;
  request.preset = plan.preset;
  request.warmup = plan.warmup;
  request.iterations = plan.iterations;
  request.enough_ns = plan.enough_ns;
  request.iterations_min = std::min(plan.iterations, request.iterations_min);
  request.limits.time_ms = plan.time_limit_ms;
  request.limits.memory_bytes = plan.memory_limit_bytes;
  const auto metrics = metrics_of(plan, benchmark, pass);
  request.outputs = std::ranges::find(metrics, Metric::output_difference) != metrics.end();
  if (!plan.stated.contains(benchmark.workload)) return request;
  request.metrics = metrics;
  if (std::ranges::none_of(request.metrics, is_leak)) request.leak_iterations = 0;
  return request;
}

bool is_interleaved(const Plan& plan, Pass pass) {
  return plan.interleave && pass == Pass::timing;
}

Result<Plan> plan_of_config(Services& services) {
  return plan_of_config(services, services.config);
}

Result<Plan> plan_of_config(Services& services, const config::Config& config) {
  auto workloads = config.suite.workloads;
  if (workloads.empty()) {
    TW_TRY(workloads, services.runners.workloads());
  }
  const auto configurations = configurations_of(config);
  for (const auto configuration : configurations) {
    TW_TRY_VOID(config::class_of(config, configuration));
  }
  auto plan = make_plan(config, workloads, configurations);
  TW_TRY_VOID(apply_batch_table(config.suite.inference_batches, plan));
  return plan;
}

Status check_workloads(Services& services, const std::vector<std::string>& names) {
  TW_TRY(const auto known, services.runners.workloads());
  for (const auto& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return fail(ErrorCode::invalid, "workload \"" + name + "\" is not in the suite",
                did_you_mean(name, known) + "`torchwatch workload list` has its names");
  }
  return {};
}

Status check_benchmarks(const Plan& plan) {
  if (!plan.benchmarks.empty()) return {};
  return fail(ErrorCode::invalid, "no workload is measured in the configurations that are named",
              "`torchwatch workload list` has those of each workload");
}

Status check_plan(Services& services, const Plan& plan) {
  TW_TRY_VOID(check_benchmarks(plan));
  return check_workloads(services, workloads_of(plan));
}

}  // namespace torchwatch::comparison
