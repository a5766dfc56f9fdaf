// How often the search names the right commit, and what it costs, on simulated days.
// Usage: benchmark_culprit_search [trials] [seed] [part of a row's name, as in "+7 % | noisy"]

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "simulated_search.hpp"

namespace {

using namespace torchwatch::bisect;
using namespace torchwatch::test;

struct World {
  const char* name;
  SimulatedNoise noise;
};

struct Scenario {
  std::string name;
  double effect = 0;  ///< as a ratio, 1.10 = ten per cent slower
  int culprits = 1;
  double unbuildable = 0;  ///< share of the classes, in stretches of 1 to 4
  std::size_t classes = 40;
};

struct Score {
  int exact = 0;     ///< every culprit, as precisely as the broken builds allow, and nobody else
  int contains = 0;  ///< nobody else, but less precise or not every culprit
  int wrong = 0;     ///< somebody innocent
  int none = 0;      ///< no culprit, or only suspects
  int covered = 0;   ///< the true effect lies in the stated interval
  int intervals = 0;
  std::vector<int> builds;
  std::vector<int> runs;
};

SimulatedDay make_day(const Scenario& scenario, const SimulatedNoise& noise,
                      std::mt19937_64& random) {
  SimulatedDay day{scenario.classes, {{}}, {}, noise};
  const auto any = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  };
  while (day.steps[0].size() < static_cast<std::size_t>(scenario.culprits)) {
    day.steps[0][any(day.classes)] = std::log(scenario.effect);
  }
  const double wanted = scenario.unbuildable * static_cast<double>(day.classes);
  while (static_cast<double>(day.unbuildable.size()) < wanted) {
    const std::size_t start = any(day.classes);
    const std::size_t length = 1 + any(4);
    for (std::size_t i = start; i < std::min(start + length, day.classes - 1); ++i) {
      day.unbuildable.insert(i);
    }
  }
  return day;
}

/// The classes that no measurement can tell from the culprit.
std::vector<std::size_t> smallest_set(const SimulatedDay& day, std::size_t culprit) {
  std::size_t first = culprit;
  while (first > 0 && day.unbuildable.contains(first - 1)) --first;
  std::size_t last = culprit;
  while (day.unbuildable.contains(last)) ++last;
  std::vector<std::size_t> classes;
  for (std::size_t i = first; i <= last; ++i) classes.push_back(i);
  return classes;
}

void count(Score& score, const SimulatedDay& day, const Answer& answer) {
  std::size_t right = 0;
  bool precise = true;
  bool wrong = false;
  for (const auto& culprit : answer.culprits) {
    const auto holds = [&](const auto& step) {
      return std::count(culprit.classes.begin(), culprit.classes.end(), step.first) > 0;
    };
    const auto truth = std::find_if(day.steps[0].begin(), day.steps[0].end(), holds);
    if (truth == day.steps[0].end()) {
      wrong = true;
      continue;
    }
    ++right;
    precise = precise && culprit.classes == smallest_set(day, truth->first);
    ++score.intervals;
    const auto& effect = culprit.effects.front();
    if (effect.low <= truth->second && truth->second <= effect.high) ++score.covered;
  }
  if (wrong) {
    ++score.wrong;
  } else if (right == day.steps[0].size() && precise) {
    ++score.exact;
  } else if (right > 0) {
    ++score.contains;
  } else {
    ++score.none;
  }
  score.builds.push_back(answer.builds);
  score.runs.push_back(answer.runs);
}

double mean(const std::vector<int>& values) {
  double sum = 0;
  for (const int value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

int at_95(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 95 / 100];
}

/// "99.2 % (98.7-99.5)", with the exact 95 % interval.
std::string share(int hits, int trials) {
  using Binomial = boost::math::binomial_distribution<>;
  const double low = Binomial::find_lower_bound_on_p(trials, hits, 0.025);
  const double high = Binomial::find_upper_bound_on_p(trials, hits, 0.025);
  char text[64];
  std::snprintf(text, sizeof text, "%5.1f (%.1f-%.1f)", 100.0 * hits / trials, 100 * low,
                100 * high);
  return text;
}

Score measure(const Scenario& scenario, const World& world, int trials, std::uint64_t seed) {
  Score score;
  for (int trial = 0; trial < trials; ++trial) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(trial));
    SimulatedRuns runs(make_day(scenario, world.noise, random), random());
    SearchTarget target;
    target.noise_sd = std::sqrt(2.0) * world.noise.run_sd;
    target.build_sd = world.noise.build_sd;
    auto search = CulpritSearch::create({}, {target}, scenario.classes).value();
    count(score, runs.day(), run_to_end(search, runs).answer);
  }
  return score;
}

void print(const Scenario& scenario, const World& world, const Score& score, int trials) {
  std::printf("| %s | %s | %s | %s | %s | %s | %s | %.1f | %.0f | %d |\n", scenario.name.c_str(),
              world.name, share(score.exact, trials).c_str(), share(score.contains, trials).c_str(),
              share(score.wrong, trials).c_str(), share(score.none, trials).c_str(),
              score.intervals > 0 ? share(score.covered, score.intervals).c_str() : "-",
              mean(score.builds), mean(score.runs), at_95(score.runs));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 1000;
  const auto seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1ULL;
  const std::string wanted = argc > 3 ? argv[3] : "";
  if (trials < 1) {
    std::fprintf(stderr, "usage: benchmark_culprit_search [trials] [seed] [part of a name]\n");
    return 2;
  }
  const std::vector<World> worlds{{"quiet", {0.005, 0.01}},
                                  {"typical", {0.02, 0.02}},
                                  {"shared", {0.015, 0.03}},
                                  {"noisy", {0.05, 0.05}},
                                  {"typical, 1 % a build", {0.02, 0.02, 0.12, 0.01}}};
  const std::vector<Scenario> scenarios{{"+7 %", 1.07},
                                        {"+10 %", 1.10},
                                        {"+10 %, 100 classes", 1.10, 1, 0, 100},
                                        {"+10 %, 10 % unbuildable", 1.10, 1, 0.1},
                                        {"+10 %, 30 % unbuildable", 1.10, 1, 0.3},
                                        {"two of +7 %", 1.07, 2},
                                        {"none", 1.0, 0}};
  std::printf("%d trials each, seed %llu; per cent with 95 %% intervals\n\n", trials, seed);
  std::printf(
      "| day | noise | exact | contains | wrong blame | no answer | 99 %% interval holds | "
      "builds | runs | runs, 95 %% |\n|-|-|-|-|-|-|-|-|-|-|\n");
  for (const auto& scenario : scenarios) {
    for (const auto& world : worlds) {
      if ((scenario.name + " | " + world.name).find(wanted) == std::string::npos) continue;
      print(scenario, world, measure(scenario, world, trials, seed), trials);
    }
  }
  return 0;
}
