#pragma once

#include <cstdint>

namespace torchwatch::detect {

/// What counts as a change. Changes are candidate / baseline - 1.
struct Settings {
  double threshold = 0.07;          ///< the size of change that must be found
  double gate = 0.06;               ///< the estimate must reach this; lies below the threshold
  double operator_threshold = 0.2;  ///< the threshold of an operator's time
  double confidence = 0.99;         ///< confidence of the printed intervals
  double alpha = 1e-5;              ///< chance of confirming an unchanged series, before screening
  /// Expected spread of one pair's log-ratio before anything is measured, the same for all series
  /// with a threshold of 7 %; with another one in proportion.
  /// A spread learned from a series' earlier comparisons took more runs (see the README).
  double prior_pair_sd = 0.03;
  int screen_pairs_min = 2;
  int screen_pairs_max = 24;
  int confirm_pairs_min = 12;
  int confirm_pairs_max = 60;
  double noise_floor = 0.003;                   ///< least assumed spread of one pair's log-ratio
  std::int64_t memory_floor_bytes = 1 << 20;    ///< allocator peaks must also grow by this
  std::int64_t resident_floor_bytes = 4 << 20;  ///< resident peaks must also grow by this
  std::int64_t growth_floor_bytes = 64;         ///< per iteration
  std::int64_t heap_growth_floor_bytes = 1024;  ///< per iteration
  std::int64_t retained_floor_bytes = 64 << 10;
  double exact_threshold = 0.02;             ///< of a series whose runs of one build are all equal
  std::int64_t exact_floor_bytes = 1 << 20;  ///< the least growth of such a series that counts
  double output_tolerance = 1e-3;  ///< how far outputs of builds may differ, of their size
  int memory_runs = 3;             ///< fresh runs a side behind a memory or leak verdict
};

/// Returns the alpha that keeps false incidents below a yearly budget when `series` series are
/// judged in each nightly. Screening lowers the rate further. Both arguments must be positive.
double alpha_of_budget(double false_incidents_per_year, int series);

/// Returns the settings with the threshold and the floor of exact series in the place of the
/// others.
Settings settings_of_exact(Settings);

/// Returns the settings with the threshold of an operator's time in the place of the others.
Settings settings_of_operator(Settings);

}  // namespace torchwatch::detect
