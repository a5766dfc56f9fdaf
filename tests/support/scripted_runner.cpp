// A runner without LibTorch: figures made up from the request and from what the build's file
// `behaviour` says. Command line and files are those of torchwatch-runner. See README.md.
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "scripted_behaviour.hpp"
#include "torchwatch/protocol/result.hpp"
#include "torchwatch/records/statistics.hpp"

namespace {

using namespace torchwatch;
namespace fs = std::filesystem;

constexpr std::int64_t kMiB = 1 << 20;
constexpr int kBatch = 4;

const std::vector<std::string> kWorkloads = {"resnet18",    "hf_DistilBert",
                                             "dlrm",        "soft_actor_critic",
                                             "tts_angular", "nvidia_deeprecommender"};

/// FNV-1a: the same on every machine, so that a workload has the same figures everywhere.
std::uint64_t hash(const std::string& text) {
  std::uint64_t state = 0xcbf29ce484222325U;
  for (const unsigned char byte : text) state = (state ^ byte) * 0x100000001b3U;
  return state;
}

/// Pseudo-random in [-1, 1) from a text.
double spread(const std::string& text) {
  std::uint64_t z = hash(text) + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  return static_cast<double>(z >> 11U) * 0x1p-52 - 1.0;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string behaviour_text() {
  const char* const search_path = std::getenv("LD_LIBRARY_PATH");
  const std::string list = search_path == nullptr ? "" : search_path;
  const fs::path libraries = list.substr(0, list.find(':'));
  for (const fs::path& place : {libraries / "behaviour", libraries / ".." / "behaviour"}) {
    if (fs::is_regular_file(place)) return read_text(place);
  }
  return {};
}

/// A factor of times, as an environment variable that a study sets.
constexpr const char* kFactorVariable = "TORCH_SCRIPTED_FACTOR";

double factor_of_environment() {
  const char* const factor = std::getenv(kFactorVariable);
  return factor == nullptr ? 1.0 : std::stod(factor);
}

void measure_time(const protocol::Request& request, const test::Behaviour& behaviour,
                  RunResult& result) {
  const Benchmark& benchmark = request.benchmark;
  const double train = benchmark.configuration.mode == Mode::train ? 1.0 : 0.4;
  const double base = 200'000.0 + static_cast<double>(hash(benchmark.workload) % 600'000);
  const double typical = base * train * behaviour.factor("time", benchmark) *
                         factor_of_environment() * (1 + request.planted_slowdown);
  const std::string seed =
      to_string(benchmark) + (behaviour.noise_is_fixed ? "" : " " + request.attempt);
  const double of_run = 1 + behaviour.noise * spread(seed);
  for (int i = 0; i < request.iterations; ++i) {
    const double of_sample = 1 + behaviour.noise * spread(seed + " " + std::to_string(i));
    result.samples_ns.push_back(std::llround(typical * of_run * of_sample));
  }
  const auto time = median(result.samples_ns);
  result.values[Metric::time] = time;
  result.values[Metric::first_iteration] = 10 * time;
  result.values[Metric::throughput] = std::llround(kBatch * 1e12 / static_cast<double>(time));
}

void measure_memory(const protocol::Request& request, const test::Behaviour& behaviour,
                    RunResult& result) {
  const Benchmark& benchmark = request.benchmark;
  const std::int64_t base = kMiB * static_cast<std::int64_t>(32 + hash(benchmark.workload) % 96);
  const double peak = static_cast<double>(base) * behaviour.factor("peak", benchmark);
  LeakFigures leak;
  leak.growth_bytes_per_iteration = behaviour.sum("leak", benchmark);
  leak.retained_bytes = behaviour.sum("retain", benchmark);
  const auto heap_growth = behaviour.sum("heap", benchmark);
  for (int i = 0; i < request.leak_iterations; ++i) {
    leak.live_bytes.push_back(base / 2 + i * leak.growth_bytes_per_iteration);
    leak.heap_bytes.push_back(8 * kMiB + i * heap_growth);
  }
  if (!leak.heap_bytes.empty()) result.values[Metric::heap_growth] = heap_growth;
  result.values[Metric::cpu_peak] = std::llround(peak);
  result.values[Metric::cpu_peak_resident] = std::llround(peak) + 8 * kMiB;
  result.values[Metric::leak_growth] = leak.growth_bytes_per_iteration;
  result.values[Metric::leak_retained] = leak.retained_bytes;
  result.leak = std::move(leak);
  if (!request.outputs) return;
  if (const auto* told = behaviour.find({"no-outputs"}, benchmark)) {
    result.reason = told->value;
    return;
  }
  const double first = behaviour.factor("result", benchmark);
  result.outputs = {{.name = "output float32 [2]", .scale = 1, .figures = {first, 0.5}}};
}

Environment environment(const test::Behaviour& behaviour) {
  Environment environment;
  environment.facts = behaviour.facts;
  environment.facts.emplace("runner", "scripted");
  environment.facts.emplace("cpu_model", "scripted");
  if (const char* const factor = std::getenv(kFactorVariable)) {
    environment.facts.emplace("env." + std::string(kFactorVariable), factor);
  }
  environment.volatile_facts = {{"minor_faults", 1000}, {"involuntary_switches", 0}};
  return environment;
}

void write_whole(const fs::path& path, const std::string& text) {
  const fs::path partial = path.string() + ".partial";
  std::ofstream(partial, std::ios::binary) << text;
  fs::rename(partial, path);
}

/// What slows the workload down is in aten::addmm; what it leaks, aten::cat keeps. How much longer
/// an operator takes is too little to show in the workload's time.
void watch_operators(const protocol::Request& request, const test::Behaviour& behaviour,
                     RunResult& result) {
  constexpr std::int64_t kSelfNs = 100'000;
  const Benchmark& benchmark = request.benchmark;
  const double noise = 1 + behaviour.noise * spread(request.attempt) / 4;
  const auto of = [&](double factor) {
    return std::llround(static_cast<double>(kSelfNs) * factor * noise);
  };
  const auto own = [&](const char* name, double factor) {
    return of(factor * behaviour.operator_factor(name, benchmark));
  };
  result.operator_figures = {{"aten::addmm",
                              {.calls = 4,
                               .self_ns = own("aten::addmm", behaviour.factor("time", benchmark)),
                               .allocated_bytes = 4096}},
                             {"aten::cat",
                              {.calls = 1,
                               .self_ns = own("aten::cat", 0.1),
                               .allocated_bytes = 1024,
                               .kept_bytes = behaviour.sum("leak", benchmark)}},
                             {kOutsideOperators, {.self_ns = of(0.2)}}};
  if (const auto* told = behaviour.find({"uncalled"}, benchmark)) {
    result.operator_figures.erase(told->value);
  }
  result.environment.volatile_facts["operators_iteration_ns"] = of(1.3);
  result.environment.volatile_facts["operators_watched_ns"] = of(1.4);
}

/// Times the operator that the benchmark names.
void measure_operator(const protocol::Request& request, const test::Behaviour& behaviour,
                      RunResult& result) {
  watch_operators(request, behaviour, result);
  const auto& name = request.benchmark.variant.operator_name;
  const auto found = result.operator_figures.find(name);
  if (found == result.operator_figures.end()) {
    result.operator_figures.clear();
    result.status = RunStatus::unsupported;
    result.reason = "an iteration of the workload does not call " + name;
    return;
  }
  result.samples_ns = {found->second.self_ns};
  result.values[Metric::time] = found->second.self_ns;
}

void trace(const protocol::Request& request, RunResult& result) {
  result.breakdown_reason = "no device (scripted)";
  if (request.chrome_trace.empty()) return;
  write_whole(request.chrome_trace, R"({"traceEvents":[{"ph":"X","name":"aten::addmm"}]})");
}

/// The behaviour's line by which this run measures nothing; null where it measures.
const test::Behaviour::Line* told_to_refuse(const protocol::Request& request,
                                            const test::Behaviour& behaviour) {
  const auto* const crowded = behaviour.find({"crowded"}, request.benchmark);
  if (crowded != nullptr && request.interleave) return crowded;
  const auto* const unwatched = behaviour.find({"unwatched"}, request.benchmark);
  if (unwatched != nullptr && request.operators) return unwatched;
  return behaviour.find({"unsupported", "failed"}, request.benchmark);
}

/// What a GPU adds: its clock and its allocator agree with those of the host.
void add_device_figures(const protocol::Request& request, RunResult& result) {
  if (request.benchmark.configuration.device == Device::cpu) return;
  const auto copy = [&](Metric from, Metric to) {
    if (result.values.contains(from)) result.values[to] = result.values[from];
  };
  copy(Metric::time, Metric::device_time);
  copy(Metric::cpu_peak, Metric::device_peak);
  copy(Metric::cpu_peak_resident, Metric::device_peak_total);
  result.device_samples_ns = result.samples_ns;
  result.values.erase(Metric::heap_growth);
  if (result.leak) result.leak->heap_bytes.clear();
}

RunResult measure(const protocol::Request& request, const test::Behaviour& behaviour) {
  RunResult result;
  result.attempt = request.attempt;
  result.environment = environment(behaviour);
  if (const auto* const told = told_to_refuse(request, behaviour)) {
    result.status = told->verb == "unsupported" ? RunStatus::unsupported : RunStatus::failed;
    result.reason = told->value;
    return result;
  }
  const bool on_gpu = request.benchmark.configuration.device == Device::cuda;
  if (on_gpu && !behaviour.facts.contains("gpu_model")) {
    result.status = RunStatus::unsupported;
    result.reason = "no CUDA device (scripted)";
    return result;
  }
  if (request.pass == Pass::timing) {
    const auto run = is_of_operator(request.benchmark) ? measure_operator : measure_time;
    run(request, behaviour, result);
  }
  if (request.pass == Pass::memory) measure_memory(request, behaviour, result);
  add_device_figures(request, result);
  if (request.pass == Pass::profile) trace(request, result);
  if (request.operators) watch_operators(request, behaviour, result);
  if (request.pass == Pass::coverage) result.operators = {{"aten::addmm", 2}};
  if (request.pass == Pass::flops) result.flops_per_iteration = 2'000'000;
  if (request.pass == Pass::peak) result.flops_per_second = 40'000'000'000;
  return result;
}

void flood() {
  const std::string block(4096, 'x');
  for (;;) std::cout << block << std::flush;
}

void lie(RunResult& result) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  for (std::int64_t& sample : result.samples_ns) sample = kHour;
  if (!result.samples_ns.empty()) result.values[Metric::time] = kHour;
  if (result.leak) result.leak->growth_bytes_per_iteration += 1;
  if (result.samples_ns.empty() && !result.leak) result.values.clear();
}

