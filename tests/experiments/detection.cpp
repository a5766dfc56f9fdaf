// How often rules cry wolf on recorded noise, find a slowdown in its comparison, and what that
// costs in runs: ours, and beside it those of other services on the same comparisons. `--help`
// lists the options.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "command_line.hpp"
#include "detection_report.hpp"
#include "recorded_noise.hpp"
#include "suite_series.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;

constexpr std::size_t kComparisonsMin = 10;

struct Options {
  std::string file = test::full_recording();
  std::string history;
  std::uint64_t seed = 20260101;
  long comparisons = 1'000'000;
  long comparisons_changed = 24'000;
  int series = kSeriesOfSuite;
  double prior_pair_sd = detect::Settings{}.prior_pair_sd;
  Learning learning;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  bool only_ours = false;
  bool json = false;
};

void describe(CLI::App& app, Options& options) {
  app.add_option("NOISE.csv", options.file,
                 "recording of unchanged code: columns comparison, process, workload, ns "
                 "(default: the repository's, tests/recordings)");
  app.add_option("--history", options.history,
                 "a recording of the comparisons before; its comparisons are history, not judged");
  app.add_option("--seed", options.seed, "of everything drawn")->capture_default_str();
  app.add_option("--comparisons", options.comparisons, "series-comparisons drawn without a change")
      ->capture_default_str()
      ->check(CLI::Range(1L, 1'000'000'000L));
  app.add_option("--comparisons-changed", options.comparisons_changed,
                 "series-comparisons drawn for each change")
      ->capture_default_str()
      ->check(CLI::Range(1L, 1'000'000'000L));
  app.add_option("--series", options.series,
                 "series that share the budget of one false incident a year")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--prior-pair-sd", options.prior_pair_sd,
                 "spread of a pair that ours expects of every series")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1.0));
  app.add_option("--learn-from", options.learning.comparisons,
                 "comparisons before, from which ours learns what to expect of each series instead")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{0}, kComparisonsToLearnFrom));
  app.add_option("--learn-at-least", options.learning.least, "never less than this")
      ->capture_default_str();
  app.add_option("--threads", options.threads,
                 "of the work; the result is the same with any number")
      ->check(CLI::Range(1U, 1'000U));
  app.add_flag("--only-ours", options.only_ours, "leave out the rules of others");
  app.add_flag("--json", options.json, "print JSON with all counts by workload");
}

/// What is judged: each comparison from `first` on as recorded, and comparisons drawn.
struct Comparisons {
  std::vector<Series> recorded;  ///< with the history before them
  std::size_t first = 1;  ///< the very first comparison has none before it to be compared with
  std::vector<Series> drawn_from;
};

std::vector<Series> series_of(const test::Recording& recording) {
  std::vector<Series> series;
  for (const auto& recorded : recording) series.emplace_back(recorded, series.size());
  return series;
}

Result<Comparisons> read_comparisons(const Options& options) {
  TW_TRY(const auto recording, test::read_recording(options.file));
  const std::size_t count = recording.front().comparisons.size();
  if (count < kComparisonsMin) {
    return fail(ErrorCode::invalid, options.file + ": " + std::to_string(count) +
                                        " comparisons; at least " +
                                        std::to_string(kComparisonsMin) + " are needed");
  }
  Comparisons comparisons{series_of(recording), 1, series_of(recording)};
  if (options.history.empty()) return comparisons;
  TW_TRY(const auto history, test::read_recording(options.history));
  TW_TRY(const auto joined, test::one_after_the_other(history, recording));
  comparisons.recorded = series_of(joined);
  comparisons.first = history.front().comparisons.size();
  return comparisons;
}

/// Each comparison against the one before it, once for every workload.
Sampling chronological(const Comparisons& comparisons, double slowdown) {
  const auto& series = comparisons.recorded;
  const std::size_t first = comparisons.first;
  const std::size_t count = series.front().comparisons.size() - first;
  return {static_cast<long>(count * series.size()), series.size(),
          [&series, first, count, slowdown](long number, Random&) {
            const auto at = static_cast<std::size_t>(number);
            return recorded_comparison(series[at / count], first + at % count, slowdown);
          }};
}

Sampling resampled(const Comparisons& comparisons, double slowdown, long count) {
  const auto& series = comparisons.drawn_from;
  return {count, series.size(), [&series, slowdown](long number, Random& random) {
            const auto workload = static_cast<std::size_t>(number) % series.size();
            return drawn_comparison(series[workload], slowdown, random);
          }};
}

std::size_t fewest_processes(const Comparisons& comparisons) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const auto& series : comparisons.recorded) {
    for (const auto& comparison : series.comparisons) fewest = std::min(fewest, comparison.size());
  }
  return fewest;
}

std::vector<Rule> rules_of(const Options& options, const Comparisons& comparisons) {
  detect::Settings settings;
  settings.alpha = detect::alpha_of_budget(1, options.series);
  settings.prior_pair_sd = options.prior_pair_sd;
  auto rules = detection_rules(settings, fewest_processes(comparisons), options.learning);
  if (options.only_ours) rules.resize(1);
  return rules;
}

std::vector<Row> rows_of(const Options& options, const Comparisons& comparisons,
                         const std::vector<Rule>& rules) {
  const std::vector<double> changes{0, 0.035, 0.05, 0.07, 0.085, 0.10, 0.15, 0.20, 1 / 1.10 - 1};
  std::vector<Row> rows;
  const auto judge = [&](const char* name, double change, const Sampling& sampling) {
    const Seed seed{options.seed, static_cast<std::uint32_t>(rows.size())};
    rows.push_back({name, change, judge_all(rules, sampling, seed, options.threads)});
  };
  for (const double change : changes) {
    judge("chronological", change, chronological(comparisons, 1 + change));
    const long count = change == 0 ? options.comparisons : options.comparisons_changed;
    judge("resampled", change, resampled(comparisons, 1 + change, count));
  }
  return rows;
}

DetectionReport report_of(const Options& options, const Comparisons& comparisons) {
  DetectionReport report;
  report.file = options.file;
  report.seed = options.seed;
  report.series = options.series;
  report.comparisons = comparisons.drawn_from.front().comparisons.size();
  report.runs_of_one_workload = comparisons.drawn_from.front().runs.size();
  for (const auto& series : comparisons.drawn_from) report.workloads.push_back(series.workload);
  report.rules = rules_of(options, comparisons);
  report.rows = rows_of(options, comparisons, report.rules);
  return report;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Error rates, power and cost of detection rules on recorded noise");
  describe(app, options);
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  const auto comparisons = read_comparisons(options);
  if (!comparisons) {
    std::fprintf(stderr, "experiment_detection: %s\n", comparisons.error().message.c_str());
    return 2;
  }
  const auto report = report_of(options, *comparisons);
  if (options.json) {
    std::printf("%s\n", to_json(report).dump(2).c_str());
  } else {
    print(report);
  }
}
