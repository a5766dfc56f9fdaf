#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace torchwatch::caches {

/// Counts the bytes of folders that do not change, each once and in a thread of its own: a tree of
/// LibTorch has ten thousand files, for which no page waits. Thread-safe.
class FolderSizes {
 public:
  FolderSizes();

  /// Returns the bytes of a folder; nothing until they are counted, which the first call begins.
  std::optional<std::int64_t> of(const std::filesystem::path& folder);
  /// Waits until all that was asked for is counted.
  void wait();

 private:
  void count(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, std::optional<std::int64_t>> sizes_;  ///< nothing: asked for
  std::deque<std::string> asked_;                             ///< and not counted
  std::jthread thread_;                                       ///< last: it ends before the others
};

}  // namespace torchwatch::caches
