#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace torchwatch::runner {

/// Calls and time of an operator, or of what lies outside of all (kOutsideOperators).
struct OperatorTime {
  std::int64_t calls = 0;
  std::int64_t self_ns = 0;  ///< without the operators that it calls
};
using OperatorTimes = std::map<std::string, OperatorTime>;  ///< by name

/// Times each operator that `work` calls, on every thread. The work's own time outside of them is
/// of the thread that calls this; that of watching an operator is in the operator around it. Not
/// reentrant. Throws what the work throws.
OperatorTimes operator_times(const std::function<void()>& work);

/// Bytes of LibTorch's CPU allocator, by operator.
struct OperatorBytes {
  std::int64_t allocated = 0;
  std::int64_t kept = 0;  ///< more live after the work than before it; negative: less
};

/// Attributes the bytes that are given out while `work` runs, once to settle and then `times`
/// times, by operator; what is returned is of all these times together. Operators that only provide
/// memory ("aten::empty") count to their caller. Not reentrant. Throws what the work throws.
std::map<std::string, OperatorBytes> operator_bytes(const std::function<void()>& work, int times);

}  // namespace torchwatch::runner
