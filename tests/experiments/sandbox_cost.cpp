// What the sandbox adds: to the start of a process, and to the time and memory that runs of a build
// state. With and without alternate, in random order.
// `--help` lists the options.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "command_line.hpp"
#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/records/statistics.hpp"
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

/// Values of one metric without and with the sandbox, pair by pair, as logarithms.
class Pairs {
 public:
  void add(std::int64_t without, std::int64_t with) {
    equal_ += without == with ? 1 : 0;
    ++count_;
    if (without <= 0 || with <= 0) return;
    without_.push_back(std::log(static_cast<double>(without)));
    with_.push_back(std::log(static_cast<double>(with)));
    log_ratios_.push_back(with_.back() - without_.back());
  }

  void append(const Pairs& others) {
    equal_ += others.equal_;
    count_ += others.count_;
    append_to(without_, others.without_);
    append_to(with_, others.with_);
    append_to(log_ratios_, others.log_ratios_);
  }

  /// Takes its own median from each side, so that pairs of several workloads can be put together.
  void centre() {
    for (auto* side : {&without_, &with_}) {
      const double middle = side->empty() ? 0 : median(*side);
      for (double& value : *side) value -= middle;
    }
  }

  json figures() const {
    json row{{"pairs", count_}, {"equal", equal_}};
    if (log_ratios_.empty()) return row;
    const auto found = detect::estimate(log_ratios_, kConfidence);
    row.update({{"ratio", found.ratio}, {"low", found.low}, {"high", found.high}});
    return row;
  }

  /// How much wider the middle half of the centred values is with the sandbox, and the interval
  /// that drawing the pairs anew gives.
  json spread_ratio(std::mt19937_64& random) const {
    constexpr int kDrawn = 2'000;
    const auto count = log_ratios_.size();
    if (count < 8) return nullptr;
    std::vector<double> ratios;
    for (int i = 0; i < kDrawn; ++i) {
      std::vector<double> without;
      std::vector<double> with;
      for (std::size_t j = 0; j < count; ++j) {
        const auto drawn = random() % count;
        without.push_back(without_[drawn]);
        with.push_back(with_[drawn]);
      }
      ratios.push_back(middle_half(with) / middle_half(without));
    }
    std::ranges::sort(ratios);
    const auto tail = static_cast<std::size_t>(kDrawn * (1 - kConfidence) / 2);
    return {{"ratio", middle_half(with_) / middle_half(without_)},
            {"low", ratios[tail]},
            {"high", ratios[ratios.size() - 1 - tail]}};
  }

 private:
  static void append_to(std::vector<double>& values, const std::vector<double>& others) {
    values.insert(values.end(), others.begin(), others.end());
  }
  static double quantile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }
  static double middle_half(const std::vector<double>& values) {
    return quantile(values, 0.75) - quantile(values, 0.25);
  }

  std::vector<double> without_;
  std::vector<double> with_;
  std::vector<double> log_ratios_;
  int equal_ = 0;
  int count_ = 0;
};

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
      each.bind_to_cores = process::may_raise_priority();
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

  /// Over all of `workload_rows`, by metric.
  json summary() {
    json rows = json::array();
    for (const auto& [metric, pairs] : all_) {
      rows.push_back({{"benchmark", "all"}, {"threads", 0}, {"metric", to_string(metric)}});
      rows.back().update(pairs.figures());
      rows.back()["spread"] = pairs.spread_ratio(random_);
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
    std::map<Metric, Pairs> metrics;
    for (int i = 0; i < options_.pairs; ++i) {
      const auto pair = pair_of(random_, [&](int side) { return run(side, benchmark, threads); });
      for (const auto& [metric, value] : pair[0]) metrics[metric].add(value, pair[1].at(metric));
    }
    std::vector<json> rows;
    for (auto& [metric, pairs] : metrics) {
      rows.push_back(
          {{"benchmark", benchmark}, {"threads", threads}, {"metric", to_string(metric)}});
      rows.back().update(pairs.figures());
      pairs.centre();
      all_[metric].append(pairs);
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
  std::map<Metric, Pairs> all_;
};

void print(const json& start, const json& rows) {
  std::printf("A start takes %.1f ms; the sandbox adds %.1f ms (%.1f to %.1f, %d pairs).\n",
              start["without_ms"].get<double>(), start["added_ms"].get<double>(),
              start["low"].get<double>(), start["high"].get<double>(), start["pairs"].get<int>());
  if (rows.empty()) return;
  std::printf("\n|benchmark|threads|metric|change, %% (99 %%)|pairs|equal|\n|-|-:|-|-:|-:|-:|\n");
  for (const auto& row : rows) {
    const auto percent = [&](const char* name) { return 100 * (row.value(name, 1.0) - 1); };
    std::printf("|%s|%d|%s|%+.3f (%+.3f to %+.3f)|%d|%d|\n",
                row["benchmark"].get<std::string>().c_str(), row["threads"].get<int>(),
                row["metric"].get<std::string>().c_str(), percent("ratio"), percent("low"),
                percent("high"), row["pairs"].get<int>(), row["equal"].get<int>());
    const auto spread = row.value("spread", json());
    if (spread.is_null()) continue;
    std::printf("\nSpread of %s with the sandbox: %.2f times that without (%.2f to %.2f).\n\n",
                row["metric"].get<std::string>().c_str(), spread["ratio"].get<double>(),
                spread["low"].get<double>(), spread["high"].get<double>());
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
    auto rows = experiment.workload_rows();
    for (auto& row : experiment.summary()) rows.push_back(std::move(row));
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
