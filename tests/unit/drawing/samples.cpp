#include "samples.hpp"

#include <cmath>
#include <cstdint>

using namespace torchwatch;
using namespace torchwatch::drawing;

namespace {

/// The same numbers between 0 and 1 on every machine.
class Numbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 40U) / static_cast<double>(1U << 24U);
  }
  /// Around 0, mostly within 1.
  double bell() { return next() + next() + next() + next() - 2; }

 private:
  std::uint64_t state_ = 42;
};

StripRun run_of(Numbers& numbers, Side side, bool is_confirmation) {
  constexpr std::size_t kSamples = 20;
  const double middle = side == Side::baseline ? 2.104e6 : 2.363e6;
  StripRun run{.side = side, .is_confirmation = is_confirmation, .samples = {}, .median = middle};
  run.median = middle * (1 + 0.006 * numbers.bell());
  for (std::size_t i = 0; i < kSamples; ++i) {
    run.samples.push_back(std::round(run.median * (1 + 0.02 * numbers.bell())));
  }
  return run;
}

std::string day(int number) {
  return (number < 10 ? "2026-11-0" : "2026-11-") + std::to_string(number);
}

}  // namespace

SampleStrips sample_strips() {
  SampleStrips strips{.title = "resnet18 cpu-train time",
                      .baseline = "2026-11-19",
                      .candidate = "2026-11-20",
                      .ratio = 1.123,
                      .interval = Interval{1.111, 1.136}};
  Numbers numbers;
  for (const bool is_confirmation : {false, true}) {
    for (int block = 0; block < (is_confirmation ? 2 : 1); ++block) {
      for (const auto side : {Side::baseline, Side::candidate, Side::candidate, Side::baseline}) {
        strips.runs.push_back(run_of(numbers, side, is_confirmation));
      }
    }
  }
  strips.runs[1].samples[7] = 9.9e6;  // one sample that would make all others a line
  return strips;
}

ForestPlot sample_forest() {
  return {
      .title = "What changed in 2026-11-20",
      .metric = Metric::time,
      .rows = {
          {"resnet18 cpu-train time", 1.123, Interval{1.111, 1.136}, Verdict::regressed,
           "series/1"},
          {"nvidia_deeprecommender cpu-train time", 1.084, Interval{1.062, 1.107},
           Verdict::regressed, "series/2"},
          {"soft_actor_critic cpu-train time", 1.03, Interval{0.93, 1.16}, Verdict::inconclusive,
           "series/3"},
          {"dlrm cpu-infer time", 1.001, Interval{0.992, 1.011}, Verdict::unchanged, "series/4"},
          {"tts_angular cpu-infer time", 0.902, Interval{0.884, 0.919}, Verdict::improved,
           "series/5"},
      }};
}

ForestPlot sample_differences() {
  return {.title = "2026-11-20, B against A",
          .metric = Metric::time,
          .rows = {{.label = "dlrm cpu-infer", .ratio = 0.52, .interval = Interval{0.498, 0.541}},
                   {.label = "nvidia_deeprecommender cpu-train",
                    .ratio = 0.87,
                    .interval = Interval{0.8, 0.95},
                    .link = "series/2"},
                   {.label = "resnet18 cpu-train", .ratio = 1.04}},
          .confidence = 0.95,
          .has_verdicts = false,
          .mean = ForestRow{.label = "geometric mean of 3", .ratio = 0.778}};
}

MemoryLevels sample_memory() {
  MemoryLevels memory{.title = "tts_angular cpu-train leak_growth",
                      .baseline = "2026-11-19",
                      .candidate = "2026-11-20",
                      .baseline_slope = 0,
                      .candidate_slope = 4096};
  constexpr double kLevel = 61.5 * 1024 * 1024;
  for (int i = 0; i < 40; ++i) {
    memory.baseline_bytes.push_back(kLevel + (i % 2) * 1024);
    memory.candidate_bytes.push_back(kLevel + 8192 + 4096 * i + (i % 3) * 2048);
  }
  return memory;
}

History sample_history() {
  History history{.title = "resnet18 cpu-train time", .metric = Metric::time};
  Numbers numbers;
  for (int i = 1; i <= 28; ++i) {
    if (i == 9) continue;  // a nightly that did not come
    const double value = (i < 20 ? 2.104e6 : 2.363e6) * (1 + 0.008 * numbers.bell());
    history.points.push_back({.build = day(i),
                              .time = day(i) + "T02:10:00Z",
                              .value = std::round(value),
                              .interval = Interval{value * 0.988, value * 1.013},
                              .runs = i == 20 ? 24U : 4U,
                              .verdict = i == 20 ? Verdict::regressed : Verdict::unchanged,
                              .link = "comparisons/" + std::to_string(i)});
    history.marks.push_back({MarkKind::build, day(i) + "T02:10:00Z", day(i), ""});
  }
  history.marks.push_back({MarkKind::environment, day(6), "kernel 6.1.0-25 to 6.1.0-26", ""});
  history.marks.push_back({MarkKind::self_test, day(14), "no false alarm", ""});
  history.marks.push_back({MarkKind::incident, day(20), "12.3 % slower", "incidents/12"});
  return history;
}

History sample_logarithmic() {
  auto history = sample_history();
  history.is_logarithmic = true;
  history.drift = DriftReference{.build = "2026-10-20",
                                 .time = "2026-11-17T05:00:00Z",
                                 .value = 1.98e6,
                                 .link = "comparisons/117"};
  history.points[23].value = 7.1e6;
  history.points[23].interval = Interval{6.9e6, 7.3e6};
  return history;
}

