// What the timing pass adds to an iteration: its own loop against a bare one, alternating in one
// process.
// `--help` lists the options.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "fake_workload.hpp"
#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/models/registry.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/runner/process_isolation.hpp"
#include "torchwatch/runner/timing_pass.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace {

using namespace torchwatch;

constexpr double kConfidence = 0.99;
constexpr int kPairsMin = 8;      // an interval of 99 % by signed ranks needs as many
constexpr int kPairsMax = 2'000;  // whose averages in twos are still sorted in a second
constexpr int kEmptySamples = 10'000;
constexpr int kEmptyRounds = 101;

struct Options {
  std::vector<std::string> benchmarks{"lennard_jones:infer",
                                      "lennard_jones:train",
                                      "soft_actor_critic:infer",
                                      "soft_actor_critic:train",
                                      "nvidia_deeprecommender:infer",
                                      "resnet18:infer",
                                      "resnet18:train",
                                      "hf_Bert:train",
                                      "hf_Bert_large:train"};
  std::string preset = "small";
  double seconds = 60;
  double block_ms = 20;
  std::uint64_t seed = 20260101;
  bool wall = false;
  bool json = false;
};

void describe(CLI::App& app, Options& options) {
  app.add_option("NAME:MODE", options.benchmarks, "workloads, such as resnet18:train")
      ->capture_default_str();
  app.add_option("--preset", options.preset, "sizes of the workloads")
      ->capture_default_str()
      ->check(CLI::IsMember({"small", "paper"}));
  app.add_option("--seconds", options.seconds, "for each of them")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86'400.0));
  app.add_option("--block-ms", options.block_ms, "least length of a block")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 10'000.0));
  app.add_option("--seed", options.seed, "of the random order")->capture_default_str();
  app.add_flag("--wall", options.wall, "take wall time, not the processor's");
  app.add_flag("--json", options.json, "print JSON");
}

protocol::Request request_of(const std::string& benchmark, const Options& options) {
  const auto colon = benchmark.find(':');
  const auto mode = parse_mode(benchmark.substr(std::min(colon, benchmark.size() - 1) + 1));
  if (colon == std::string::npos || !mode) {
    throw std::invalid_argument("\"" + benchmark + "\" is not NAME:MODE, such as resnet18:train");
  }
  protocol::Request request;
  request.benchmark.workload = benchmark.substr(0, colon);
  request.benchmark.configuration = {Device::cpu, *mode};
  request.preset = options.preset == "paper" ? Preset::paper : Preset::small;
  return request;
}

/// A workload that counts what the timing pass asks of it.
struct Counted {
  std::unique_ptr<models::Workload> workload;
  std::int64_t steps = 0;
  runner::FakeWorkload seen_by_pass{[this] {
    ++steps;
    workload->step();
  }};
};

class Schedule {
 public:
  Schedule(const protocol::Request& request, const Options& options)
      : options_(options), random_(options.seed), request_(request) {
    const auto* entry = models::find(request.benchmark.workload);
    if (entry == nullptr)
      throw std::invalid_argument(runner::unknown_workload(request.benchmark.workload));
    const auto reason = runner::unsupported_reason(entry->definition, request);
    if (!reason.empty()) throw std::invalid_argument(request.benchmark.workload + ": " + reason);
    counted_.workload = models::build(entry->definition, runner::setup_of(request));
    choose_block();
  }

  nlohmann::json measure() {
    std::vector<double> log_ratios;
    std::vector<double> bare_ns;
    const double begin = now_ns(CLOCK_MONOTONIC);
    while (wants_more(log_ratios.size(), now_ns(CLOCK_MONOTONIC) - begin)) {
      const bool harness_first = random_() % 2 == 0;
      const double before = harness_first ? by_pass() : 0;
      bare_ns.push_back(bare());
      log_ratios.push_back(std::log((harness_first ? before : by_pass()) / bare_ns.back()));
    }
    return figures(detect::estimate(log_ratios, kConfidence), bare_ns);
  }

 private:
  [[nodiscard]] double now_ns(clockid_t clock) const {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  }
  [[nodiscard]] double chosen_now_ns() const {
    return now_ns(options_.wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID);
  }

  [[nodiscard]] bool wants_more(std::size_t pairs, double elapsed_ns) const {
    if (pairs < kPairsMin) return true;
    return pairs < kPairsMax && elapsed_ns < options_.seconds * 1e9;
  }

  /// The least number of samples that makes a block long enough for the clock and the caches: the
  /// more blocks, the narrower the interval. A short block is unfavourable to the pass, which tries
  /// out the batch in each.
  void choose_block() {
    by_pass();  // also warms up
    const double iteration_ns = by_pass();
    const double sample_ns = iteration_ns * static_cast<double>(per_sample_);
    request_.warmup = 0;
    request_.enough_ns = 0;
    request_.iterations = std::max(1, static_cast<int>(options_.block_ms * 1e6 / sample_ns));
    request_.iterations_min = request_.iterations;
    by_pass();
  }

