#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::traces {

/// What one operator or kernel took in a trace.
struct SelfTime {
  std::int64_t calls = 0;
  double self_us = 0;  ///< without what it calls, in microseconds
};
using SelfTimes = std::map<std::string, SelfTime>;  ///< by name

/// Adds up a Chrome trace by name, each row of it (process and thread, or a GPU's stream) by
/// itself. The iteration as a whole, which has no category, counts as nothing. Pure. Errors:
/// corrupt, for anything else.
Result<SelfTimes> self_times_in(std::string_view trace);

/// One name in two traces.
struct SelfTimeChange {
  std::string name;
  SelfTime before;  ///< no calls: not in that trace
  SelfTime after;
  double difference_us() const { return after.self_us - before.self_us; }
};
/// Returns all names of both, the largest difference first, whichever way it goes. Pure.
std::vector<SelfTimeChange> changes_between(const SelfTimes& before, const SelfTimes& after);

/// Adds up kept traces and remembers the newest sums, as traces never change. Thread-safe.
class SelfTimeReader {
 public:
  /// Reads a kept trace of at most 8 MiB, which are at most 24 MiB when
  /// decompressed. Errors: not_found; corrupt;
  /// invalid (larger).
  Result<std::shared_ptr<const SelfTimes>> of(const std::filesystem::path& file);

 private:
  std::mutex mutex_;
  std::map<std::filesystem::path, std::shared_ptr<const SelfTimes>> known_;
};

}  // namespace torchwatch::traces