PosteriorSteps sample_posterior() {
  PosteriorSteps steps{.title = "The search for the commit behind incident 12"};
  constexpr std::size_t kCommits = 12;
  for (std::size_t i = 0; i < kCommits; ++i) {
    const std::string sha = "0123456789ab";
    steps.commits.push_back({sha.substr(i) + sha.substr(0, i), "Change number " + std::to_string(i),
                             i == 3 || i == 8 ? CommitState::folded : CommitState::searched,
                             "commit/" + std::to_string(i)});
  }
  steps.commits[5].state = CommitState::unbuildable;
  steps.commits[6].state = CommitState::culprit;
  steps.commits[6].subject = "Copy the index before each gather";
  const auto step = [&](std::optional<std::size_t> probe, double ratio, std::size_t first,
                        std::size_t last, double share) {
    std::vector<double> masses(kCommits, 0.002);
    masses[3] = masses[8] = 0;
    double inside = 0;
    for (auto i = first; i <= last; ++i) inside += masses[i] > 0 ? 1 : 0;
    for (auto i = first; i <= last; ++i) masses[i] = masses[i] > 0 ? share / inside : 0;
    steps.steps.push_back(
        {probe, probe ? std::optional(ratio) : std::nullopt,
         probe ? std::optional(Interval{ratio - 0.012, ratio + 0.014}) : std::nullopt, masses});
  };
  step(std::nullopt, 1, 0, 11, 1.0);
  step(7, 1.121, 0, 7, 0.994);
  step(2, 1.002, 4, 7, 0.986);
  step(4, 0.998, 5, 7, 0.984);
  step(6, 1.126, 6, 6, 0.9962);
  return steps;
}

ProbeStrips sample_probes() {
  ProbeStrips strips{.title = "resnet18 cpu-train time, 0123456789ab to 6789ab012345"};
  Numbers numbers;
  constexpr std::size_t kCommits = 7;
  constexpr std::size_t kBroken = 3;
  constexpr std::size_t kCulprit = 4;
  constexpr std::size_t kValues = 40;
  for (std::size_t i = 0; i < kCommits; ++i) {
    const std::string sha = "0123456789ab";
    auto& commit = strips.commits.emplace_back(ProbedCommit{.sha = sha.substr(i) + sha.substr(0, i),
                                                            .link = "commit/" + std::to_string(i)});
    if (i == kBroken) {
      commit.state = CommitState::unbuildable;
      continue;
    }
    if (i == kCulprit) commit.state = CommitState::culprit;
    const double middle = i < kCulprit ? 2.104e6 : 2.363e6;
    for (std::size_t value = 0; value < kValues; ++value) {
      commit.values.push_back(std::round(middle * (1 + 0.02 * numbers.bell())));
    }
  }
  strips.commits[1].values[7] = 9.9e6;  // one value that would make all others a line
  return strips;
}

HeatMap sample_heat_map() {
  using enum Verdict;
  return {
      .title = "2026-11-20 against 2026-11-19",
      .configurations = {"cpu-train", "cpu-infer", "cuda-train", "cuda-infer"},
      .rows =
          {
              {"resnet18",
               "computer vision",
               {{regressed, 1.123, true, "s/1"},
                {unchanged, 1.004},
                {regressed, 1.31, true, "s/2"},
                {unchanged, 0.996}},
               "m/resnet18"},
              {"mnasnet1_0",
               "computer vision",
               {{unchanged, 1.012}, {unchanged, 0.989}, {improved, 0.921, true}, {unsupported}},
               "m/mnasnet"},
              {"nvidia_deeprecommender",
               "recommendation",
               {{regressed, 1.084, true}, {inconclusive, 1.061}, {improved, 0.84, true}, {failed}},
               ""},
              {"dlrm", "recommendation", {{unchanged, 1.0}, {unchanged, 1.001}, {}, {}}, ""},
              {"soft_actor_critic",
               "reinforcement learning",
               {{inconclusive, 1.03}, {unchanged, 1.002}, {regressed, 6.8, true}, {unsupported}},
               ""},
          },
      .is_by_domain = true};
}

SmallMultiples sample_multiples() {
  SmallMultiples multiples{.title = "cpu-train: the past of each model"};
  Numbers numbers;
  const auto add = [&](const std::string& label, double middle, double step, Verdict verdict) {
    SmallMultiple one{.label = label, .verdict = verdict, .link = "s/" + label};
    for (int i = 0; i < 30; ++i) {
      const double value = middle * (i < 29 ? 1 : step) * (1 + 0.006 * numbers.bell());
      one.values.push_back(i == 12 ? std::nullopt : std::optional(std::round(value)));
    }
    multiples.all.push_back(std::move(one));
  };
  add("resnet18", 2.104e6, 1.123, Verdict::regressed);
  add("mnasnet1_0", 8.9e6, 1.012, Verdict::unchanged);
  add("nvidia_deeprecommender", 41e6, 0.91, Verdict::improved);
  add("dlrm", 730e3, 1, Verdict::unchanged);
  add("soft_actor_critic", 210e3, 1.03, Verdict::inconclusive);
  multiples.all.push_back({.label = "tts_angular", .values = {std::nullopt}});
  return multiples;
}

DeviceShares sample_shares() {
  return {.title = "What the GPU did in training",
          .before = "2026-11-19",
          .after = "2026-11-20",
          .rows = {
              {"resnet18 cuda-train", Shares{0.82, 0.05, 0.13}, Shares{0.71, 0.05, 0.24}, "s/1"},
              {"dlrm cuda-train", Shares{0.31, 0.42, 0.27}, Shares{0.32, 0.41, 0.27}, "s/2"},
              {"soft_actor_critic cuda-train", std::nullopt, Shares{0.09, 0.01, 0.9}, ""},
          }};
}
