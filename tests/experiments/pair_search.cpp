// How often our search names the right commit, and what it costs, on simulated days whose runs are
// interleaved pairs: normal ones of a given spread, or recorded ones. `--help` lists the options.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "day_pairs.hpp"
#include "pair_rules.hpp"
#include "search_score.hpp"
#include "searched_day.hpp"
#include "torchwatch/records/statistics.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;

struct Options {
  std::vector<std::string> files;
  std::vector<double> spreads{0.005, 0.01, 0.015, 0.02};
  std::vector<double> changes{0.03};
  std::vector<std::size_t> builders{1};
  double threshold = 0.03;
  double build_spread = bisect::kBuildSpreadOfTimes;
  double expected_spread = 1;
  double unbuildable = 0.05;
  std::size_t pairs = 40;
  std::size_t commits = 100;
  int culprits = 1;
  bisect::SearchSettings settings;
  std::uint64_t seed = 1;
  int trials = 1000;
  bool json = false;
  Waits waits;
};

void describe_days(CLI::App& app, Options& options) {
  const auto share = CLI::Range(0.0, 0.5);
  app.add_option("RUNS.jsonl", options.files,
                 "recorded pairs, written by same_build.py, instead of simulated ones");
  app.add_option("--pairs", options.pairs, "that a recorded series must have, or it is left out")
      ->capture_default_str()
      ->check(CLI::Range(2, 1'000'000));
  app.add_option("--spread", options.spreads, "of simulated normal pairs, repeatable")
      ->capture_default_str()
      ->check(CLI::Range(0.0005, 0.5));
  app.add_option("--change", options.changes, "what a culprit adds, 0 for no culprit; repeatable")
      ->capture_default_str()
      ->check(share);
  app.add_option("--culprits", options.culprits, "on a day with a change")
      ->capture_default_str()
      ->check(CLI::Range(1, 4));
  app.add_option("--commits", options.commits, "of a day")
      ->capture_default_str()
      ->check(CLI::Range(8, 1'000'000));
  app.add_option("--unbuildable", options.unbuildable, "share of commits that do not build")
      ->capture_default_str()
      ->check(share);
  app.add_option("--build-spread", options.build_spread,
                 "by which builds of like code differ by themselves")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.1));
  app.add_option("--seed", options.seed, "of the days")->capture_default_str();
  app.add_option("--trials", options.trials, "days a row")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000'000));
}

void describe_search(CLI::App& app, Options& options) {
  app.add_option("--threshold", options.threshold,
                 "[detect] threshold: half of it is the least change that is searched")
      ->capture_default_str()
      ->check(CLI::Range(0.005, 0.5));
  app.add_option("--build-cost", options.settings.build_cost, "of one build, in runs")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--expected-spread", options.expected_spread,
                 "that the search knows before it measures, in spreads of the pairs")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--builders", options.builders, "builds made at once, repeatable")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--build-minutes", options.waits.build_minutes, "that a build takes")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--run-seconds", options.waits.run_seconds, "that a run takes")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--json", options.json, "one JSON object instead of a table");
}

/// ln(candidate / reference) of like code.
struct Noise {
  std::string name;
  std::vector<experiments::Series> series;
};

DayResult search_one(const Day& day, const experiments::Series& noise, std::size_t builders,
                     const Options& options, std::mt19937_64& random) {
  DayPairs pairs(day, noise.runs, options.build_spread, random);
  bisect::SearchSeries series;
  series.noise_sd = options.expected_spread * robust_sd(noise.runs);
  series.minimum_effect = std::log1p(options.threshold) / 2;
  series.build_sd = bisect::kBuildSpreadOfTimes;
  auto result =
      search_day(options.settings, series, builders, pairs,
                 [&](const bisect::Measure& measure) { return pairs.carry_out(measure); });
  result.runs = pairs.runs();
  return result;
}

/// One row: the same days for every number of builders.
SearchScore score_of(const Noise& noise, double change, std::size_t builders,
                     const Options& options) {
  const DayShape shape{options.commits, change == 0 ? 0 : options.culprits, std::log1p(change),
                       options.unbuildable};
  SearchScore score;
  for (int number = 0; number < options.trials; ++number) {
    std::seed_seq sequence{options.seed, static_cast<std::uint64_t>(number)};
    std::mt19937_64 random(sequence);
    const Day day = draw_day(shape, random);
    const auto& series = noise.series[static_cast<std::size_t>(number) % noise.series.size()];
    score.count(day, search_one(day, series, builders, options, random));
  }
  return score;
}

std::string percent(double share) {
  std::ostringstream text;
  text << 100 * share << " %";
  return text.str();
}

std::string day_of(const Noise& noise, double change, const Options& options) {
  const std::string several = options.culprits > 1 ? std::to_string(options.culprits) + " of " : "";
  return std::to_string(options.commits) + " commits, " +
         (change == 0 ? "no culprit" : several + "+" + percent(change)) + ", " + noise.name;
}

Result<std::vector<Noise>> read_noise(const Options& options) {
  std::vector<Noise> all;
  if (options.files.empty()) {
    for (const double spread : options.spreads) {
      all.push_back({"pairs that scatter by " + percent(spread), {normal_pairs(spread, 0)}});
    }
    return all;
  }
  TW_TRY(auto series, read_series_of_pairs(options.files, options.pairs));
  const auto count = std::to_string(series.size());
  all.push_back({"recorded pairs of " + count + " series", std::move(series)});
  return all;
}

/// Measures all rows, one after the other; `done` is called after each.
template <typename Done>
void measure_rows(const std::vector<Noise>& all, const Options& options, const Done& done) {
  for (const auto& noise : all) {
    for (const double change : options.changes) {
      for (const std::size_t builders : options.builders) {
        const auto search =
            "torchwatch, " + std::to_string(builders) + (builders == 1 ? " builder" : " builders");
        done(day_of(noise, change, options), search, score_of(noise, change, builders, options));
      }
    }
  }
}

void print_table(const std::vector<Noise>& all, const Options& options) {
  std::printf("%d days a row, seed %llu; per cent with 95 %% intervals\n\n%s", options.trials,
              static_cast<unsigned long long>(options.seed), table_head().c_str());
  measure_rows(all, options, [&](const auto& day, const auto& search, const auto& score) {
    std::printf("%s", table_row(day, search, score, options.waits).c_str());
    std::fflush(stdout);
  });
}

void print_json(const std::vector<Noise>& all, const Options& options) {
  nlohmann::json rows = nlohmann::json::array();
  measure_rows(all, options, [&](const auto& day, const auto& search, const auto& score) {
    rows.push_back(json_row(day, search, score, options.waits));
  });
  const nlohmann::json report{{"files", options.files},
                              {"seed", options.seed},
                              {"days", options.trials},
                              {"threshold", options.threshold},
                              {"build_cost", options.settings.build_cost},
                              {"build_spread", options.build_spread},
                              {"expected_spread", options.expected_spread},
                              {"rows", rows}};
  std::cout << report.dump(2) << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("How often our search names the right commit on days of interleaved pairs");
  describe_days(app, options);
  describe_search(app, options);
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  const auto noise = read_noise(options);
  if (!noise) {
    std::fprintf(stderr, "experiment_pair_search: %s\n", noise.error().message.c_str());
    return 2;
  }
  options.json ? print_json(*noise, options) : print_table(*noise, options);
  return 0;
}
