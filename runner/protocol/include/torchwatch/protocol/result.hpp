#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/run_result.hpp"

namespace torchwatch::protocol {

// The plain structs are records': storage keeps what a runner states without knowing its JSON.
using torchwatch::Breakdown;
using torchwatch::Environment;
using torchwatch::LeakFigures;
using torchwatch::RunResult;

/// Largest result file that is read; a larger one is a failed run.
inline constexpr std::size_t kResultBytesMax = 16U << 20U;
inline constexpr int kJsonDepthMax = 64;

std::string to_json(const RunResult&);
/// Checks everything: schema, that the result is for `expected_attempt`, that an ok result of its
/// pass has samples or peaks, that durations are positive. Errors: corrupt (cut off, not JSON),
/// invalid (a member out of range), conflict (another attempt's result).
Result<RunResult> parse_result(std::string_view json, std::string_view expected_attempt);

/// Median of samples (mean of the middle two, rounded down); `samples` must not be empty.
std::int64_t median(std::vector<std::int64_t> samples);

}  // namespace torchwatch::protocol
