// Comparisons of a build with itself, dealt over nodes that differ: how many verdicts are wrong.
// Runs are recorded ones of unchanged code, slower or faster by what node and benchmark have in
// common. Plan, dealing, schedule and verdicts are the service's own. `--help` lists the options.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "series_comparison.hpp"
#include "spread_night.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;

struct Options {
  std::string file = test::full_recording();
  std::uint64_t seed = 20260101;
  int nights = 10'000;
  std::vector<int> nodes = {1, 2, 3};
  double difference = 0.3;
  double losses = 0.01;
  double slowdown = 1;
};

void describe(CLI::App& app, Options& options) {
  app.add_option("--recording", options.file, "whose runs are drawn")->capture_default_str();
  app.add_option("--seed", options.seed, "of everything drawn")->capture_default_str();
  app.add_option("--nights", options.nights, "for each number of nodes")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000'000));
  app.add_option("--nodes", options.nodes, "numbers of nodes")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--difference", options.difference, "how far apart nodes are at most; 0.3: 30 %")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 10.0));
  app.add_option("--losses", options.losses, "chance that a node dies in a block")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.5));
  app.add_option("--slowdown", options.slowdown, "of the candidate in every benchmark; 1: none")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 10.0));
}

/// The runs of one benchmark on one node: recorded ones from a place of their own on.
struct RunsOnNode {
  RunsOnNode(const experiments::Series& series, double times, std::uint64_t seed)
      : factor(times), random(seed), runs(series, {}, random) {}

  double factor;
  Random random;
  RunsElsewhere runs;
};

/// What the nodes of one night measure.
class Nodes {
 public:
  Nodes(const std::vector<experiments::Series>& recorded, const Options& options,
        std::uint64_t night)
      : recorded_(recorded),
        options_(options),
        random_(options.seed ^ (night * 0x9E3779B97F4A7C15)) {}

  storage::RunRow run(const comparison::Block& block, comparison::Side side,
                      const std::string& node) {
    const double slowdown = side == comparison::Side::candidate ? options_.slowdown : 1;
    auto& measured = runs_of(node, std::stoul(block.benchmark.workload));
    storage::RunRow run;
    run.values[Metric::time] =
        static_cast<std::int64_t>(measured.runs() * measured.factor * slowdown);
    return run;
  }
  bool dies() { return std::uniform_real_distribution<>()(random_) < options_.losses; }

 private:
  RunsOnNode& runs_of(const std::string& node, std::size_t benchmark) {
    auto& runs = runs_[{node, benchmark}];
    if (!runs) {
      const double factor = std::uniform_real_distribution<>(1, 1 + options_.difference)(random_);
      runs = std::make_unique<RunsOnNode>(recorded_[benchmark], factor, random_());
    }
    return *runs;
  }

  const std::vector<experiments::Series>& recorded_;
  const Options& options_;
  Random random_;
  std::map<std::pair<std::string, std::size_t>, std::unique_ptr<RunsOnNode>> runs_;
};

struct Counts {
  std::map<std::string, long> verdicts;
  long runs = 0;
  long moved = 0;
};

/// A benchmark for each recorded series; its name is the series' place.
comparison::Plan plan_of(const std::vector<experiments::Series>& recorded) {
  comparison::Plan plan;
  plan.passes = {Pass::timing};
  for (const auto& series : recorded) {
    plan.benchmarks.push_back({std::to_string(series.place), {Device::cpu, Mode::infer}, {}});
  }
  return plan;
}

Counts count(const std::vector<experiments::Series>& recorded, const Options& options, int nodes) {
  const auto plan = plan_of(recorded);
  const comparison::Rule rule{.budget_series = static_cast<int>(recorded.size())};
  const auto settings = comparison::series_settings(config::Config{}, rule);
  std::vector<double> seconds;
  for (const auto& series : recorded) seconds.push_back(series.runs.front() / 1e9);
  Counts counts;
  for (int night = 0; night < options.nights; ++night) {
    Nodes drawn(recorded, options, static_cast<std::uint64_t>(night));
    const test::SpreadNight spread{
        .plan = plan,
        .settings = settings,
        .seconds = seconds,
        .script = [&drawn](const auto&... run) { return drawn.run(run...); },
        .is_lost = [&drawn] { return drawn.dies(); }};
    const auto outcome = spread.measure(nodes, static_cast<std::uint64_t>(night));
    for (const auto& series : outcome.judged) {
      ++counts.verdicts[std::string(spelling(series.verdict.verdict))];
    }
    counts.runs += outcome.runs;
    counts.moved += outcome.moved;
  }
  return counts;
}

Result<nlohmann::json> measure(const Options& options) {
  TW_TRY(const auto recording, test::read_recording(options.file));
  std::vector<experiments::Series> recorded;
  for (const auto& series : recording) recorded.emplace_back(series, recorded.size());
  auto rows = nlohmann::json::array();
  for (const int nodes : options.nodes) {
    const auto counts = count(recorded, options, nodes);
    rows.push_back({{"nodes", nodes},
                    {"nights", options.nights},
                    {"series", options.nights * static_cast<long>(recorded.size())},
                    {"runs", counts.runs},
                    {"moved", counts.moved},
                    {"verdicts", counts.verdicts}});
  }
  return nlohmann::json{{"seed", options.seed},
                        {"difference", options.difference},
                        {"losses", options.losses},
                        {"slowdown", options.slowdown},
                        {"rows", rows}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Verdicts of comparisons that are dealt over nodes that differ; prints JSON");
  describe(app, options);
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  const auto measured = measure(options);
  if (!measured) {
    std::fprintf(stderr, "experiment_spread_nights: %s\n", measured.error().message.c_str());
    return 2;
  }
  std::printf("%s\n", measured->dump(2).c_str());
}
