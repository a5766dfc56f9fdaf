// How often the search names the right commit, and what it costs, on simulated days whose runs are
// recorded processes in their recorded order; beside it the rules of other searches on the same
// days. See README.md.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "peer_searches.hpp"
#include "recorded_day.hpp"
#include "recorded_noise.hpp"
#include "search_score.hpp"
#include "searched_day.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;

/// As many runs as a comparison has behind it when it asks for a search: 20 pairs.
constexpr std::size_t kRunsBefore = 40;

/// Fewer would be repeated within a single search.
constexpr std::size_t kProcessesMin = 60;

struct Scenario {
  std::string name;
  DayShape shape;
};

/// One day for every method: what is true of it, and where in the recording it begins.
struct Trial {
  Day day;
  const std::vector<double>* log_times;
  std::size_t start;
  double step;  ///< what the methods that must know it look for
};

/// ln(time) of the processes of each workload, in recorded order.
using Noise = std::vector<std::vector<double>>;

struct Method {
  std::string name;
  std::function<DayResult(const Trial&)> search;
};

/// Robust spread of the pairs just before the day: what the comparison that asks knows of the
/// noise.
double known_noise(const Trial& trial) {
  const auto& series = *trial.log_times;
  const auto at = [&](std::size_t i) { return series[i % series.size()]; };
  const std::size_t begin = trial.start + series.size() - kRunsBefore;
  std::vector<double> distances;
  for (std::size_t i = 0; i < kRunsBefore; i += 2) {
    distances.push_back(std::abs(at(begin + i + 1) - at(begin + i)));
  }
  std::nth_element(distances.begin(), distances.begin() + kRunsBefore / 4, distances.end());
  return 1.4826 * distances[kRunsBefore / 4];
}

DayResult search_with_torchwatch(const Trial& trial, std::size_t builders) {
  DayRuns runs(trial.day, *trial.log_times, trial.start);
  bisect::SearchSeries series;
  series.noise_sd = known_noise(trial);
  auto result = search_day({}, series, builders, runs, [&](const bisect::Measure& measure) {
    return carry_out(measure, runs);
  });
  result.runs = runs.runs();
  return result;
}

Method peer(std::string name, std::function<Blamed(DayRuns&, double)> search) {
  return {std::move(name), [search](const Trial& trial) {
            DayRuns runs(trial.day, *trial.log_times, trial.start);
            DayResult result;
            const double began = cpu_ms();
            result.blamed = search(runs, trial.step);
            result.cpu_ms = cpu_ms() - began;
            result.builds = runs.builds();
            result.rounds = runs.rounds();
            result.runs = runs.runs();
            return result;
          }};
}

std::string with_builders(const std::string& name, std::size_t builders) {
  return name + ", " + std::to_string(builders) + " builders";
}

std::vector<Method> methods() {
  std::vector<Method> all{
      {"torchwatch", [](const Trial& trial) { return search_with_torchwatch(trial, 1); }},
      peer("binary search, 7 %", [](auto& runs, double) { return binary_search_7_percent(runs); }),
      peer("git bisect, median of 5",
           [](auto& runs, double) { return git_bisect_median_of_five(runs); }),
      peer("Pinpoint's rules", pinpoint),
      peer("Bayesian pass/fail", bayes_of_pass_and_fail)};
  for (const std::size_t builders : {2U, 4U, 8U}) {
    all.push_back({with_builders("torchwatch", builders), [builders](const Trial& trial) {
                     return search_with_torchwatch(trial, builders);
                   }});
    all.push_back(
        peer(with_builders("bisection, median of 5", builders),
             [builders](auto& runs, double) { return section_median_of_five(runs, builders); }));
  }
  return all;
}

Scenario scenario_of(std::size_t commits, int culprits, int step, int unbuildable) {
  const std::string what = culprits == 0
                               ? "no culprit"
                               : (culprits == 1 ? "" : std::to_string(culprits) + " of ") + "+" +
                                     std::to_string(step) + " %";
  return {std::to_string(commits) + " commits, " + what + ", " + std::to_string(unbuildable) +
              " % unbuildable",
          {commits, culprits, std::log1p(step / 100.0), unbuildable / 100.0}};
}

/// Those of the table, or with `commits` a day of that many alone.
std::vector<Scenario> scenarios(std::size_t commits) {
  if (commits > 0) return {scenario_of(commits, 1, 10, 5)};
  std::vector<Scenario> all;
  const auto add = [&](std::size_t size, int culprits, int step, int unbuildable) {
    all.push_back(scenario_of(size, culprits, step, unbuildable));
  };
  for (const std::size_t size : {100U, 16U, 64U, 400U, 1000U}) {
    for (const int step : {5, 7, 10, 20, 50}) add(size, 1, step, 5);
  }
  for (const int unbuildable : {0, 30}) {
    for (const int step : {7, 10, 20}) add(100, 1, step, unbuildable);
  }
  add(100, 0, 10, 5);
  add(1000, 0, 10, 5);
  for (const int step : {7, 10, 20}) add(100, 2, step, 5);
  for (const int step : {7, 10, 20}) add(100, 3, step, 5);
  return all;
}

