#include "misfortune.hpp"

#include <sstream>

#include "torchwatch/records/printable.hpp"

namespace torchwatch::conformance {
namespace {

constexpr std::size_t kPrintedMax = 200;  ///< characters of a line that a command printed

/// Whether a program said last, as Python and the C library do, that a file is not there.
bool lacks_file(std::string_view printed) {
  const auto says = [&](std::string_view text) {
    return printed.find(text) != std::string_view::npos;
  };
  return says("ModuleNotFoundError") || says("No such file or directory");
}

/// The last line of what was printed, with the last place in a source that Python named before it.
std::string last_words(const std::string& printed) {
  std::istringstream lines(printed);
  std::string last;
  std::string place;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    last = line.substr(begin);
    if (last.starts_with("File \"")) place = last;
  }
  if (last.empty()) return {};
  last = elided(last, kPrintedMax);
  return "; it printed: " + last + (place.empty() || place == last ? "" : " (" + place + ")");
}

}  // namespace

const RunResult* ok_result(const executor::RunOutcome& outcome) {
  const auto* result = std::get_if<RunResult>(&outcome);
  return result != nullptr && result->status == RunStatus::ok ? result : nullptr;
}

std::string misfortune(const executor::RunOutcome& outcome) {
  if (const auto* failure = std::get_if<executor::RunFailure>(&outcome)) {
    return failure->reason + last_words(failure->output);
  }
  const auto& result = std::get<RunResult>(outcome);
  return std::string(to_string(result.status)) + ": " + result.reason;
}

std::string remedy_of(const executor::RunOutcome& outcome, std::string_view otherwise) {
  using executor::FailureKind;
  const auto* failure = std::get_if<executor::RunFailure>(&outcome);
  if (failure == nullptr) return std::string(otherwise);
  switch (failure->kind) {
    case FailureKind::exited:
      if (lacks_file(last_words(failure->output))) {
        return "name the file or its folder in `readable`: the sandbox hides what is not";
      }
      return "correct the program: it ended before it answered";
    case FailureKind::late:
      return "answer within limits.time_ms, which is [measure] time_limit";
    case FailureKind::flooded:
      return "print less: what a run prints is kept for its errors";
    case FailureKind::unanswered:
      return "write the result to the path in the last argument; a workload in Python ends with "
             "serve(make)";
    case FailureKind::killed:
      return "free memory on this machine, or lower what the workload takes";
    case FailureKind::unbelieved:
      return "correct the answer as its reason says; docs/external-workloads.md has the contract";
    case FailureKind::other:
      return std::string(otherwise);
  }
  return std::string(otherwise);
}

}  // namespace torchwatch::conformance
