#pragma once

#include <cstddef>
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
/// Checks what can be checked without the request: schema, that the result is for
/// `expected_attempt`, that every member is in range, that an ok result has figures and another one
/// a reason, that the value of a metric is the median of its samples. Members that are not known
/// are passed over. Errors: corrupt (cut off, not JSON), invalid (a member out of range), conflict
/// (another attempt's result).
Result<RunResult> parse_result(std::string_view json_text, std::string_view expected_attempt);

/// Whether `result` answers `request`: an ok timing pass has a value of time and no more samples
/// than were asked for, an ok memory pass has the allocator's peak and leak figures, and so on.
/// Errors: conflict (another attempt), invalid, naming what is missing.
Status check_answers(const Request& request, const RunResult& result);

/// Median of samples (mean of the middle two, rounded down); `samples` must not be empty.
std::int64_t median(std::vector<std::int64_t> samples);

}  // namespace torchwatch::protocol