/// Misbehaves as no runner may; the returned text is written as the result.
std::string misbehave(const std::string& verb, RunResult result) {
  if (verb == "crash") raise(SIGSEGV);
  if (verb == "exit-1") std::exit(1);
  if (verb == "silent") std::exit(0);
  if (verb == "flood") flood();
  while (verb == "hang") pause();
  if (verb == "lie") lie(result);
  if (verb == "stale") result.attempt = "an-earlier-attempt";
  std::string text = protocol::to_json(result);
  if (verb == "cut") text.resize(text.size() / 2);
  if (verb == "huge") text.append(protocol::kResultBytesMax, ' ');
  return text;
}

/// Reads the behaviour of all builds, which lies beside the folder of this run.
std::string machine_text(const fs::path& request_file) {
  return read_text(fs::absolute(request_file).parent_path().parent_path() / "behaviour");
}

int measure_command(const fs::path& request_file, const fs::path& result_file) {
  const auto request = protocol::parse_request(read_text(request_file));
  const auto behaviour =
      test::parse_behaviour(behaviour_text() + "\n" + machine_text(request_file));
  if (!request || !behaviour) {
    const Error& error = request ? behaviour.error() : request.error();
    std::cerr << "scripted runner: " << error.message << "\n";
    return 2;
  }
  const RunResult result = measure(*request, *behaviour);
  const auto* const misdeed =
      behaviour->find({"crash", "hang", "flood", "lie", "cut", "stale", "huge", "silent", "exit-1"},
                      request->benchmark);
  write_whole(result_file,
              misdeed == nullptr ? protocol::to_json(result) : misbehave(misdeed->verb, result));
  return 0;
}

