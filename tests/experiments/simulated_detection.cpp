// How often the rules of detect cry wolf on simulated noise, how often they find a slowdown in its
// comparison, what that costs in runs, and how often the printed interval holds.
// Usage: experiment_simulated_detection [comparisons] [seed]
// `comparisons` is the number of comparisons a row (default 24000).

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "simulated_series.hpp"
#include "torchwatch/detect/binomial_interval.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::detect;
using Random = std::mt19937_64;

struct Tally {
  int comparisons = 0;
  int regressed = 0;
  int improved = 0;
  int inconclusive = 0;
  int suspected = 0;
  int covered_screen = 0;        ///< of those that screening decided
  int covered = 0;               ///< of those suspected
  int covered_when_changed = 0;  ///< of those called regressed or improved
  long screen_runs = 0;
  long runs = 0;

  void add(const SeriesOutcome& outcome, double slowdown) {
    ++comparisons;
    regressed += outcome.verdict == Verdict::regressed ? 1 : 0;
    improved += outcome.verdict == Verdict::improved ? 1 : 0;
    inconclusive += outcome.verdict == Verdict::inconclusive ? 1 : 0;
    screen_runs += 2 * outcome.screen_pairs;
    runs += outcome.runs();
    const bool covers = outcome.estimate.low <= slowdown && slowdown <= outcome.estimate.high;
    if (!outcome.was_suspected) {
      covered_screen += covers ? 1 : 0;
      return;
    }
    ++suspected;
    const bool is_changed =
        outcome.verdict == Verdict::regressed || outcome.verdict == Verdict::improved;
    covered += covers ? 1 : 0;
    covered_when_changed += covers && is_changed ? 1 : 0;
  }
};

/// "0.41 (0.21-0.72)": per cent with the exact 95 % interval.
std::string rate(int hits, int of) {
  if (of == 0) return "-";
  const auto share = detect::share_of(hits, of);
  char text[100];
  std::snprintf(text, sizeof text, "%.4g (%.3g-%.3g)", 100 * share.rate, 100 * share.low,
                100 * share.high);
  return text;
}

void print_head(const char* title) {
  std::printf("\n%s\n\n", title);
  std::printf(
      "|noise|change|comparisons|regressed %%|improved %%|inconclusive %%|suspected %%|runs "
      "screen|runs "
      "all|interval holds %%: screened|confirmed|change reported|\n|-|-|-|-|-|-|-|-|-|-|-|-|\n");
}

void print_row(const std::string& noise, double slowdown, const Tally& tally) {
  std::printf(
      "|%s|%+.1f %%|%d|%s|%s|%.2f|%.2f|%.1f|%.1f|%s|%s|%s|\n", noise.c_str(), 100 * (slowdown - 1),
      tally.comparisons, rate(tally.regressed, tally.comparisons).c_str(),
      rate(tally.improved, tally.comparisons).c_str(),
      100.0 * tally.inconclusive / tally.comparisons, 100.0 * tally.suspected / tally.comparisons,
      double(tally.screen_runs) / tally.comparisons, double(tally.runs) / tally.comparisons,
      rate(tally.covered_screen, tally.comparisons - tally.suspected).c_str(),
      rate(tally.covered, tally.suspected).c_str(),
      rate(tally.covered_when_changed, tally.regressed + tally.improved).c_str());
  std::fflush(stdout);
}

struct Simulated {
  const char* name;
  std::function<double(Random&)> log_time;
};

double normal(Random& random, double sd) {
  return std::normal_distribution<>(0, sd)(random);
}
bool happens(Random& random, double chance) {
  return std::uniform_real_distribution<>(0, 1)(random) < chance;
}

/// One run's log-time. Spikes as on shared machines; two modes as from the placement of files.
std::vector<Simulated> simulated_noise() {
  const auto plain = [](double sd) { return [sd](Random& random) { return normal(random, sd); }; };
  return {
      {"normal 1 %", plain(0.01)},
      {"normal 2 %", plain(0.02)},
      {"normal 4 %", plain(0.04)},
      {"normal 8 %", plain(0.08)},
      {"normal 16 %", plain(0.16)},
      {"2 %, 5 % spikes of mean 15 %",
       [](Random& random) {
         const double spike =
             happens(random, 0.05) ? std::exponential_distribution<>(1 / 0.15)(random) : 0;
         return normal(random, 0.02) + spike;
       }},
      {"student t, 2 df, scale 2 %",
       [](Random& random) { return 0.02 * std::student_t_distribution<>(2)(random); }},
      {"1 %, two modes 7 % apart",
       [](Random& random) { return normal(random, 0.01) + (happens(random, 0.5) ? 0.07 : 0); }},
  };
}

Tally simulated(const Simulated& noise, double slowdown, int comparisons, Random& random) {
  Tally tally;
  const auto next = [&] { return std::exp(noise.log_time(random)); };
  while (tally.comparisons < comparisons) {
    tally.add(judge_simulated_series(next, next, slowdown, Settings{}), slowdown);
  }
  return tally;
}

/// Confirmation alone, without a screen before it: its own chance to be wrong.
Tally confirmed_alone(const Simulated& noise, double slowdown, int comparisons, Random& random) {
  Tally tally;
  const double shift = std::log(slowdown);
  while (tally.comparisons < comparisons) {
    std::vector<double> log_ratios;
    ConfirmDecision decision = confirm(log_ratios, Settings{});
    while (decision.measure_more) {
      while (static_cast<int>(log_ratios.size()) < decision.pairs_next) {
        log_ratios.push_back(noise.log_time(random) - noise.log_time(random) + shift);
      }
      decision = confirm(log_ratios, Settings{});
    }
    SeriesOutcome outcome;
    outcome.verdict = decision.verdict;
    outcome.was_suspected = true;
    outcome.confirm_pairs = static_cast<int>(log_ratios.size());
    outcome.estimate = decision.estimate;
    tally.add(outcome, slowdown);
  }
  return tally;
}

}  // namespace

int main(int argc, char** argv) {
  const int comparisons = argc > 1 ? std::atoi(argv[1]) : 24'000;
  const auto seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20260101ULL;
  Random random(seed);
  std::printf("comparisons %d, seed %llu\n", comparisons, static_cast<unsigned long long>(seed));
  print_head("Simulated noise, runs independent");
  for (const auto& noise : simulated_noise()) {
    for (const double slowdown : {1.0, 1.035, 1.07, 1.10, 1.15}) {
      print_row(noise.name, slowdown, simulated(noise, slowdown, comparisons, random));
    }
  }
  print_head("Confirmation alone, simulated noise");
  for (const auto& noise : simulated_noise()) {
    for (const double slowdown : {1.0, 1.035}) {
      print_row(noise.name, slowdown, confirmed_alone(noise, slowdown, comparisons, random));
    }
  }
}
