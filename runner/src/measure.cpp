#include "torchwatch/runner/measure.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "torchwatch/activity/trace.hpp"
#include "torchwatch/models/memory_estimate.hpp"
#include "torchwatch/records/statistics.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "torchwatch/runner/calibration.hpp"
#include "torchwatch/runner/environment.hpp"
#include "torchwatch/runner/interleave.hpp"
#include "torchwatch/runner/memory_pass.hpp"
#include "torchwatch/runner/memory_refusal.hpp"
#include "torchwatch/runner/operator_pass.hpp"
#include "torchwatch/runner/output_figures.hpp"
#include "torchwatch/runner/process_isolation.hpp"
#include "torchwatch/runner/profile_pass.hpp"
#include "torchwatch/runner/timing_pass.hpp"
#include "torchwatch/torch/libtorch.hpp"
#include "torchwatch/torch/model_words.hpp"

namespace torchwatch::runner {
namespace {

using protocol::Request;
using protocol::RunResult;

void end_as(RunResult& result, RunStatus status, std::string reason) {
  result.status = status;
  result.reason = std::move(reason);
}

std::unique_ptr<models::Workload> ready(const models::Definition& definition,
                                        const Request& request) {
  auto workload = models::build(definition, setup_of(request));
  workload->compile();
  return workload;
}

void run_timing(const models::Definition& definition, const Request& request, Interleave interleave,
                RunResult& result) {
  result.environment.volatile_facts.merge(calibration_times());
  const auto setup = setup_of(request);
  const auto workload = models::build(definition, setup);
  const auto compile_ns = time_compilation(*workload);
  if (setup.backend != models::Backend::eager) result.values[Metric::compile_time] = compile_ns;
  auto timings = time_iterations(*workload, setup.device, request, std::move(interleave));
  const auto time = median(timings.samples_ns);
  result.values[Metric::time] = time;
  result.values[Metric::first_iteration] = timings.first_iteration_ns;
  result.values[Metric::throughput] = throughput_of(models::batch_of(definition, setup), time);
  if (!timings.device_samples_ns.empty()) {
    result.values[Metric::device_time] = median(timings.device_samples_ns);
  }
  result.samples_ns = std::move(timings.samples_ns);
  result.device_samples_ns = std::move(timings.device_samples_ns);
  result.iterations_per_sample = timings.iterations_per_sample;
  if (!request.interleave) return;
  result.environment.volatile_facts["handovers"] = timings.handovers;
  result.environment.volatile_facts["handovers_not_idle"] = timings.handovers_not_idle;
}

void run_operator_timing(const models::Definition& definition, const Request& request,
                         Interleave interleave, RunResult& result) {
  result.environment.volatile_facts.merge(calibration_times());
  watch_operators(*ready(definition, request), request, std::move(interleave), result);
}

void run_memory(const models::Definition& definition, const Request& request, RunResult& result) {
  const auto setup = setup_of(request);
  const auto build = [&] { return models::build(definition, setup); };
  watch_memory(build, setup.device, request, result);
  if (request.outputs && has_comparable_outputs(request.benchmark)) {
    add_outputs([&] { return outputs_of(definition, setup); }, result);
  }
}

/// Without a recorder a CPU's operators can be watched and traced, where that is asked for.
void run_profile(const models::Definition& definition, const Request& request,
                 const Recorder& recorder, Interleave interleave, RunResult& result) {
  const auto setup = setup_of(request);
  if (!recorder) {
    result.breakdown_reason = recorder.error().text();
    if (request.operators) {
      watch_operators(*ready(definition, request), request, std::move(interleave), result);
    }
    if (setup.device != models::Device::cpu || request.chrome_trace.empty()) return;
    trace_operators(*ready(definition, request), request, result);
    return;
  }
  profile_iterations(*ready(definition, request), setup.device, request, **recorder, result);
}

/// Runs one iteration, forward and backward.
void run_coverage(const models::Definition& definition, const Request& request, RunResult& result) {
  const auto workload = ready(definition, request);
  result.operators = operators_called([&] { workload->step(); });
  for (const auto& [space, count] : operators_registered()) {
    result.environment.volatile_facts["operators_registered." + space] = count;
  }
  synchronise(setup_of(request).device);
}

/// Counts an iteration after the first, which may do more: an optimiser makes its state.
void run_flops(const models::Definition& definition, const Request& request, RunResult& result) {
  const auto workload = ready(definition, request);
  workload->step();
  result.flops_per_iteration = count_flops([&] { workload->step(); });
}

void run_peak(const Request& request, RunResult& result) {
  const auto setup = setup_of(request);
  const auto peak = measure_gemm_peak(setup.device, setup.precision);
  result.flops_per_second = std::llround(peak.flops_per_second);
  result.environment.volatile_facts["peak_product_rows"] = peak.size;
}

void run_pass(const models::Definition& definition, const Request& request,
              const Recorder& recorder, Interleave interleave, RunResult& result) {
  const int threads = request.benchmark.variant.threads;
  set_threads(threads > 0 ? threads : 1);
  if (request.benchmark.variant.precision == Precision::tf32) allow_tf32();
  if (request.flush_denormals && !flush_denormals()) {
    end_as(result, RunStatus::unsupported, "this processor cannot count denormals as zero");
    return;
  }
  initialize(setup_of(request).device);
  const auto before = read_kernel_counters();
  if (request.pass == Pass::timing) {
    const auto run = is_of_operator(request.benchmark) ? run_operator_timing : run_timing;
    run(definition, request, std::move(interleave), result);
  }
  if (request.pass == Pass::memory) run_memory(definition, request, result);
  if (request.pass == Pass::profile) {
    run_profile(definition, request, recorder, std::move(interleave), result);
  }
  if (request.pass == Pass::coverage) run_coverage(definition, request, result);
  if (request.pass == Pass::flops) run_flops(definition, request, result);
  if (request.pass == Pass::peak) run_peak(request, result);
  result.environment.volatile_facts.merge(volatile_facts(before, read_kernel_counters()));
}

/// An exception of the workload becomes the result; figures that it left behind are discarded.
void run_guarded(const models::Definition& definition, const Request& request,
                 const Recorder& recorder, Interleave interleave, RunResult& result) {
  std::string reason;
  auto status = RunStatus::failed;
  try {
    run_pass(definition, request, recorder, std::move(interleave), result);
    return;
  } catch (const models::UnsupportedSetup& error) {
    status = RunStatus::unsupported;
    reason = error.what();
  } catch (const std::exception& error) {
    reason = models::is_out_of_memory(error) ? memory_exhaustion(definition, request)
                                             : "the workload threw: " + reason_of(error);
  }
  result = RunResult();
  result.attempt = request.attempt;
  end_as(result, status, std::move(reason));
}

Result<Interleave> interleave_of(const Request& request) {
  return request.interleave ? Interleave::open(*request.interleave) : Interleave();
}

void measure_into(const Request& request, RunResult& result) {
  const auto* entry = models::find(request.benchmark.workload);
  if (entry == nullptr) {
    end_as(result, RunStatus::failed, unknown_workload(request.benchmark.workload));
    return;
  }
  // Recording must begin before the first call of LibTorch, which may initialise the device.
  const auto recorder = begin_recording(request);
  if (auto reason = unsupported_reason(entry->definition, request); !reason.empty()) {
    end_as(result, RunStatus::unsupported, std::move(reason));
    return;
  }
  auto interleave = interleave_of(request);
  if (!interleave) {
    end_as(result, RunStatus::failed, interleave.error().text());
    return;
  }
  interleave->acquire();
  if (auto reason = memory_refusal(*entry, request); !reason.empty()) {
    // A workload that does not fit next to its partner may fit without one.
    end_as(result, request.interleave ? RunStatus::failed : RunStatus::unsupported,
           std::move(reason));
    return;
  }
  auto isolation_facts = isolate_process(request);
  run_guarded(entry->definition, request, recorder, std::move(*interleave), result);
  const bool on_gpu = request.benchmark.configuration.device == Device::cuda;
  result.environment.facts = environment_facts(on_gpu);
  result.environment.facts.merge(isolation_facts);
  result.environment.facts.merge(recorder_facts(recorder));
}

/// Why LibTorch finds no device: what the driver says or, where it has one, the build.
const std::string& no_device_reason() {
  static const std::string reason = [] {
    const auto found = activity::find_cuda_device(activity::Libraries().cuda);
    return "this LibTorch finds no CUDA device here: " +
           (found ? "it is a build for CPUs, or libraries of CUDA are missing"
                  : found.error().text());
  }();
  return reason;
}

}  // namespace

std::string unknown_workload(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& entry : models::registry()) known.emplace_back(entry.name);
  return "no workload \"" + name + "\" in this runner; " + did_you_mean(name, known) +
         "torchwatch-runner list shows all " + std::to_string(known.size());
}

