#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::orders {

/// Reads a descriptor line by line.
class Lines {
 public:
  /// `descriptor` stays the caller's. When `stop` is requested no more lines come.
  Lines(int descriptor, const std::stop_token& stop);

  /// Waits for the next line and returns it without its end; nothing once there are no more.
  /// Errors: invalid (a line longer than an order).
  Result<std::optional<std::string>> next();

 private:
  bool read_more();

  int descriptor_;
  std::string read_;
  UniqueFd stopped_;  ///< can be read once `stop` is requested
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace torchwatch::orders
