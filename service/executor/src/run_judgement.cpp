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

FailureKind kind_of(const process::ProcessEnd& end) {
  if (std::holds_alternative<process::Exited>(end)) return FailureKind::exited;
  if (std::holds_alternative<process::OutputLimit>(end)) return FailureKind::flooded;
  if (std::holds_alternative<process::TimedOut>(end)) return FailureKind::late;
  const auto* const signalled = std::get_if<process::Signalled>(&end);
  const bool is_killed = signalled != nullptr && signalled->signal == SIGKILL;
  return is_killed ? FailureKind::killed : FailureKind::other;
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

RunFailure disbelieved(const Error& error) {
  if (error.code == ErrorCode::not_found) {
    return {.reason = "exited with 0 and left no result",
            .output = {},
            .kind = FailureKind::unanswered};
  }
  const std::string what =
      error.code == ErrorCode::corrupt ? "is damaged: " : "cannot be believed: ";
  return {.reason = printable("result " + what + error.text()),
          .output = {},
          .kind = FailureKind::unbelieved};
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
  if (!process::succeeded(outcome)) {
    return RunFailure{.reason = process::describe(outcome.end),
                      .output = readable_end(outcome.output),
                      .kind = kind_of(outcome.end)};
  }
  auto result = read_result(result_file, request, outcome.duration + rounding);
  if (result) return std::move(*result);
  auto failure = disbelieved(result.error());
  failure.output = readable_end(outcome.output);
  return failure;
}

}  // namespace torchwatch::executor