/// The same days for every method: nothing but the seed, the shape and the number draws them.
Trial make_trial(const Scenario& scenario, const Noise& noise, std::uint64_t seed, int number) {
  std::seed_seq sequence{seed, static_cast<std::uint64_t>(number)};
  std::mt19937_64 random(sequence);
  const auto any = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  };
  const auto& log_times = noise[any(noise.size())];
  const std::size_t start = any(log_times.size());
  return {draw_day(scenario.shape, random), &log_times, start, scenario.shape.step};
}

SearchScore measure(const Scenario& scenario, const Method& method, const Noise& noise,
                    std::uint64_t seed, int trials) {
  SearchScore score;
  for (int number = 0; number < trials; ++number) {
    const Trial trial = make_trial(scenario, noise, seed, number);
    score.count(trial.day, method.search(trial));
  }
  return score;
}

Result<Noise> read_noise(const std::string& file) {
  TW_TRY(const auto recording, test::read_recording(file));
  Noise noise;
  for (const auto& series : recording) {
    const auto medians = test::process_medians(series);
    if (medians.size() < kProcessesMin) {
      return fail(ErrorCode::invalid, file + ": " + std::to_string(medians.size()) +
                                          " processes of " + series.workload + "; at least " +
                                          std::to_string(kProcessesMin) + " are needed");
    }
    noise.push_back(log_times_of(medians));
  }
  return noise;
}

struct Options {
  std::string file = test::full_recording();
  std::uint64_t seed = 1;
  int trials = 1000;
  std::size_t commits = 0;
  bool json = false;
  std::string only;
  Waits waits;
};

/// Measures the rows wanted, one after the other; `done` is called after each.
template <typename Done>
Status measure_rows(const Options& options, const Done& done) {
  TW_TRY(const auto noise, read_noise(options.file));
  bool any = false;
  const auto wanted = scenarios(options.commits);
  for (const auto& scenario : wanted) {
    for (const auto& method : methods()) {
      const std::string row = scenario.name + " | " + method.name + " |";
      if (row.find(options.only) == std::string::npos) continue;
      any = true;
      const auto score = measure(scenario, method, noise, options.seed, options.trials);
      done(scenario.name, method.name, score);
    }
  }
  if (any) return {};
  return fail(ErrorCode::invalid, "--only: no row has \"" + options.only +
                                      "\" in its name, as in \"" + wanted.front().name + " | " +
                                      methods().front().name + "\"");
}

Status print_table(const Options& options) {
  std::printf("%d days a row, seed %llu; per cent with 95 %% intervals\n\n%s", options.trials,
              static_cast<unsigned long long>(options.seed), table_head().c_str());
  return measure_rows(options, [&](const auto& day, const auto& method, const auto& score) {
    std::printf("%s", table_row(day, method, score, options.waits).c_str());
    std::fflush(stdout);
  });
}

Status print_json(const Options& options) {
  nlohmann::json rows = nlohmann::json::array();
  TW_TRY_VOID(measure_rows(options, [&](const auto& day, const auto& method, const auto& score) {
    rows.push_back(json_row(day, method, score, options.waits));
  }));
  const nlohmann::json all{
      {"noise", options.file}, {"seed", options.seed}, {"days", options.trials}, {"rows", rows}};
  std::cout << all.dump(2) << "\n";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("How often searches name the right commit on days with recorded noise");
  app.add_option("NOISE.csv", options.file,
                 "recording of unchanged code: columns comparison, process, workload, ns "
                 "(default: the repository's, tests/recordings)");
  app.add_option("--seed", options.seed, "of the days")->capture_default_str();
  app.add_option("--trials", options.trials, "days a row")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--commits", options.commits,
                 "a day of this many, with one culprit of +10 %, instead of the table's days")
      ->check(CLI::Range(2, 10'000'000));
  app.add_option("--build-minutes", options.waits.build_minutes, "that a build takes")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--run-seconds", options.waits.run_seconds, "that a run takes")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--json", options.json, "one JSON object instead of a table");
  app.add_option("--only", options.only,
                 "only rows whose name contains this, as in \"+10 %, 5 % unbuildable | torch\"");
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  const auto done = options.json ? print_json(options) : print_table(options);
  if (done) return 0;
  std::fprintf(stderr, "experiment_search: %s\n", done.error().message.c_str());
  return 2;
}
