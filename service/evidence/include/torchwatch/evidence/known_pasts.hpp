#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "torchwatch/runs/past_values.hpp"

namespace torchwatch::evidence {

/// Answers with the pasts of series. Each takes some 4 microseconds a nightly to read: those that
/// were asked for last are kept until a verdict is stored. Thread-safe.
class KnownPasts {
 public:
  using Values = std::shared_ptr<const std::vector<storage::PastValue>>;

  /// Keeps at most that number of series, each of its newest `nightlies`: 0.2 MB a
  /// thousand of them.
  explicit KnownPasts(storage::Database& database, std::size_t series = 16, int nightlies = 4'000)
      : database_(database), series_(series), nightlies_(nightlies) {}

  /// Returns the newest values of a series in nightly comparisons, oldest first. Errors: those of
  /// storage.
  Result<Values> of(const Series&);

 private:
  struct Known {
    Series series = {};
    std::optional<storage::Id> until = {};  ///< the newest verdict when they were read
    Values values = {};
  };
  using Nightlies = std::shared_ptr<const std::vector<storage::Nightly>>;

  /// Every nightly until now; reads those alone that are new.
  Result<Nightlies> nightlies();
  /// Null: they are not known.
  Values known_of(const Series&, std::optional<storage::Id> until);
  void keep(Known);

  storage::Database& database_;
  const std::size_t series_;
  const int nightlies_;
  std::mutex mutex_;
  std::list<Known> known_;  ///< that which was asked for last comes first
  Nightlies known_nightlies_ = std::make_shared<std::vector<storage::Nightly>>();
};

}  // namespace torchwatch::evidence
