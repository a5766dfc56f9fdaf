// How often our rule cries wolf on recorded interleaved pairs, what it finds and what that costs,
// for each size of change that may be asked for; and the least that any rule could cost. `--help`
// lists the options.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "command_line.hpp"
#include "pair_rules.hpp"
#include "suite_series.hpp"
#include "torchwatch/detect/binomial_interval.hpp"
#include "torchwatch/records/statistics.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;
using nlohmann::json;

constexpr double kOverlooked = 0.01;  // of changes of 1.5 times the threshold, at most
constexpr double kSteep = 1.5;

struct Options {
  std::vector<std::string> files;
  std::vector<double> thresholds{0.02, 0.03, 0.05, 0.07, 0.10};
  std::vector<double> spreads{0.005, 0.007, 0.01, 0.015, 0.02, 0.03};
  std::uint64_t seed = 20260101;
  long comparisons = 1'000'000;
  long comparisons_changed = 24'000;
  std::size_t pairs = 40;
  int series = kSeriesOfSuite;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  bool json = false;
};

void describe(CLI::App& app, Options& options) {
  const auto counts = CLI::Range(1L, 1'000'000'000L);
  app.add_option("RUNS.jsonl", options.files,
                 "written by same_build.py; several are one recording after the other")
      ->required();
  app.add_option("--threshold", options.thresholds, "the size of change to find, repeatable")
      ->capture_default_str()
      ->check(CLI::Range(0.005, 1.0));
  app.add_option("--spread", options.spreads,
                 "of simulated normal pairs, beside the least cost possible, repeatable")
      ->capture_default_str()
      ->check(CLI::Range(0.0005, 0.5));
  app.add_option("--seed", options.seed, "of everything drawn")->capture_default_str();
  app.add_option("--comparisons", options.comparisons, "drawn for each threshold, unchanged")
      ->capture_default_str()
      ->check(counts);
  app.add_option("--comparisons-changed", options.comparisons_changed, "drawn for each change")
      ->capture_default_str()
      ->check(counts);
  app.add_option("--pairs", options.pairs, "that a series must have, or it is left out")
      ->capture_default_str()
      ->check(CLI::Range(2, 1'000'000));
  app.add_option("--series", options.series,
                 "series that share the budget of one false incident a year")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--threads", options.threads,
                 "of the work; the result is the same with any number")
      ->check(CLI::Range(1U, 1'000U));
  app.add_flag("--json", options.json, "print JSON with all counts by series");
}

/// As `[detect] threshold` sets it: the gate follows in proportion.
detect::Settings settings_for(double threshold, int series) {
  detect::Settings settings;
  settings.gate *= threshold / settings.threshold;
  settings.threshold = threshold;
  settings.alpha = detect::alpha_of_budget(1, series);
  return settings;
}

json json_of(const detect::Share& share) {
  return {{"count", share.hits},
          {"of", share.of},
          {"rate", share.rate},
          {"low", share.low},
          {"high", share.high}};
}

json json_of(const Counts& counts) {
  return {
      {"slower", json_of(detect::share_of(counts.slower, counts.judged))},
      {"faster", json_of(detect::share_of(counts.faster, counts.judged))},
      {"undecided", json_of(detect::share_of(counts.undecided, counts.judged))},
      {"runs", counts.runs / static_cast<double>(counts.judged)},
      {"screened_interval_holds", json_of(detect::share_of(counts.screened_hold, counts.screened))},
      {"confirmed_interval_holds",
       json_of(detect::share_of(counts.confirmed_hold, counts.confirmed))}};
}

/// One threshold's row with one change.
json row_of(const std::vector<Series>& series, const detect::Settings& settings, Drawn drawn,
            double change, long comparisons, const Options& options, std::uint32_t number) {
  const auto table =
      judge_all({pair_rule(settings, drawn)}, series_in_turn(series, 1 + change, comparisons),
                {options.seed, number}, options.threads);
  json row = json_of(together(table.front()));
  row["threshold"] = settings.threshold;
  row["drawn"] = drawn == Drawn::by_pair ? "by pair" : "in order";
  row["change"] = change;
  for (const auto& each : series) row["series"][each.workload] = json_of(table[0][each.place]);
  return row;
}

json rows_of(const std::vector<Series>& series, const Options& options) {
  json rows = json::array();
  for (const double threshold : options.thresholds) {
    const auto settings = settings_for(threshold, options.series);
    const double steep = kSteep * threshold;
    for (const auto drawn : {Drawn::by_pair, Drawn::in_order}) {
      for (const double change : {0.0, threshold / 2, threshold, steep, 1 / (1 + steep) - 1}) {
        const long comparisons = change == 0 ? options.comparisons : options.comparisons_changed;
        rows.push_back(row_of(series, settings, drawn, change, comparisons, options,
                              static_cast<std::uint32_t>(rows.size())));
      }
    }
  }
  return rows;
}

/// The runs of a comparison with simulated normal pairs beside the least possible.
json cost_of(double pair_sd, double threshold, const Options& options, std::uint32_t number) {
  const auto settings = settings_for(threshold, options.series);
  const double steep = kSteep * threshold;
  const std::vector<Series> series{normal_pairs(pair_sd, 0)};
  const auto row = [&](double change) {
    return row_of(series, settings, Drawn::by_pair, change, options.comparisons_changed, options,
                  number);
  };
  const auto unchanged = row(0);
  const auto changed = row(steep);
  const auto least = least_pairs(pair_sd, steep, settings.alpha, kOverlooked);
  const auto runs = [](double pairs) { return 2 * std::max(1.0, pairs); };
  return {{"pair_sd", pair_sd},
          {"threshold", threshold},
          {"runs_unchanged", unchanged["runs"]},
          {"least_runs_unchanged", runs(least.unchanged)},
          {"found_at_half", row(threshold / 2)["slower"]},
          {"found_at_threshold", row(threshold)["slower"]},
          {"found", changed["slower"]},
          {"screened_interval_holds", unchanged["screened_interval_holds"]},
          {"confirmed_interval_holds", changed["confirmed_interval_holds"]},
          {"runs_changed", changed["runs"]},
          {"least_runs_changed", runs(least.changed)}};
}

json costs_of(const Options& options) {
  json costs = json::array();
  for (const double threshold : options.thresholds) {
    for (const double pair_sd : options.spreads) {
      const auto number = static_cast<std::uint32_t>(1'000 + costs.size());
      costs.push_back(cost_of(pair_sd, threshold, options, number));
    }
  }
  return costs;
}

json noise_of(const std::vector<Series>& series) {
  json noise = json::array();
  for (const auto& each : series) {
    noise.push_back({{"series", each.workload},
                     {"pairs", each.runs.size()},
                     {"pair_sd", robust_sd(each.runs)}});
  }
  return noise;
}

json report_of(const std::vector<Series>& series, const Options& options) {
  return {{"files", options.files},
          {"seed", options.seed},
          {"noise", noise_of(series)},
          {"rows", rows_of(series, options)},
          {"costs", costs_of(options)}};
}

std::string share_text(const json& share) {
  std::array<char, 100> text{};
  std::snprintf(text.data(), text.size(), "%.4g (%.3g-%.3g)", 100 * share.at("rate").get<double>(),
                100 * share.at("low").get<double>(), 100 * share.at("high").get<double>());
  return text.data();
}

void print_noise(const json& noise) {
  std::printf("|series, threads|pairs|spread of a pair, %%|\n|-|-:|-:|\n");
  for (const auto& each : noise) {
    std::printf("|%s|%ld|%.2f|\n", each.at("series").get<std::string>().c_str(),
                each.at("pairs").get<long>(), 100 * each.at("pair_sd").get<double>());
  }
}

/// The series in which a change is found least, as "dlrm infer, 1: 97.1".
std::string worst_text(const json& row) {
  const char* found = row.at("change") < 0 ? "faster" : "slower";
  double least = 2;
  std::string name;
  for (const auto& [series, counts] : row.at("series").items()) {
    const double rate = counts.at(found).at("rate").get<double>();
    if (rate >= least) continue;
    least = rate;
    name = series;
  }
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), ": %.3g", 100 * least);
  return name + text.data();
}

void print_row(const json& row) {
  const double change = row.at("change").get<double>();
  std::printf("|%.3g %%|%s|%+.2f %%|%s|%s|%s|%.1f|%s|%s|%s|\n",
              100 * row.at("threshold").get<double>(), row.at("drawn").get<std::string>().c_str(),
              100 * change, share_text(row.at("slower")).c_str(),
              share_text(row.at("faster")).c_str(), share_text(row.at("undecided")).c_str(),
              row.at("runs").get<double>(), change == 0 ? "-" : worst_text(row).c_str(),
              share_text(row.at("screened_interval_holds")).c_str(),
              share_text(row.at("confirmed_interval_holds")).c_str());
}

void print_rows(const json& rows) {
  std::printf(
      "\n|threshold|drawn|change|regressed %%|improved %%|undecided %%|runs|least found in, %%|"
      "99 %% interval holds %%: screened|confirmed|\n|-|-|-|-|-|-|-|-|-|-|\n");
  for (const auto& row : rows) print_row(row);
}

void print_costs(const json& costs) {
  std::printf(
      "\n|threshold|spread of a pair|runs, unchanged|least possible|ratio|found at half, %%|at the "
      "threshold|at 1.5 times|runs|least possible|ratio|99 %% interval holds %%: screened|"
      "confirmed|\n|-|-|-:|-:|-:|-|-|-|-:|-:|-:|-|-|\n");
  for (const auto& cost : costs) {
    const auto value = [&](const char* name) { return cost.at(name).get<double>(); };
    const auto share = [&](const char* name) { return share_text(cost.at(name)); };
    std::printf(
        "|%.3g %%|%.2g %%|%.1f|%.1f|%.1f|%s|%s|%s|%.1f|%.1f|%.1f|%s|%s|\n",
        100 * value("threshold"), 100 * value("pair_sd"), value("runs_unchanged"),
        value("least_runs_unchanged"), value("runs_unchanged") / value("least_runs_unchanged"),
        share("found_at_half").c_str(), share("found_at_threshold").c_str(), share("found").c_str(),
        value("runs_changed"), value("least_runs_changed"),
        value("runs_changed") / value("least_runs_changed"),
        share("screened_interval_holds").c_str(), share("confirmed_interval_holds").c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Error rates, power and cost of our rule on recorded interleaved pairs");
  describe(app, options);
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  const auto series = read_series_of_pairs(options.files, options.pairs);
  if (!series) {
    std::fprintf(stderr, "experiment_pair_detection: %s\n", series.error().message.c_str());
    return 2;
  }
  const auto report = report_of(*series, options);
  if (options.json) {
    std::printf("%s\n", report.dump(2).c_str());
    return 0;
  }
  print_noise(report.at("noise"));
  print_rows(report.at("rows"));
  print_costs(report.at("costs"));
}
