#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace torchwatch::runner {

/// One call of an operator, by the monotonic clock; calls within it lie within its time.
struct OperatorCall {
  std::string name = {};
  std::uint64_t thread = 0;  ///< LibTorch's own number of it
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// What was called while some work ran.
struct OperatorCalls {
  std::vector<OperatorCall> calls = {};  ///< in the order of their ends
  std::size_t left_out = 0;              ///< that came after as many as are kept
  std::int64_t begin_ns = 0;             ///< of the work
  std::int64_t end_ns = 0;               ///< of the work
};

/// Notes each call of an operator while `work` runs, on every thread, the first `calls_max` of
/// them. Noting costs time, so durations are not those of an unwatched run. Not reentrant. Throws
/// what the work throws.
OperatorCalls operators_timed(const std::function<void()>& work, std::size_t calls_max);

}  // namespace torchwatch::runner