  /// Nanoseconds of an iteration, everything that the timing pass does included.
  double by_pass() {
    counted_.steps = 0;
    const double begin = chosen_now_ns();
    const auto timings =
        runner::time_iterations(counted_.seen_by_pass, models::Device::cpu, request_);
    const double elapsed = chosen_now_ns() - begin;
    per_sample_ = timings.iterations_per_sample;
    return elapsed / static_cast<double>(counted_.steps);
  }

  /// The same of as many iterations as the pass made last.
  double bare() {
    const double begin = chosen_now_ns();
    for (std::int64_t i = 0; i < counted_.steps; ++i) counted_.workload->step();
    return (chosen_now_ns() - begin) / static_cast<double>(counted_.steps);
  }

  [[nodiscard]] nlohmann::json figures(const detect::Estimate& found,
                                       std::vector<double> bare_ns) const {
    const auto middle = bare_ns.begin() + static_cast<std::ptrdiff_t>(bare_ns.size() / 2);
    std::nth_element(bare_ns.begin(), middle, bare_ns.end());
    return {{"workload", request_.benchmark.workload},
            {"mode", to_string(request_.benchmark.configuration.mode)},
            {"bare_ns", *middle},
            {"iterations_per_sample", per_sample_},
            {"pairs", found.pairs},
            {"ratio", found.ratio},
            {"low", found.low},
            {"high", found.high}};
  }

  const Options& options_;
  std::mt19937_64 random_;
  protocol::Request request_;
  Counted counted_;
  std::int64_t per_sample_ = 1;
};

/// Nanoseconds of the processor for a sample of an iteration that does nothing: what the pass costs
/// by itself, without what it does to caches.
double empty_sample_ns() {
  protocol::Request request;
  request.warmup = 0;
  request.batch_below_ns = 0;
  request.enough_ns = 0;
  request.iterations = request.iterations_min = kEmptySamples;
  runner::FakeWorkload nothing([] {});
  std::vector<double> rounds;
  for (int i = 0; i < kEmptyRounds; ++i) {
    const auto begin = std::clock();
    runner::time_iterations(nothing, models::Device::cpu, request);
    const auto elapsed = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    rounds.push_back(elapsed * 1e9 / kEmptySamples);
  }
  std::nth_element(rounds.begin(), rounds.begin() + kEmptyRounds / 2, rounds.end());
  return rounds[kEmptyRounds / 2];
}

double percent(const nlohmann::json& ratio) {
  return 100 * (ratio.get<double>() - 1);
}

void print_row(const nlohmann::json& row) {
  std::printf("|%s|%s|%.3f|%ld|%+.3f (%+.3f to %+.3f)|%.4f|%d|\n",
              row["workload"].get<std::string>().c_str(), row["mode"].get<std::string>().c_str(),
              row["bare_ns"].get<double>() / 1e6, row["iterations_per_sample"].get<long>(),
              percent(row["ratio"]), percent(row["low"]), percent(row["high"]),
              row["sample_cost_percent"].get<double>(), row["pairs"].get<int>());
  std::fflush(stdout);
}

void measure_all(const Options& options) {
  std::vector<protocol::Request> requests;
  for (const auto& benchmark : options.benchmarks)
    requests.push_back(request_of(benchmark, options));
  runner::isolate_process(requests.front());
  runner::set_threads(1);
  const double sample_ns = empty_sample_ns();
  nlohmann::json rows = nlohmann::json::array();
  if (!options.json) {
    std::printf("A sample of nothing costs %.0f ns.\n\n", sample_ns);
    std::printf(
        "|workload|mode|bare, ms|iterations a sample|added, %% (99 %%)|"
        "of it the sample itself, %%|pairs|\n|-|-|-:|-:|-:|-:|-:|\n");
  }
  for (const auto& request : requests) {
    auto row = Schedule(request, options).measure();
    row["sample_cost_percent"] =
        100 * sample_ns / row["bare_ns"].get<double>() / row["iterations_per_sample"].get<double>();
    if (!options.json) print_row(row);
    rows.push_back(std::move(row));
  }
  if (!options.json) return;
  const nlohmann::json all{{"seed", options.seed},
                           {"clock", options.wall ? "wall" : "processor"},
                           {"empty_sample_ns", sample_ns},
                           {"workloads", rows}};
  std::printf("%s\n", all.dump(2).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "What the timing pass adds to an iteration of a workload on one thread of the CPU: time of "
      "its\n"
      "own loop over that of a bare one, alternating in random order");
  describe(app, options);
  if (const auto ended = experiments::read_command_line(app, argc, argv)) return *ended;
  try {
    measure_all(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "experiment_harness_overhead: %s\n", runner::reason_of(error).c_str());
    return 1;
  }
}
