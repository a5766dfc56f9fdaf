// What a nightly dealt over many nodes costs the daemon itself: plan, dealing, schedule, storage
// and verdicts are the service's own, in a real database; a node makes its answers up. Starting
// steps of the cluster (experiment_cluster_overhead) is not in it. `--help` lists the options.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "command_line.hpp"
#include "processor_time.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/protocol/result.hpp"
#include "torchwatch/records/statistics.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace {

using namespace torchwatch;

constexpr std::int64_t kMiB = 1 << 20;
constexpr int kFacts = 30;  // as many as a runner states

struct Options {
  int nodes = 64;
  int workloads = 2'500;
  int answer_ms = 250;
  double spread = 0.007;
  std::uint64_t seed = 20260101;
};

void describe(CLI::App& app, Options& options) {
  app.add_option("--nodes", options.nodes, "that measure at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--workloads", options.workloads,
                 "each of which is four items: training and inference, time and memory")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_option("--answer-ms", options.answer_ms,
                 "until a node answers; the suite's pairs take 3,100. With 0 the nodes are always "
                 "ready together, and wait for each other at the database")
      ->capture_default_str()
      ->check(CLI::Range(0, 60'000));
  app.add_option("--spread", options.spread, "standard deviation of a run's time; 0.007: 0.7 %")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.5));
  app.add_option("--seed", options.seed, "of everything drawn")->capture_default_str();
}

double memory_mb() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

void answer_time(const protocol::Request& request, double spread, std::mt19937_64& random,
                 RunResult& result) {
  std::normal_distribution<> normal(0, spread);
  const double typical =
      1e6 + static_cast<double>(std::hash<std::string>{}(to_string(request.benchmark)) % 1'000'000);
  const double of_run = typical * (1 + normal(random));
  for (int i = 0; i < request.iterations; ++i)
    result.samples_ns.push_back(std::llround(of_run * (1 + normal(random))));
  const auto time = median(result.samples_ns);
  result.values = {{Metric::time, time},
                   {Metric::first_iteration, 10 * time},
                   {Metric::throughput, 1'000'000'000'000 / time}};
}

void answer_memory(const protocol::Request& request, RunResult& result) {
  const auto iterations = static_cast<std::size_t>(request.leak_iterations);
  result.leak = LeakFigures{.live_bytes = std::vector<std::int64_t>(iterations, 16 * kMiB),
                            .heap_bytes = std::vector<std::int64_t>(iterations, 8 * kMiB)};
  result.values = {{Metric::cpu_peak, 32 * kMiB},
                   {Metric::cpu_peak_resident, 40 * kMiB},
                   {Metric::leak_growth, 0},
                   {Metric::leak_retained, 0}};
  if (iterations > 0) result.values[Metric::heap_growth] = 0;
}

/// Lanes whose nodes make up what a run says.
class InventingLanes final : public executor::Lanes {
 public:
  explicit InventingLanes(const Options& options) {
    for (int i = 0; i < options.nodes; ++i)
      lanes_.push_back(std::make_unique<Lane>(options, i, spent_));
  }
  int count() const override { return static_cast<int>(lanes_.size()); }
  executor::Executor& lane(int number) override { return *lanes_.at(number); }
  Result<std::string> hold(int number, std::chrono::seconds, const std::function<void()>&,
                           std::stop_token) override {
    return "n" + std::to_string(number);
  }
  void give_back(int) override {}

  /// What the nodes took to make up their answers, which the daemon does not do.
  double answering_seconds() const { return spent_.answering_s; }
  /// Pairs, and runs that were asked for alone: each is a step of the cluster.
  int orders() const { return spent_.orders; }

 private:
  struct Spent {
    std::atomic<double> answering_s = 0;
    std::atomic<int> orders = 0;
  };

  class Lane final : public executor::Executor {
   public:
    Lane(const Options& options, int number, Spent& spent)
        : answer_(options.answer_ms),
          spread_(options.spread),
          node_("n" + std::to_string(number)),
          random_(options.seed + static_cast<std::uint64_t>(number)),
          spent_(spent) {}

    Result<executor::RunOutcome> run(const executor::RunSpec& spec, std::stop_token) override {
      take_order();
      return read(spec);
    }
    Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2> specs,
                                                         std::stop_token) override {
      take_order();
      TW_TRY(auto first, read(specs[0]));
      TW_TRY(auto second, read(specs[1]));
      return std::array{std::move(first), std::move(second)};
    }
    Result<std::vector<executor::RunOutcome>> run_block(executor::RunBlock block,
                                                        std::stop_token) override {
      take_order();
      std::vector<executor::RunOutcome> outcomes;
      for (const auto& spec : block.runs) {
        TW_TRY(auto outcome, read(spec));
        outcomes.push_back(std::move(outcome));
      }
      return outcomes;
    }
    std::string node() override { return node_; }

