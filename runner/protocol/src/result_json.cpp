#include "json_object.hpp"
#include "torchwatch/protocol/result.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::protocol {
namespace {

using nlohmann::json;

constexpr std::size_t kSamplesMax = 1'000'000;
constexpr std::size_t kReasonBytesMax = 64U << 10U;
constexpr std::int64_t kNanosecondsMax = 86'400'000'000'000;  // a day
constexpr std::int64_t kBytesMax = std::int64_t{1} << 50;
constexpr std::int64_t kItemsMax = std::int64_t{1} << 60;
constexpr std::size_t kOutputsMax = 1024;
constexpr std::size_t kOutputNameBytesMax = 400;
constexpr std::size_t kFiguresMax = 64;
constexpr std::size_t kOperatorsMax = 2'000;
constexpr std::size_t kOperatorNameBytesMax = 400;
constexpr Range kFlops{0, std::int64_t{1} << 62};
constexpr Range kDuration{1, kNanosecondsMax};
constexpr Range kDifference{0, kOutputDifferenceMax};

/// Retention can be negative: a one-off buffer of the constructor may be gone at the end.
Range range_of(Metric metric) {
  if (metric == Metric::throughput) return {1, kItemsMax};
  if (metric == Metric::output_difference) return kDifference;
  if (pass_of(metric) == Pass::timing) return kDuration;
  return {metric == Metric::leak_retained ? -kBytesMax : 0, kBytesMax};
}

json or_null(std::optional<std::int64_t> number) {
  return number ? json(*number) : json();
}

json leak_json(const LeakFigures& leak) {
  return {{"growth_bytes_per_iteration", leak.growth_bytes_per_iteration},
          {"retained_bytes", leak.retained_bytes},
          {"live_bytes", leak.live_bytes},
          {"heap_bytes", leak.heap_bytes}};
}

/// JSON has no word for what is not finite, and writes null.
json output_json(const OutputFigures& output) {
  return {{"name", output.name}, {"scale", output.scale}, {"figures", output.figures}};
}

json outputs_json(const std::vector<OutputFigures>& outputs) {
  json list = json::array();
  for (const auto& output : outputs) list.push_back(output_json(output));
  return list;
}

json operators_json(const std::map<std::string, OperatorFigures>& operators) {
  json list = json::array();
  for (const auto& [name, figures] : operators) {
    list.push_back({{"name", name},
                    {"calls", figures.calls},
                    {"self_ns", figures.self_ns},
                    {"allocated_bytes", figures.allocated_bytes},
                    {"kept_bytes", figures.kept_bytes}});
  }
  return list;
}

json breakdown_json(const Breakdown& breakdown) {
  return {{"active_ns", breakdown.active_ns},
          {"copy_ns", breakdown.copy_ns},
          {"idle_ns", breakdown.idle_ns}};
}

Status read_values(ObjectReader& in, RunResult& result) {
  TW_TRY(auto values, in.integer_map("values", {-kBytesMax, kItemsMax}));
  for (const auto& [name, value] : values) {
    const auto metric = parse_metric(name);
    if (!metric) return fail(metric.error().within("values"));
    const Range range = range_of(*metric);
    if (value < range.least || value > range.most) {
      return in.wrong("values." + name, "is out of range: " + std::to_string(value));
    }
    result.values[*metric] = value;
  }
  return {};
}

Status read_leak(ObjectReader& in, RunResult& result) {
  TW_TRY(auto members, in.object("leak"));
  if (!members) return {};
  auto& leak = result.leak.emplace();
  TW_TRY(leak.growth_bytes_per_iteration,
         members->integer("growth_bytes_per_iteration", range_of(Metric::leak_growth)));
  TW_TRY(leak.retained_bytes, members->integer("retained_bytes", range_of(Metric::leak_retained)));
  TW_TRY(leak.live_bytes,
         members->integers("live_bytes", range_of(Metric::leak_retained), kSamplesMax));
  TW_TRY(leak.heap_bytes,
         members->integers("heap_bytes", range_of(Metric::leak_retained), kSamplesMax));
  return {};
}

Status read_outputs(ObjectReader& in, RunResult& result) {
  TW_TRY(auto outputs, in.objects("outputs", kOutputsMax));
  for (auto& each : outputs) {
    OutputFigures output;
    TW_TRY(output.name, each.text("name", kOutputNameBytesMax));
    TW_TRY(output.figures, each.figures("figures", kFiguresMax));
    TW_TRY(output.scale, each.figure("scale"));
    result.outputs.push_back(std::move(output));
  }
  return {};
}

Status read_operator_figures(ObjectReader& in, RunResult& result) {
  TW_TRY(auto operators, in.objects("operator_figures", kOperatorsMax));
  for (auto& each : operators) {
    OperatorFigures figures;
    TW_TRY(const auto name, each.text("name", kOperatorNameBytesMax));
    if (name.empty()) return in.wrong("operator_figures", "has an operator without a name");
    TW_TRY(figures.calls, each.integer("calls", {0, kBytesMax}));
    TW_TRY(figures.self_ns, each.integer("self_ns", {0, kNanosecondsMax}));
    TW_TRY(figures.allocated_bytes, each.integer("allocated_bytes", {0, kBytesMax}));
    TW_TRY(figures.kept_bytes, each.integer("kept_bytes", {-kBytesMax, kBytesMax}));
    if (!result.operator_figures.emplace(name, figures).second) {
      return in.wrong("operator_figures", "names " + name + " twice");
    }
  }
  return {};
}

Status read_breakdown(ObjectReader& in, RunResult& result) {
  TW_TRY(result.breakdown_reason, in.text("breakdown_reason", kReasonBytesMax, ""));
  TW_TRY(auto members, in.object("breakdown"));
  if (!members) return {};
  auto& breakdown = result.breakdown.emplace();
  const Range share{0, kNanosecondsMax};
  TW_TRY(breakdown.active_ns, members->integer("active_ns", share));
  TW_TRY(breakdown.copy_ns, members->integer("copy_ns", share));
  TW_TRY(breakdown.idle_ns, members->integer("idle_ns", share));
  return {};
}

Status read_environment(ObjectReader& in, Environment& environment) {
  TW_TRY(auto members, in.object("environment"));
  if (!members) return {};
  TW_TRY(environment.facts, members->text_map("facts"));
  TW_TRY(environment.volatile_facts,
         members->integer_map("volatile_facts", {-kBytesMax, kBytesMax}));
  return {};
}

Status check_median(ObjectReader& in, const RunResult& result, Metric metric,
                    const std::vector<std::int64_t>& samples) {
  const auto value = result.values.find(metric);
  const bool has_value = value != result.values.end();
  const std::string name = "values." + std::string(to_string(metric));
  if (has_value != !samples.empty())
    return in.wrong(name, "must be there exactly with its samples");
  if (has_value && value->second != median(samples)) {
    return in.wrong(name, "must be the median of its samples, " + std::to_string(median(samples)));
  }
  return {};
}

Status check_whole(ObjectReader& in, const RunResult& result) {
  if (result.status != RunStatus::ok) {
    if (result.reason.empty()) return in.wrong("reason", "must say why the run is not ok");
    return {};
  }
  const bool holds_something = !result.values.empty() || !result.outputs.empty() ||
                               !result.reason.empty() || result.breakdown ||
                               !result.breakdown_reason.empty() || !result.operators.empty() ||
                               result.flops_per_iteration || result.flops_per_second;
  if (!holds_something) return in.wrong("values", "must hold something in a result that is ok");
  TW_TRY_VOID(check_median(in, result, Metric::time, result.samples_ns));
  return check_median(in, result, Metric::device_time, result.device_samples_ns);
}

Status read_samples(ObjectReader& in, RunResult& result) {
  TW_TRY(result.samples_ns, in.integers("samples_ns", kDuration, kSamplesMax));
  TW_TRY(result.device_samples_ns, in.integers("device_samples_ns", kDuration, kSamplesMax));
  TW_TRY(result.iterations_per_sample,
         in.integer("iterations_per_sample", {1, std::int64_t{1} << 32}, 1));
  return {};
}

Status read_flops(ObjectReader& in, RunResult& result) {
  TW_TRY(result.flops_per_iteration, in.integer_if_there("flops_per_iteration", kFlops));
  TW_TRY(result.flops_per_second, in.integer_if_there("flops_per_second", kFlops));
  return {};
}

}  // namespace

