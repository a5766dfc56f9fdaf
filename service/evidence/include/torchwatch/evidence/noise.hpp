#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/detect/settings.hpp"
#include "torchwatch/runs/run_store.hpp"

namespace torchwatch::evidence {

/// How much a series differs from run to run of one and the same build.
struct Noise {
  std::size_t pairs = 0;  ///< runs of one build that followed one another
  double spread = 0;      ///< of a pair's ratio, robust: a share of the value
  /// The least ratio - 1 that nine comparisons of ten would call regressed, as
  /// detect::estimate_minimum_detectable_effect simulates it from these pairs; nothing where a
  /// doubling would not be found, and for metrics other than time.
  std::optional<double> minimum_detectable_effect = {};
};

/// Returns the noise in the values of a series, oldest first, as comparisons with these settings
/// see it; nothing where fewer than four pairs show it. A simulation, which takes a second at most.
/// Pure.
std::optional<Noise> noise_of(const Series&, const std::vector<storage::RunValue>&,
                              const detect::Settings&);

/// Answers for the noise of series, each simulated once for its newest run. Thread-safe: one caller
/// simulates at a time.
class NoiseFigures {
 public:
  /// Returns by which settings the next comparison judges a series.
  using SettingsOf = std::function<Result<detect::Settings>(const Series&)>;

  /// The database must outlive it.
  NoiseFigures(storage::Database& database, SettingsOf settings_of)
      : database_(database), settings_of_(std::move(settings_of)) {}

  /// Errors: those of storage.
  Result<std::optional<Noise>> of(const Series&);

 private:
  struct Known {
    storage::Id newest_run = 0;
    double alpha = 0;
    std::optional<Noise> noise = {};
  };

  storage::Database& database_;
  SettingsOf settings_of_;
  std::mutex mutex_;
  std::map<Series, Known> known_;
};

}  // namespace torchwatch::evidence
