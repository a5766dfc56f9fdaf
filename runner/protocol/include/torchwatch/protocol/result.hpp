#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/run_result.hpp"

namespace torchwatch::protocol {

// The plain structs belong to records: storage keeps a runner's results without knowing their JSON.
using torchwatch::Breakdown;
using torchwatch::Environment;
using torchwatch::LeakFigures;
using torchwatch::RunResult;

/// Largest result file that is read; a larger one is a failed run.
inline constexpr std::size_t kResultBytesMax = 16U << 20U;
inline constexpr int kJsonDepthMax = 64;

std::string to_json(const RunResult&);
/// Reads a result and checks all that can be checked without the request: the schema, that it is
/// the result of `expected_attempt`, that every member is in range, that an ok result has figures
/// and any other a reason, that the value of a metric is the median of its samples. Ignores unknown
/// members. Errors: corrupt (cut off, not JSON), invalid (a member out of range), conflict (another
/// attempt's result).
Result<RunResult> parse_result(std::string_view json_text, std::string_view expected_attempt);

/// Checks that `result` answers `request`: an ok timing pass has a value of time and no more
/// samples than the request asks for, an ok memory pass has the allocator's peak and leak figures,
/// and so on. Errors: conflict (another attempt), invalid, naming what is missing.
Status check_answers(const Request& request, const RunResult& result);

}  // namespace torchwatch::protocol