std::string reason_of(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, std::min(text.find("\nException raised from"), text.find("\nframe #0:")));
}

models::Setup setup_of(const Request& request) {
  const auto& [device, mode] = request.benchmark.configuration;
  return {.mode = mode == Mode::train ? models::Mode::train : models::Mode::infer,
          .preset = request.preset == Preset::paper ? models::Preset::paper : models::Preset::small,
          .batch = request.benchmark.variant.batch,
          .device = device == Device::cuda ? models::Device::cuda : models::Device::cpu,
          .precision = precision_of(request.benchmark.variant.precision),
          .backend = backend_of(request.benchmark.variant.backend),
          .package = request.package,
          .fill = models::Fill::random,
          .seed = request.seed,
          .zero_gradients = request.zero_gradients};
}

std::string unsupported_reason(const models::Definition& definition, const Request& request) {
  const bool is_package = request.benchmark.variant.backend == Backend::aot_inductor;
  const bool on_gpu = request.benchmark.configuration.device == Device::cuda;
  if (is_package && request.package.empty()) {
    return "backend aot_inductor runs a package, and the request names none";
  }
  if (on_gpu && !cuda_is_available()) return no_device_reason();
  if (request.zero_gradients && request.benchmark.configuration.mode == Mode::infer) {
    return "inference clears no gradients";
  }
  if (is_of_operator(request.benchmark) && (on_gpu || is_package)) {
    return "operators are timed on a CPU alone, and not within a package of aot_inductor";
  }
  return models::unsupported_reason(definition, setup_of(request));
}

RunResult measure(const Request& request) {
  RunResult result;
  result.attempt = request.attempt;
  measure_into(request, result);
  return result;
}

}  // namespace torchwatch::runner
