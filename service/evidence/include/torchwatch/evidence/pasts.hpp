#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "torchwatch/runs/past_values.hpp"

namespace torchwatch::evidence {

/// Answers with the pasts of series. What all of them share is read once: which nightlies there
/// were, some 0.1 MB a thousand. Thread-safe.
class Pasts {
 public:
  /// `limit`: of how many nightlies, the newest, a series has values.
  explicit Pasts(storage::Database& database, std::size_t limit = 4'000)
      : database_(database), limit_(limit) {}

  /// Returns the newest values of a series in nightly comparisons, oldest first. Errors: those of
  /// storage.
  Result<std::vector<storage::PastValue>> of(const Series&);

 private:
  using Nightlies = std::shared_ptr<const std::vector<storage::Nightly>>;

  /// Every nightly until now; reads those alone that are new.
  Result<Nightlies> nightlies();

  storage::Database& database_;
  const std::size_t limit_;
  std::mutex mutex_;
  Nightlies known_ = std::make_shared<std::vector<storage::Nightly>>();
};

}  // namespace torchwatch::evidence