   private:
    void take_order() {
      ++spent_.orders;
      std::this_thread::sleep_for(answer_);
    }
    Result<executor::RunOutcome> read(const executor::RunSpec& spec) {
      const auto text = answer(spec.request);
      TW_TRY(auto result, protocol::parse_result(text, spec.request.attempt));
      TW_TRY_VOID(protocol::check_answers(spec.request, result));
      return executor::RunOutcome{std::move(result)};
    }
    std::string answer(const protocol::Request& request) {
      const auto begun = experiments::processor_seconds(CLOCK_THREAD_CPUTIME_ID);
      RunResult result;
      result.attempt = request.attempt;
      for (int i = 0; i < kFacts; ++i)
        result.environment.facts.emplace("fact_" + std::to_string(i), "as on every other node");
      result.environment.facts.emplace("cpu_model", "of the nodes' class");
      result.environment.volatile_facts = {{"minor_faults", 1000}, {"involuntary_switches", 0}};
      if (request.pass == Pass::timing) answer_time(request, spread_, random_, result);
      if (request.pass == Pass::memory) answer_memory(request, result);
      auto text = protocol::to_json(result);
      spent_.answering_s += experiments::processor_seconds(CLOCK_THREAD_CPUTIME_ID) - begun;
      return text;
    }

    std::chrono::milliseconds answer_;
    double spread_;
    std::string node_;
    std::mt19937_64 random_;
    Spent& spent_;
  };

  Spent spent_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

/// A suite of as many workloads, whose runner nobody starts.
class Suite final : public comparison::RunnerSource {
 public:
  explicit Suite(int count) {
    for (int i = 0; i < count; ++i) names_.push_back("workload_" + std::to_string(i));
  }
  Result<kits::Kit> kit_for(const builds::Tree&, const std::vector<std::string>&,
                            std::stop_token) override {
    return kits::Kit{"/bin/false", "prompt"};
  }
  Result<std::vector<std::string>> workloads() const override { return names_; }

 private:
  std::vector<std::string> names_;
};

config::Config config_of(const test::ScriptedDay& day) {
  auto config = day.config();
  config.suite.workloads = {};
  config.suite.configurations = {{Device::cpu, Mode::train}, {Device::cpu, Mode::infer}};
  return config;
}

Result<nlohmann::json> measure(const Options& options) {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), {{"One", "# one"}, {"Two", "# two"}});
  TW_TRY(const auto service, test::ScriptedService::open(config_of(day)));
  auto& given = service->services();
  InventingLanes lanes(options);
  Suite suite(options.workloads);
  comparison::Services services{.config = given.config,
                                .database = given.database,
                                .executor = lanes.lane(0),
                                .runners = suite,
                                .channel = given.channel,
                                .history = given.history,
                                .commits = given.commits,
                                .clock = given.clock,
                                .random = given.random,
                                .progress = given.progress,
                                .lanes = &lanes};
  TW_TRY(const auto due, nightly::discover_comparisons(services, {}));
  const auto begun = given.clock.monotonic_now();
  const auto before = experiments::processor_seconds();
  TW_TRY(const auto done,
         nightly::carry_out_comparisons(services, due, [] { return Status{}; }, {}));
  const std::chrono::duration<double> took = given.clock.monotonic_now() - begun;
  const auto used = experiments::processor_seconds() - before;
  if (done.size() != 1 || done.front().state != storage::ComparisonState::reported)
    return fail(ErrorCode::internal, "the nightly came to no end");
  TW_TRY(
      const auto runs,
      storage::RunStore(given.database).runs_of({storage::OwnerKind::comparison, done.front().id}));
  TW_TRY(const auto verdicts, storage::verdicts_of(given.database, done.front().id));
  return nlohmann::json{{"nodes", options.nodes},
                        {"items", 4 * options.workloads},
                        {"runs", runs.size()},
                        {"orders", lanes.orders()},
                        {"series", verdicts.size()},
                        {"daemon_s", used - lanes.answering_seconds()},
                        {"made_up_s", lanes.answering_seconds()},
                        {"wall_s", took.count()},
                        {"memory_mb", memory_mb()}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("The processor time of the daemon for a nightly over many nodes; prints JSON");
  describe(app, options);
  if (const auto ended = experiments::read_command_line(app, argc, argv)) return *ended;
  const auto measured = measure(options);
  if (!measured) {
    std::fprintf(stderr, "experiment_nightly_cost: %s\n", measured.error().text().c_str());
    return 2;
  }
  std::printf("%s\n", measured->dump(2).c_str());
}
