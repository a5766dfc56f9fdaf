#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch {

// The words of the field, spelled the same in code, SQL, JSON and pages. Each enumeration has
// to_string (its one spelling) and parse_* (the inverse; an error lists what is allowed).

enum class Device { cpu, cuda };
enum class Mode { train, infer };
enum class Preset { paper, small };
enum class Precision { fp32, tf32, fp16, bf16, amp };
enum class Backend { eager, torchscript, aot_inductor };

/// What one process measures. The kinds are never mixed in one process.
enum class Pass { timing, memory, profile, coverage, flops, peak };

enum class Metric {
  time,               ///< wall clock, ns per iteration
  device_time,        ///< by device events, ns per iteration
  cpu_peak,           ///< peak bytes of LibTorch's CPU allocator
  device_peak,        ///< peak bytes of the device's caching allocator
  cpu_peak_resident,  ///< peak resident bytes over the baseline, by the kernel
  device_peak_total,  ///< the device's own use, bytes
  leak_growth,        ///< bytes of LibTorch's allocators kept per iteration
  leak_retained,      ///< bytes left after the model is destroyed
  heap_growth,        ///< bytes of the heap beside LibTorch's allocator kept per iteration
  output_difference,  ///< how far outputs are from those of the baseline, in 1e-9 of their size
  first_iteration,    ///< wall clock of a fresh process's first iteration, ns; not judged
  throughput,         ///< items of the batch in 1,000 s, by the run's time; not judged
  compile_time,       ///< what a backend takes to compile the workload, ns; not judged
  compile_peak,       ///< most bytes that it takes while it does; not judged
  package_size,       ///< bytes of the file that a backend compiled; not judged
};

enum class Verdict { unchanged, regressed, improved, inconclusive, unsupported, failed };

/// How a run ended, as the runner states it.
enum class RunStatus { ok, unsupported, failed };

enum class IncidentKind { regression, leak, result, lost };

std::string_view to_string(Device);
std::string_view to_string(Mode);
std::string_view to_string(Preset);
std::string_view to_string(Precision);
std::string_view to_string(Backend);
std::string_view to_string(Pass);
std::string_view to_string(Metric);
std::string_view to_string(Verdict);
std::string_view to_string(RunStatus);
std::string_view to_string(IncidentKind);

Result<Device> parse_device(std::string_view);
Result<Mode> parse_mode(std::string_view);
Result<Preset> parse_preset(std::string_view);
Result<Precision> parse_precision(std::string_view);
Result<Backend> parse_backend(std::string_view);
Result<Pass> parse_pass(std::string_view);
Result<Metric> parse_metric(std::string_view);
/// Reads a metric that somebody asks a verdict, a search or a setting of. Errors: invalid, also for
/// one that is not judged.
Result<Metric> parse_judged_metric(std::string_view);
Result<RunStatus> parse_run_status(std::string_view);

/// Device x mode, written "cpu-train".
struct Configuration {
  Device device = Device::cpu;
  Mode mode = Mode::train;
  auto operator<=>(const Configuration&) const = default;
};
std::string to_string(Configuration);
Result<Configuration> parse_configuration(std::string_view);

/// What may vary of a workload beside its configuration. Written "default" or, for what differs
/// from the default, "bf16,batch=8,threads=2". With an operator it is that operator's self time in
/// the workload that is measured, and nothing else: "operator=aten::gelu".
struct Variant {
  Precision precision = Precision::fp32;
  Backend backend = Backend::eager;
  int batch = 0;                   ///< 0: the preset's default
  int threads = 0;                 ///< 0: the machine's default (see [measure] threads)
  std::string operator_name = {};  ///< "aten::gelu"; empty: the whole workload
  auto operator<=>(const Variant&) const = default;
};
std::string to_string(const Variant&);
Result<Variant> parse_variant(std::string_view);

/// One workload in one configuration and variant: what a process is started for.
struct Benchmark {
  std::string workload;
  Configuration configuration;
  Variant variant;
  auto operator<=>(const Benchmark&) const = default;
};
std::string to_string(
    const Benchmark&);  ///< "resnet18 cpu-train", with the variant where not default
/// Whether an operator in the workload is measured, and not the workload.
bool is_of_operator(const Benchmark&);
/// The whole workload that the operator is measured in; the same benchmark where it has no
/// operator.
Benchmark whole_of(Benchmark);

/// A benchmark and one metric of it: what gets a verdict. With a machine class it is a series.
struct Series {
  Benchmark benchmark;
  Metric metric = Metric::time;
  auto operator<=>(const Series&) const = default;
};
std::string to_string(const Series&);

/// Whether the metric gets verdicts. One that does not is stored and shown beside one that does, is
/// no series, and may be missing.
bool is_judged(Metric);
/// The judged metric beside which it is shown; itself where it is judged.
Metric shown_with(Metric);
/// The metrics that are shown beside a judged one.
std::vector<Metric> metrics_beside(Metric);
/// The metrics that runs on that device state and that are judged, of a whole workload.
const std::vector<Metric>& judged_metrics_of(Device);
/// The pass whose result carries the metric.
Pass pass_of(Metric);
/// Whether the metric is of memory that is not given back: it has a size and no ratio.
bool is_leak(Metric);
/// Whether it is a growth per iteration.
bool is_growth(Metric);
/// Whether a change of it is a ratio. Leaks and differences of outputs have a size alone, as equal
/// code has none.
bool has_ratio(Metric);
/// "ns", "bytes", "bytes/iteration", "items/1000 s", "1e-9".
std::string_view unit_of(Metric);

}  // namespace torchwatch
