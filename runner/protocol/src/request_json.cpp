#include <algorithm>

#include "json_object.hpp"
#include "torchwatch/protocol/request.hpp"

namespace torchwatch::protocol {
namespace {

constexpr std::int64_t kCountMax = 1'000'000;
constexpr std::int64_t kBatchMax = std::int64_t{1} << 24;  // pyhpc's own are 1 << 20
constexpr int kLeakIterationsMin = 20;
constexpr std::int64_t kNanosecondsMax = 86'400'000'000'000;  // a day
constexpr std::int64_t kMillisecondsMax = 86'400'000;
constexpr double kSlowdownMax = 10;
constexpr std::size_t kPathBytesMax = 4096;
constexpr std::size_t kMetricsMax = 32;
constexpr std::size_t kOperatorBytesMax = 200;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 50;

Status read_benchmark(ObjectReader& in, Benchmark& benchmark) {
  TW_TRY(benchmark.workload, in.text("workload", 200));
  TW_TRY(benchmark.configuration.device, in.word("device", parse_device));
  TW_TRY(benchmark.configuration.mode, in.word("mode", parse_mode));
  TW_TRY(benchmark.variant.precision, in.word("precision", parse_precision, {Precision::fp32}));
  TW_TRY(benchmark.variant.backend, in.word("backend", parse_backend, {Backend::eager}));
  TW_TRY(const auto batch, in.integer("batch", {0, kBatchMax}, 0));
  TW_TRY(const auto threads, in.integer("threads", {0, 4096}, 0));
  benchmark.variant.batch = static_cast<int>(batch);
  benchmark.variant.threads = static_cast<int>(threads);
  return {};
}

Status read_count(ObjectReader& in, std::string_view name, std::int64_t least, int& count) {
  TW_TRY(const auto number, in.integer(name, {least, kCountMax}, count));
  count = static_cast<int>(number);
  return {};
}

Status read_counts(ObjectReader& in, Request& request) {
  TW_TRY_VOID(read_count(in, "warmup", 0, request.warmup));
  TW_TRY_VOID(read_count(in, "iterations", 1, request.iterations));
  request.iterations_min = std::min(request.iterations_min, request.iterations);
  TW_TRY_VOID(read_count(in, "iterations_min", 1, request.iterations_min));
  TW_TRY_VOID(read_count(in, "leak_iterations", 0, request.leak_iterations));
  if (request.iterations_min > request.iterations) {
    return in.wrong("iterations_min", "must not exceed \"iterations\"");
  }
  if (request.leak_iterations > 0 && request.leak_iterations < kLeakIterationsMin) {
    return in.wrong("leak_iterations", "must be 0 (none) or at least 20: two blocks of ten");
  }
  const Range duration{0, kNanosecondsMax};
  TW_TRY(request.enough_ns, in.integer("enough_ns", duration, request.enough_ns));
  TW_TRY(request.batch_below_ns, in.integer("batch_below_ns", duration, request.batch_below_ns));
  return {};
}

Status read_chrome_trace(ObjectReader& in, Request& request) {
  TW_TRY(request.chrome_trace, in.text("chrome_trace", kPathBytesMax, ""));
  if (request.chrome_trace.empty() || request.pass == Pass::profile) return {};
  return in.wrong("chrome_trace", "is for the pass \"profile\" alone");
}

Status read_outputs(ObjectReader& in, Request& request) {
  TW_TRY(request.outputs, in.boolean("outputs", request.outputs));
  if (!request.outputs || request.pass == Pass::memory) return {};
  return in.wrong("outputs", "is for the pass \"memory\" alone");
}

Status read_operators(ObjectReader& in, Request& request) {
  TW_TRY(request.operators, in.boolean("operators", request.operators));
  if (!request.operators) return {};
  if (request.pass != Pass::profile) {
    return in.wrong("operators", "is for the pass \"profile\" alone");
  }
  if (request.benchmark.configuration.device == Device::cpu) return {};
  return in.wrong("operators", "is for the device \"cpu\" alone");
}

/// Reads which operator of the workload is timed.
Status read_operator(ObjectReader& in, Request& request) {
  TW_TRY(const auto name, in.text("operator", kOperatorBytesMax, ""));
  if (name.empty()) return {};
  if (request.pass != Pass::timing) {
    return in.wrong("operator", "is for the pass \"timing\" alone");
  }
  const auto variant = parse_variant("operator=" + name);
  if (!variant) return in.wrong("operator", variant.error().text());
  request.benchmark.variant.operator_name = variant->operator_name;
  return {};
}

Status read_planted_slowdown(ObjectReader& in, Request& request) {
  TW_TRY(request.planted_slowdown, in.number("planted_slowdown", 0, kSlowdownMax, 0));
  if (request.planted_slowdown == 0 || request.pass == Pass::timing) return {};
  return in.wrong("planted_slowdown", "is for the pass \"timing\" alone");
}

Status read_interleave(ObjectReader& in, Request& request) {
  TW_TRY(auto members, in.object("interleave"));
  if (!members) return {};
  Interleave pipes;
  TW_TRY(pipes.own, members->text("own", kPathBytesMax));
  TW_TRY(pipes.other, members->text("other", kPathBytesMax));
  TW_TRY(pipes.begins, members->boolean("begins", pipes.begins));
  TW_TRY(pipes.agrees, members->boolean("agrees", pipes.agrees));
  TW_TRY_VOID(members->refuse_unknown());
  if (request.pass != Pass::timing && !request.operators) {
    return in.wrong("interleave", "is for the pass \"timing\", and for \"operators\", alone");
  }
  request.interleave = std::move(pipes);
  return {};
}

Status read_metrics(ObjectReader& in, Request& request) {
  TW_TRY(const auto words, in.texts("metrics", kMetricsMax));
  for (const auto& word : words) {
    TW_TRY(const auto metric, parse_judged_metric(word));
    if (pass_of(metric) != request.pass) {
      return in.wrong("metrics", "names " + word + ", which another pass states");
    }
    request.metrics.push_back(metric);
  }
  return {};
}

nlohmann::json interleave_json(const std::optional<Interleave>& pipes) {
  if (!pipes) return nullptr;
  nlohmann::json object{{"own", pipes->own}, {"other", pipes->other}, {"begins", pipes->begins}};
  if (pipes->agrees) object["agrees"] = true;  // runners alone know the member
  return object;
}

Status read_limits(ObjectReader& in, RunLimits& limits) {
  TW_TRY(auto members, in.object("limits"));
  if (!members) return {};
  TW_TRY(limits.time_ms, members->integer("time_ms", {1, kMillisecondsMax}, limits.time_ms));
  TW_TRY(limits.memory_bytes,
         members->integer("memory_bytes", {0, kBytesMax}, limits.memory_bytes));
  return members->refuse_unknown();
}

}  // namespace

bool is_timed(const Request& request) {
  return request.pass == Pass::timing || request.pass == Pass::peak || request.operators;
}

std::string to_json(const Request& request) {
  const auto& [workload, configuration, variant] = request.benchmark;
  nlohmann::json object(
      {{"schema", kSchema},
       {"attempt", request.attempt},
       {"workload", workload},
       {"device", to_string(configuration.device)},
       {"mode", to_string(configuration.mode)},
       {"precision", to_string(variant.precision)},
       {"backend", to_string(variant.backend)},
       {"batch", variant.batch},
       {"threads", variant.threads},
       {"pass", to_string(request.pass)},
       {"preset", to_string(request.preset)},
       {"warmup", request.warmup},
       {"iterations", request.iterations},
       {"iterations_min", request.iterations_min},
       {"enough_ns", request.enough_ns},
       {"batch_below_ns", request.batch_below_ns},
       {"leak_iterations", request.leak_iterations},
       {"seed", request.seed},
       {"pin_to_core", request.pin_to_core},
       {"fixed_heap", request.fixed_heap},
       {"chrome_trace", request.chrome_trace},
       {"interleave", interleave_json(request.interleave)},
       {"limits",
        {{"time_ms", request.limits.time_ms}, {"memory_bytes", request.limits.memory_bytes}}}});
  if (request.planted_slowdown > 0) object["planted_slowdown"] = request.planted_slowdown;
  if (!request.package.empty()) object["package"] = request.package;
  for (const auto metric : request.metrics) object["metrics"].push_back(to_string(metric));
  if (request.flush_denormals) object["flush_denormals"] = true;
  if (request.zero_gradients) object["zero_gradients"] = true;
  if (request.outputs) object["outputs"] = true;
  if (request.operators) object["operators"] = true;
  if (!variant.operator_name.empty()) object["operator"] = variant.operator_name;
  return dump(object);
}

Result<Request> parse_request(std::string_view json) {
  TW_TRY(const nlohmann::json root, parse_object(json, kRequestBytesMax));
  ObjectReader in(root, "");
  Request request;
  TW_TRY(const auto schema, in.integer("schema", {kSchema, kSchema}));
  static_cast<void>(schema);
  TW_TRY(request.attempt, in.text("attempt", 200));
  TW_TRY_VOID(read_benchmark(in, request.benchmark));
  TW_TRY(request.pass, in.word("pass", parse_pass, {request.pass}));
  TW_TRY(request.preset, in.word("preset", parse_preset, {request.preset}));
  TW_TRY_VOID(read_counts(in, request));
  TW_TRY(request.seed, in.natural("seed", request.seed));
  TW_TRY(request.pin_to_core, in.boolean("pin_to_core", request.pin_to_core));
  TW_TRY(request.fixed_heap, in.boolean("fixed_heap", request.fixed_heap));
  TW_TRY_VOID(read_planted_slowdown(in, request));
  TW_TRY_VOID(read_chrome_trace(in, request));
  TW_TRY_VOID(read_operators(in, request));
  TW_TRY_VOID(read_operator(in, request));
  TW_TRY_VOID(read_interleave(in, request));
  TW_TRY_VOID(read_limits(in, request.limits));
  TW_TRY(request.package, in.text("package", kPathBytesMax, ""));
  TW_TRY_VOID(read_metrics(in, request));
  TW_TRY(request.flush_denormals, in.boolean("flush_denormals", request.flush_denormals));
  TW_TRY(request.zero_gradients, in.boolean("zero_gradients", request.zero_gradients));
  TW_TRY_VOID(read_outputs(in, request));
  TW_TRY_VOID(in.refuse_unknown());
  return request;
}

}  // namespace torchwatch::protocol
