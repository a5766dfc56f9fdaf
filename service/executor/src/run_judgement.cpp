#include "run_judgement.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <numeric>

#include "torchwatch/executor/belief.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::executor {
namespace {

constexpr std::size_t kKeptOutputBytes = 16U << 10U;

/// The end of the output as plain text: it goes into a database, JSON and an issue.
std::string readable_end(std::string_view output) {
  if (output.size() > kKeptOutputBytes) output.remove_prefix(output.size() - kKeptOutputBytes);
  std::string text(output);
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return c != '\n' && c != '\t' && (c < ' ' || c > '~'); }, '?');
  return text;
}

RunFailure failure(std::string reason, const process::ProcessOutcome& outcome) {
  const auto* const signalled = std::get_if<process::Signalled>(&outcome.end);
  return {.reason = std::move(reason),
          .output = readable_end(outcome.output),
          .is_killed = signalled != nullptr && signalled->signal == SIGKILL};
}

/// No process can have measured for longer than it lived.
Status check_claims(const RunResult& result, std::chrono::nanoseconds lived) {
  const auto claimed = [&](const std::vector<std::int64_t>& samples) {
    const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
    return sum * static_cast<double>(result.iterations_per_sample);
  };
  const auto check = [&](double ns, const char* of) -> Status {
    if (ns <= static_cast<double>(lived.count())) return {};
    return fail(ErrorCode::invalid, "claims " + std::to_string(std::llround(ns / 1e6)) + " ms of " +
                                        of + ", more than the process lived");
  };
  for (const auto& [metric, of] : {std::pair{Metric::first_iteration, "a first iteration"},
                                   std::pair{Metric::compile_time, "compiling"}}) {
    const auto value = result.values.find(metric);
    if (value == result.values.end()) continue;
    TW_TRY_VOID(check(static_cast<double>(value->second), of));
  }
  return check(std::max(claimed(result.samples_ns), claimed(result.device_samples_ns)), "samples");
}

}  // namespace

Result<RunResult> believed(std::string_view text, const protocol::Request& request,
                           std::chrono::nanoseconds lived) {
  TW_TRY(RunResult result, protocol::parse_result(text, request.attempt));
  TW_TRY_VOID(protocol::check_answers(request, result));
  TW_TRY_VOID(check_claims(result, lived));
  return result;
}

std::string reason_of_disbelief(const Error& error) {
  switch (error.code) {
    case ErrorCode::not_found:
      return "exited with 0 and left no result";
    case ErrorCode::corrupt:
      return printable("result is damaged: " + error.text());
    default:
      return printable("result cannot be believed: " + error.text());
  }
}

namespace {

Result<RunResult> read_result(const std::filesystem::path& file, const protocol::Request& request,
                              std::chrono::nanoseconds lived) {
  TW_TRY(const std::string text, platform::read_foreign_file(file, protocol::kResultBytesMax));
  return believed(text, request, lived);
}

}  // namespace

Result<RunOutcome> judge(const process::ProcessOutcome& outcome, const protocol::Request& request,
                         const std::filesystem::path& result_file,
                         std::chrono::milliseconds rounding) {
  if (std::holds_alternative<process::SpawnFailed>(outcome.end)) {
    return fail(ErrorCode::unavailable, "runner " + process::describe(outcome.end));
  }
  if (std::holds_alternative<process::Cancelled>(outcome.end)) {
    return fail(ErrorCode::cancelled, "the run was cancelled");
  }
  if (!process::succeeded(outcome)) return failure(process::describe(outcome.end), outcome);
  auto result = read_result(result_file, request, outcome.duration + rounding);
  if (!result) return failure(reason_of_disbelief(result.error()), outcome);
  return std::move(*result);
}

}  // namespace torchwatch::executor
