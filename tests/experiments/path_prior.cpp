// Whether a search needs fewer builds when it knows in which folders culprits of the past lay, on
// days with as many commits, and as many of them of native code, as PyTorch's had. `--help` lists
// the options.

#include "torchwatch/bisect/path_prior.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "day_pairs.hpp"
#include "pair_rules.hpp"
#include "search_score.hpp"
#include "searched_day.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;

struct Options {
  std::string days;
  std::vector<int> known{0, 5, 20, 100};
  double folded = 0.3;
  double both = 0.5;
  double unusual = 0;
  std::optional<double> unusual_today = {};
  double change = 0.07;
  double spread = 0.015;
  double unbuildable = 0.05;
  std::size_t builders = 1;
  std::size_t least = 8;
  bisect::SearchSettings settings;
  std::uint64_t seed = 1;
  int trials = 1000;
  Waits waits;
};

void describe(CLI::App& app, Options& options) {
  const auto share = CLI::Range(0.0, 1.0);
  app.add_option("DAYS.csv", options.days, "date, commits, commits that change native code")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--known", options.known, "past searches that named their culprit; repeatable")
      ->capture_default_str()
      ->check(CLI::Range(0, 10'000));
  app.add_option("--folded", options.folded, "share of the other commits that cannot be one at all")
      ->capture_default_str()
      ->check(share);
  app.add_option("--both", options.both, "share of the native ones that change others' folders too")
      ->capture_default_str()
      ->check(share);
  app.add_option("--unusual", options.unusual, "share of the culprits outside native code")
      ->capture_default_str()
      ->check(share);
  app.add_option("--unusual-today", options.unusual_today, "the same, of those searched for alone")
      ->check(share);
  app.add_option("--change", options.change, "what a culprit adds")->capture_default_str();
  app.add_option("--spread", options.spread, "of pairs")->capture_default_str();
  app.add_option("--unbuildable", options.unbuildable)->capture_default_str()->check(share);
  app.add_option("--builders", options.builders)->capture_default_str()->check(CLI::Range(1, 64));
  app.add_option("--least", options.least, "commits of a day that is searched")
      ->capture_default_str()
      ->check(CLI::Range(2, 1000));
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--trials", options.trials, "days a row")->capture_default_str();
}

/// How many commits a day has that can be a culprit, and how many of those are of native code.
struct Counts {
  std::size_t commits = 0;
  std::size_t native = 0;
};

std::vector<Counts> read_days(const Options& options) {
  std::ifstream file(options.days);
  std::vector<Counts> days;
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    std::string date;
    Counts day;
    fields >> date >> day.commits >> day.native;
    const auto others = static_cast<double>(day.commits - day.native);
    day.commits = day.native + static_cast<std::size_t>(std::lround(others * (1 - options.folded)));
    if (day.commits >= options.least && day.native > 0) days.push_back(day);
  }
  return days;
}

/// A day with one culprit, and the folders that its commits change.
struct KnownDay {
  Day day;
  std::vector<bisect::Folders> folders;
  std::size_t culprit = 0;
};

/// A day is as likely as it has commits of the culprit's kind.
KnownDay draw(const std::vector<Counts>& days, double unusual, const Options& options,
              std::mt19937_64& random) {
  const bool is_unusual = std::bernoulli_distribution(unusual)(random);
  std::vector<double> chances;
  for (const auto& day : days) {
    chances.push_back(static_cast<double>(is_unusual ? day.commits - day.native : day.native));
  }
  const auto& counts =
      days[std::discrete_distribution<std::size_t>(chances.begin(), chances.end())(random)];
  KnownDay drawn{draw_day({counts.commits, 0, 0, options.unbuildable}, random), {}, 0};
  std::vector<char> is_native(counts.commits, 0);
  std::fill_n(is_native.begin(), counts.native, 1);
  std::shuffle(is_native.begin(), is_native.end(), random);
  std::vector<std::size_t> possible;
  for (std::size_t commit = 0; commit < counts.commits; ++commit) {
    bisect::Folders folders;
    if (is_native[commit]) folders.insert("aten/src");
    if (!is_native[commit] || std::bernoulli_distribution(options.both)(random)) {
      folders.insert("torch/nn");
    }
    drawn.folders.push_back(std::move(folders));
    if ((is_native[commit] != 0) != is_unusual) possible.push_back(commit);
    if (!is_native[commit]) drawn.day.idle.insert(commit);
  }
  drawn.culprit =
      possible[std::uniform_int_distribution<std::size_t>(0, possible.size() - 1)(random)];
  drawn.day.idle.erase(drawn.culprit);
  drawn.day.steps[drawn.culprit] = std::log1p(options.change);
  return drawn;
}

/// The same days whatever is known of earlier ones.
SearchScore score_of(const std::vector<Counts>& days, int known, const Options& options) {
  const auto noise = normal_pairs(options.spread, 0);
  bisect::SearchSeries series;
  series.noise_sd = options.spread;
  series.build_sd = bisect::kBuildSpreadOfTimes;
  SearchScore score;
  for (int number = 0; number < options.trials; ++number) {
    std::seed_seq sequence{options.seed, static_cast<std::uint64_t>(number)};
    std::mt19937_64 random(sequence);
    const auto today = draw(days, options.unusual_today.value_or(options.unusual), options, random);
    bisect::PathPrior prior;
    std::seed_seq past_sequence{options.seed + 1, static_cast<std::uint64_t>(number)};
    std::mt19937_64 past_random(past_sequence);
    for (int past = 0; past < known; ++past) {
      const auto searched = draw(days, options.unusual, options, past_random);
      prior.learn(searched.folders, searched.culprit);
    }
    DayPairs pairs(today.day, noise.runs, bisect::kBuildSpreadOfTimes, random);
    auto result = search_day(
        options.settings, series, options.builders, pairs,
        [&](const bisect::Measure& measure) { return pairs.carry_out(measure); },
        prior.weights(today.folders));
    result.runs = pairs.runs();
    score.count(today.day, result);
  }
  return score;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Whether folders of past culprits save a search builds");
  describe(app, options);
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  const auto days = read_days(options);
  if (days.empty()) {
    std::fprintf(stderr, "experiment_path_prior: %s has no day with %zu commits\n",
                 options.days.c_str(), options.least);
    return 2;
  }
  std::printf("%d days a row, seed %llu; per cent with 95 %% intervals\n\n%s", options.trials,
              static_cast<unsigned long long>(options.seed), table_head().c_str());
  for (const int known : options.known) {
    const auto day = std::to_string(known) + " culprits known";
    std::printf(
        "%s", table_row(day, "torchwatch", score_of(days, known, options), options.waits).c_str());
    std::fflush(stdout);
  }
  return 0;
}