int list_command() {
  nlohmann::json rows = nlohmann::json::array();
  for (const std::string& name : kWorkloads) {
    nlohmann::json configurations = nlohmann::json::array();
    for (const char* const configuration : {"cpu-train", "cpu-infer", "cuda-train", "cuda-infer"}) {
      const bool is_cpu = std::string_view(configuration).starts_with("cpu");
      configurations.push_back({{"configuration", configuration},
                                {"supported", is_cpu},
                                {"reason", is_cpu ? "" : "no CUDA device (scripted)"}});
    }
    rows.push_back({{"name", name},
                    {"domain", "scripted"},
                    {"task", "scripted"},
                    {"train_batch", kBatch},
                    {"eval_batch", kBatch},
                    {"params_trainable", 1000},
                    {"params_all", 1000},
                    {"param_tensors", 2},
                    {"buffers", 0},
                    {"outputs", "Bx10:float32"},
                    {"flops_forward_batch1", 2000},
                    {"configurations", configurations}});
  }
  std::cout << nlohmann::json{{"workloads", rows}}.dump(2) << "\n";
  return 0;
}

/// A graph that a stand-in for a compiler can read.
int export_command(const fs::path& request_file, const fs::path& folder) {
  const auto request = protocol::parse_request(read_text(request_file));
  if (!request) return 2;
  write_whole(folder / "graph.pt", request->benchmark.workload);
  write_whole(folder / "inputs.pt", "");
  write_whole(folder / "export.json", R"({"status":"ok","reason":""})");
  return 0;
}

int environment_command() {
  const auto behaviour = test::parse_behaviour(behaviour_text());
  if (!behaviour) return 2;
  std::cout << nlohmann::json{{"facts", environment(*behaviour).facts}}.dump(2) << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 3 && words[0] == "measure") return measure_command(words[1], words[2]);
  if (words.size() == 3 && words[0] == "export") return export_command(words[1], words[2]);
  if (words == std::vector<std::string>{"list", "--json"}) return list_command();
  if (words == std::vector<std::string>{"environment", "--json"}) return environment_command();
  std::cerr << "usage: measure REQUEST RESULT | export REQUEST FOLDER | list --json | environment "
               "--json\n";
  return 2;
}
