// What one comparison's judging costs in processor time: the decisions of screening and confirming
// on the comparison's runs, for every series of a suite. The history of the series, which detectors
// of change points analyse anew each comparison, is written for them. `--help` lists the options.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "command_line.hpp"
#include "processor_time.hpp"
#include "series_comparison.hpp"
#include "simulated_series.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;

struct Options {
  std::string file;
  std::string history;
  std::uint64_t seed = 20260101;
  int series = 84 * 4 * 3;
  int comparisons = 365;
  int passes = 20;
};

void describe(CLI::App& app, Options& options) {
  app.add_option("NOISE.csv", options.file, "recording whose comparisons make up the series")
      ->required();
  app.add_option("--history", options.history,
                 "write the series here: one a line, a value a comparison, with commas between");
  app.add_option("--seed", options.seed, "of everything drawn")->capture_default_str();
  app.add_option("--series", options.series, "how many")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--comparisons", options.comparisons, "of history")
      ->capture_default_str()
      ->check(CLI::Range(2, 100'000));
  app.add_option("--passes", options.passes, "how often the comparison is judged")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
}

/// Every tenth series has one change, of this size.
constexpr int kSeriesOfOneChange = 10;
constexpr double kSlowdown = 1.10;

/// A series: its history, and the runs that the comparison of its judging takes one after the
/// other.
struct JudgedSeries {
  std::vector<double> history;
  double slowdown = 1;
  std::vector<double> screening;
  std::vector<double> confirming;
};

std::vector<double> drawn_history(const experiments::Series& series, int comparisons,
                                  double slowdown, Random& random) {
  std::uniform_int_distribution<std::size_t> comparison(0, series.comparisons.size() - 1);
  const int change = std::uniform_int_distribution<>(1, comparisons - 1)(random);
  std::vector<double> history;
  for (int i = 0; i < comparisons; ++i) {
    history.push_back(series.comparison_values[comparison(random)] * (i < change ? 1 : slowdown));
  }
  return history;
}

/// As many runs as the settings can ask for, in recorded order.
std::vector<double> runs_for(int pairs, const experiments::Series& series, Random& random) {
  RunsElsewhere next(series, {}, random);
  std::vector<double> runs;
  for (int i = 0; i < 2 * pairs; ++i) runs.push_back(next());
  return runs;
}

std::vector<JudgedSeries> drawn_suite(const std::vector<experiments::Series>& recorded,
                                      const Options& options, const detect::Settings& settings) {
  Random random(options.seed);
  std::vector<JudgedSeries> suite;
  for (int i = 0; i < options.series; ++i) {
    const auto& series = recorded[static_cast<std::size_t>(i) % recorded.size()];
    const double slowdown = i % kSeriesOfOneChange == 0 ? kSlowdown : 1;
    auto history = drawn_history(series, options.comparisons, slowdown, random);
    auto screening = runs_for(settings.screen_pairs_max, series, random);
    auto confirming = runs_for(settings.confirm_pairs_max, series, random);
    suite.push_back({std::move(history), slowdown, std::move(screening), std::move(confirming)});
  }
  return suite;
}

/// What one pass over the suite decided, so that no decision is left out as unused.
struct Pass {
  double processor_s = 0;
  long runs = 0;
  long regressed = 0;
};

/// All series as the comparison judges them: each changed one on the comparison of its change.
Pass judge_suite(const std::vector<JudgedSeries>& suite, const detect::Settings& settings) {
  Pass pass;
  const double start = processor_seconds();
  for (const auto& series : suite) {
    const auto in_turn = [](const std::vector<double>& runs) {
      return [&runs, next = std::size_t{0}]() mutable { return runs[next++]; };
    };
    const auto outcome = detect::judge_simulated_series(
        in_turn(series.screening), in_turn(series.confirming), series.slowdown, settings);
    pass.runs += outcome.runs();
    pass.regressed += outcome.verdict == Verdict::regressed ? 1 : 0;
  }
  pass.processor_s = processor_seconds() - start;
  return pass;
}

Status write_history(const std::vector<JudgedSeries>& suite, const std::string& file) {
  std::ofstream stream(file);
  stream.precision(std::numeric_limits<double>::max_digits10);
  for (const auto& series : suite) {
    const char* separator = "";
    for (const double value : series.history) {
      stream << separator << value;
      separator = ",";
    }
    stream << '\n';
  }
  stream.close();
  if (stream) return {};
  return fail(ErrorCode::unavailable, file + ": cannot be written");
}

Result<nlohmann::json> measure(const Options& options) {
  TW_TRY(const auto recording, test::read_recording(options.file));
  std::vector<experiments::Series> recorded;
  for (const auto& series : recording) recorded.emplace_back(series, recorded.size());
  detect::Settings settings;
  settings.alpha = detect::alpha_of_budget(1, options.series);
  const auto suite = drawn_suite(recorded, options, settings);
  if (!options.history.empty()) TW_TRY_VOID(write_history(suite, options.history));
  nlohmann::json seconds = nlohmann::json::array();
  Pass pass;
  for (int i = 0; i < options.passes; ++i) {
    pass = judge_suite(suite, settings);
    seconds.push_back(pass.processor_s);
  }
  return nlohmann::json{
      {"seed", options.seed}, {"series", options.series},    {"comparisons", options.comparisons},
      {"runs", pass.runs},    {"regressed", pass.regressed}, {"processor_s", seconds}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Processor time of one comparison's judging; prints JSON");
  describe(app, options);
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  const auto measured = measure(options);
  if (!measured) {
    std::fprintf(stderr, "experiment_judging_cost: %s\n", measured.error().message.c_str());
    return 2;
  }
  std::printf("%s\n", measured->dump(2).c_str());
}
