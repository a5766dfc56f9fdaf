#pragma once

#include <span>
#include <vector>

/// How other services decide that a series has changed, written anew from their sources, so that
/// they can be compared with ours on the same data. Pure functions of times; more is slower.
namespace torchwatch::experiments {

enum class Flag { none, slower, faster, undecided };

/// TorchBench's nightly: one value against one, a change counts beyond 7 %. Its values are medians
/// of ten iterations. pytorch/benchmark: userbenchmark/test_bench/regression_detector.py.
Flag torchbench(double before, double now);

inline constexpr std::size_t kRustcPerfHistory = 30;  ///< results before the two compared

/// rustc-perf: a change counts from Q3 + 3 IQR of the changes between neighbours in the history on
/// (0.2 % when the history is shorter than 30), with quartiles as it takes them.
/// rust-lang/rustc-perf 169b07b: site/src/comparison.rs. `history` newest first.
Flag rustc_perf(std::span<const double> history, double before, double now);

inline constexpr std::size_t kPredictionHistory = 30;

/// A new value outside the interval that Student's t predicts for it from the history, 1 % beyond
/// either end; what Bencher's t-test threshold means to be (bencherdev/bencher:
/// lib/bencher_boundary). Needs two values of history.
Flag t_prediction(std::span<const double> history, double now);

inline constexpr std::size_t kPerfherderForeWindow = 12;  ///< values from the change on

/// Perfherder: for every push the t between up to 24 values before and 12 from it on, both weighted
/// towards it; a change where t exceeds 7, is greatest among its neighbours, and the means differ
/// by 2 %. mozilla/treeherder: perfalert/__init__.py, perf/alerts.py and its default settings.
/// `pushes` hold their values in order of time; the answer has one flag a push.
std::vector<Flag> perfherder(std::span<const std::vector<double>> pushes);

}  // namespace torchwatch::experiments