std::string to_json(const RunResult& result) {
  json values = json::object();
  for (const auto& [metric, value] : result.values) values[std::string(to_string(metric))] = value;
  return dump({{"schema", kSchema},
               {"attempt", result.attempt},
               {"status", to_string(result.status)},
               {"reason", result.reason},
               {"samples_ns", result.samples_ns},
               {"device_samples_ns", result.device_samples_ns},
               {"iterations_per_sample", result.iterations_per_sample},
               {"values", values},
               {"leak", result.leak ? leak_json(*result.leak) : json()},
               {"outputs", outputs_json(result.outputs)},
               {"breakdown", result.breakdown ? breakdown_json(*result.breakdown) : json()},
               {"breakdown_reason", result.breakdown_reason},
               {"operators", result.operators},
               {"operator_figures", operators_json(result.operator_figures)},
               {"flops_per_iteration", or_null(result.flops_per_iteration)},
               {"flops_per_second", or_null(result.flops_per_second)},
               {"environment",
                {{"facts", result.environment.facts},
                 {"volatile_facts", result.environment.volatile_facts}}}});
}

Result<RunResult> parse_result(std::string_view json_text, std::string_view expected_attempt) {
  TW_TRY(const json root, parse_object(json_text, kResultBytesMax));
  ObjectReader in(root, "");
  RunResult result;
  TW_TRY(const auto schema, in.integer("schema", {kSchema, kSchema}));
  static_cast<void>(schema);
  TW_TRY(result.attempt, in.text("attempt", 200));
  if (result.attempt != expected_attempt) {
    return fail(ErrorCode::conflict, "result of another attempt: \"" + result.attempt +
                                         "\" instead of \"" + std::string(expected_attempt) + "\"");
  }
  TW_TRY(result.status, in.word("status", parse_run_status));
  TW_TRY(result.reason, in.text("reason", kReasonBytesMax, ""));
  TW_TRY_VOID(read_samples(in, result));
  TW_TRY_VOID(read_values(in, result));
  TW_TRY_VOID(read_leak(in, result));
  TW_TRY_VOID(read_outputs(in, result));
  TW_TRY_VOID(read_breakdown(in, result));
  TW_TRY(result.operators, in.integer_map("operators", {1, kBytesMax}));
  TW_TRY_VOID(read_operator_figures(in, result));
  TW_TRY_VOID(read_flops(in, result));
  TW_TRY_VOID(read_environment(in, result.environment));
  TW_TRY_VOID(check_whole(in, result));
  return result;
}

}  // namespace torchwatch::protocol
