// What the sandbox adds: to the start of a process, and to the time and memory that runs of a build
// state. With and without alternate, in random order.
// `--help` lists the options.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "command_line.hpp"
#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace {

using namespace torchwatch;
namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kConfidence = 0.99;

struct Options {
  int starts = 400;
  fs::path runner;
  fs::path libraries;
  std::vector<std::string> benchmarks;
  std::vector<int> threads{1};
  int pairs = 40;
  bool memory = false;
  std::uint64_t seed = 20260101;
  bool json = false;
};

void describe(CLI::App& app, Options& options) {
  app.add_option("NAME:MODE", options.benchmarks, "workloads, such as resnet18:train");
  app.add_option("--starts", options.starts, "pairs of processes that do nothing")
      ->capture_default_str()
      ->check(CLI::Range(8, 2'000));
  app.add_option("--runner", options.runner, "a kit's torchwatch-runner, for workloads");
  app.add_option("--libraries", options.libraries, "the lib/ of its build");
  app.add_option("--threads", options.threads, "numbers of threads")->capture_default_str();
  app.add_option("--pairs", options.pairs, "of runs of each workload")
      ->capture_default_str()
      ->check(CLI::Range(8, 2'000));
  app.add_flag("--memory", options.memory, "the memory pass, not the timing pass");
  app.add_option("--seed", options.seed, "of the random order")->capture_default_str();
  app.add_flag("--json", options.json, "print JSON");
}

template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

/// Calls `measure` without and with the sandbox, in random order: {without, with}.
template <typename Measure>
auto pair_of(std::mt19937_64& random, const Measure& measure) {
  if (random() % 2 == 0) {
    const auto without = measure(0);
    return std::array{without, measure(1)};
  }
  const auto with = measure(1);
  return std::array{measure(0), with};
}

class Experiment {
 public:
  explicit Experiment(const Options& options) : options_(options), random_(options.seed) {
    sandbox::Settings settings;
    settings.search_path = process::kDefaultSearchPath;
    settings.link_targets = {options.libraries.parent_path()};
    sandboxes_[1] = value_of(sandbox::Sandbox::open(settings, *processes_));
    for (std::size_t i = 0; i < sandboxes_.size(); ++i) {
      executor::LocalExecutor::Settings each;
      each.sandbox = sandboxes_[i];
      each.bind_threads = process::may_raise_priority();
      executors_[i] = std::make_unique<executor::LocalExecutor>(*processes_,
                                                                scratch_ / std::to_string(i), each);
    }
  }
  ~Experiment() {
    std::error_code ignored;
    fs::remove_all(scratch_, ignored);
  }
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  /// Milliseconds that a start takes longer: the Hodges-Lehmann centre of the pairs.
  json start_cost() {
    std::vector<double> differences;
    double without = 0;
    for (int i = 0; i < options_.starts; ++i) {
      const auto pair = pair_of(random_, [&](int side) { return start_ms(side); });
      differences.push_back(pair[1] - pair[0]);
      without += pair[0] / options_.starts;
    }
    // The estimate is of a logarithm, so the difference takes its place.
    const auto found = detect::estimate(differences, kConfidence);
    return {{"pairs", found.pairs},
            {"without_ms", without},
            {"added_ms", std::log(found.ratio)},
            {"low", std::log(found.low)},
            {"high", std::log(found.high)}};
  }

  json workload_rows() {
    json rows = json::array();
    for (const auto& benchmark : options_.benchmarks) {
      for (const int threads : options_.threads) {
        for (auto& row : rows_of(benchmark, threads)) rows.push_back(std::move(row));
      }
    }
    return rows;
  }

 private:
  double start_ms(int side) {
    process::ProcessSpec spec{};
    spec.program = "/usr/bin/true";
    spec.working_folder = "/";
    spec.time_limit = std::chrono::seconds(60);
    spec.output_limit_bytes = 1000;
    spec.own_session = spec.raise_priority = true;  // as timed runs have it
    const auto begin = std::chrono::steady_clock::now();
    if (auto done = sandboxes_[static_cast<std::size_t>(side)].confine(spec, {}); !done) {
      throw std::runtime_error(done.error().message);
    }
    const auto outcome = processes_->run(spec);
    if (!process::succeeded(outcome)) throw std::runtime_error(process::describe(outcome.end));
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  }

  std::map<Metric, std::int64_t> run(int side, const std::string& benchmark, int threads) {
    const auto colon = benchmark.find(':');
    executor::RunSpec spec;
    spec.runner = options_.runner;
    spec.libraries = options_.libraries;
    spec.request.attempt = "sandbox-cost";
    spec.request.benchmark.workload = benchmark.substr(0, colon);
    spec.request.benchmark.configuration = {Device::cpu,
                                            value_of(parse_mode(benchmark.substr(colon + 1)))};
    spec.request.benchmark.variant.threads = threads;
    spec.request.pass = options_.memory ? Pass::memory : Pass::timing;
    const auto outcome = value_of(executors_[static_cast<std::size_t>(side)]->run(spec, {}));
    if (const auto* failure = std::get_if<executor::RunFailure>(&outcome)) {
      throw std::runtime_error(benchmark + ": " + failure->reason);
    }
    const auto& result = std::get<RunResult>(outcome);
    if (!result.reason.empty()) throw std::runtime_error(benchmark + ": " + result.reason);
    return result.values;
  }

  std::vector<json> rows_of(const std::string& benchmark, int threads) {
    std::map<Metric, std::vector<double>> log_ratios;
    for (int i = 0; i < options_.pairs; ++i) {
      const auto pair = pair_of(random_, [&](int side) { return run(side, benchmark, threads); });
      for (const auto& [metric, value] : pair[0]) {
        if (value <= 0 || pair[1].at(metric) <= 0) continue;
        log_ratios[metric].push_back(
            std::log(static_cast<double>(pair[1].at(metric)) / static_cast<double>(value)));
      }
    }
    std::vector<json> rows;
    for (const auto& [metric, values] : log_ratios) {
      const auto found = detect::estimate(values, kConfidence);
      rows.push_back({{"benchmark", benchmark},
                      {"threads", threads},
                      {"metric", to_string(metric)},
                      {"pairs", found.pairs},
                      {"ratio", found.ratio},
                      {"low", found.low},
                      {"high", found.high}});
    }
    return rows;
  }

  const Options& options_;
  std::mt19937_64 random_;
  fs::path scratch_ =
      fs::temp_directory_path() / ("torchwatch-sandbox-cost-" + std::to_string(getpid()));
  std::unique_ptr<process::ProcessRunner> processes_ =
      process::make_process_runner(scratch_.string());
  std::array<sandbox::Sandbox, 2> sandboxes_;
  std::array<std::unique_ptr<executor::LocalExecutor>, 2> executors_;
};

void print(const json& start, const json& rows) {
  std::printf("A start takes %.1f ms; the sandbox adds %.1f ms (%.1f to %.1f, %d pairs).\n",
              start["without_ms"].get<double>(), start["added_ms"].get<double>(),
              start["low"].get<double>(), start["high"].get<double>(), start["pairs"].get<int>());
  if (rows.empty()) return;
  std::printf("\n|benchmark|threads|metric|change, %% (99 %%)|pairs|\n|-|-:|-|-:|-:|\n");
  for (const auto& row : rows) {
    const auto percent = [&](const char* name) { return 100 * (row[name].get<double>() - 1); };
    std::printf("|%s|%d|%s|%+.3f (%+.3f to %+.3f)|%d|\n",
                row["benchmark"].get<std::string>().c_str(), row["threads"].get<int>(),
                row["metric"].get<std::string>().c_str(), percent("ratio"), percent("low"),
                percent("high"), row["pairs"].get<int>());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "What the sandbox adds to the start of a process, and to what runs of a build state");
  describe(app, options);
  if (const auto ended = torchwatch::experiments::read_command_line(app, argc, argv)) return *ended;
  try {
    Experiment experiment(options);
    const auto start = experiment.start_cost();
    const auto rows = experiment.workload_rows();
    if (options.json) {
      std::printf("%s\n", json{{"start", start}, {"workloads", rows}}.dump(2).c_str());
    } else {
      print(start, rows);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "experiment_sandbox_cost: %s\n", error.what());
    return 1;
  }
}
