#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "stores.hpp"

namespace torchwatch::storage {

/// A tracker that is a file: a line is the key of a message, its number that of the issue.
class ToyTracker {
 public:
  explicit ToyTracker(std::filesystem::path file) : file_(std::move(file)) {}

  /// Returns the number of the message's issue, if the tracker has it.
  std::optional<std::int64_t> look_up(const std::string& key) const;
  /// Makes one request: whole or not at all, and never taken back. Returns the number.
  Result<std::int64_t> post(const std::string& key) const;
  /// Returns all its lines.
  std::string text() const;

 private:
  std::filesystem::path file_;
};

/// Where a small comparison leaves its state.
struct ToyState {
  Stores& stores;
  ToyTracker tracker;
};

/// A small comparison through every store, in steps that follow from the stored state alone, so
/// that a new process continues where an earlier one stopped.
class ToyComparison {
 public:
  ToyComparison(Stores& stores, std::filesystem::path tracker)
      : state_{stores, ToyTracker(std::move(tracker))} {}

  static int steps();
  /// Does the steps that are not done yet, and calls `acknowledge` with the number of each.
  Status play(const std::function<void(int)>& acknowledge);
  /// Returns the number of steps that are done.
  Result<int> steps_done() const;

  /// Returns everything that must be equal at the end, whatever happened on the way.
  std::string dump() const;

 private:
  ToyState state_;
};

}  // namespace torchwatch::storage
