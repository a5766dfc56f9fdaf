#include "torchwatch/cluster/slurm_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace torchwatch::cluster {
namespace {

constexpr std::size_t kMessageBytesMax = 300;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  auto lines = split(text, '\n');
  std::erase_if(lines, [](std::string_view line) {
    return line.find_first_not_of(" \t\r") == std::string_view::npos;
  });
  return lines;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return {};
  return value;
}

JobState state_of(std::string_view word) {
  if (word == "RUNNING") return JobState::running;
  constexpr std::array ended{"COMPLETING",    "COMPLETED", "CANCELLED", "FAILED",   "TIMEOUT",
                             "NODE_FAIL",     "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY",
                             "LAUNCH_FAILED", "REVOKED",   "STAGE_OUT"};
  return std::ranges::find(ended, word) == ended.end() ? JobState::waiting : JobState::ended;
}

bool mentions_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// Limits of an account or a QOS on all jobs together pass when others end, those on one do not.
bool is_limit_of_one_job(std::string_view reason) {
  if (!reason.starts_with("Assoc") && !reason.starts_with("QOS")) return false;
  return reason.starts_with("QOSMin") || mentions_any(reason, {"PerJob", "PerNode"});
}

}  // namespace

Result<std::string> parse_job_id(std::string_view answer) {
  const auto lines = lines_of(answer);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const auto id = line->substr(0, line->find(';'));
    if (is_number(id)) return std::string(id);
  }
  return fail(ErrorCode::unavailable, "sbatch named no job: " + last_message(answer));
}

Result<std::vector<Job>> parse_jobs(std::string_view answer) {
  constexpr std::size_t kFields = 5;
  std::vector<Job> jobs;
  for (const auto line : lines_of(answer)) {
    const auto fields = split(line, '|');
    if (fields.size() < kFields || !is_number(fields[0])) {
      return fail(ErrorCode::unavailable, "squeue answered \"" + last_message(line) + "\"");
    }
    jobs.push_back({.id = std::string(fields[0]),
                    .state = state_of(fields[1]),
                    .word = std::string(fields[1]),
                    .left = parse_time_left(fields[2]),
                    .node = std::string(fields[3]),
                    .reason = std::string(fields[4])});
  }
  return jobs;
}

std::vector<Step> parse_steps(std::string_view answer) {
  std::vector<Step> steps;
  for (const auto line : lines_of(answer)) {
    const auto bar = line.find('|');
    const auto id = line.substr(0, bar);
    const auto dot = id.find('.');
    if (bar == std::string_view::npos || dot == std::string_view::npos) continue;
    if (!is_number(id.substr(0, dot)) || !is_number(id.substr(dot + 1))) continue;
    steps.push_back({std::string(id), std::string(line.substr(bar + 1))});
  }
  return steps;
}

std::optional<std::chrono::seconds> parse_time_left(std::string_view text) {
  std::chrono::seconds sum{0};
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto days = number(text.substr(0, dash));
    if (!days) return {};
    sum += std::chrono::hours(24) * *days;
    text.remove_prefix(dash + 1);
  }
  constexpr std::int64_t kSixty = 60;
  std::int64_t seconds = 0;
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return {};
  for (const auto part : parts) {
    const auto value = number(part);
    if (!value) return {};
    seconds = seconds * kSixty + *value;
  }
  return sum + std::chrono::seconds(seconds);
}

Cause cause_of(std::string_view messages) {
  if (mentions_any(messages, {"Out Of Memory", "oom-kill", "oom_kill", "OOM Killed"})) {
    return Cause::memory;
  }
  if (mentions_any(messages, {"Node failure", "NODE FAILURE", "NodeFail", "Task launch for",
                              "launch failed", "Aborting, nodes are down", "No route to host"})) {
    return Cause::node;
  }
  if (mentions_any(messages, {"has expired", "Invalid job id", "already completing",
                              "DUE TO TIME LIMIT", "DUE TO PREEMPTION", "Job has been cancelled",
                              "Access/permission denied", "already finished"})) {
    return Cause::job_gone;
  }
  if (mentions_any(messages, {"Unable to contact slurm controller", "Socket timed out",
                              "Connection refused", "Zero Bytes were transmitted", "Slurm backup",
                              "temporarily unable", "Immediate execution", "Unable to create step",
                              "Requested nodes are busy", "Connection timed out",
                              // AssocMaxSubmitJobLimit and its like: other jobs end.
                              "SubmitJob"})) {
    return Cause::unreachable;
  }
  if (mentions_any(messages, {"Invalid", "invalid", "not permitted", "not available", "violates",
                              "unrecognized option", "not valid", "denied", "Duplicate job",
                              "Unable to open file"})) {
    return Cause::refused;
  }
  return Cause::unknown;
}

bool is_hopeless(std::string_view reason) {
  constexpr std::array reasons{"AccountNotAllowed",  "BadConstraints",   "InvalidAccount",
                               "InvalidQOS",         "JobLaunchFailure", "PartitionNodeLimit",
                               "PartitionTimeLimit", "QOSNotAllowed"};
  return std::ranges::find(reasons, reason) != reasons.end() || is_limit_of_one_job(reason) ||
         mentions_any(reason, {"not permitted to use this partition"});
}

std::string last_message(std::string_view messages) {
  const auto lines = lines_of(messages);
  if (lines.empty()) return "no message";
  // srun says that a task has failed before or after the node says why, and the line before that of
  // a policy names the limit.
  const auto says_why = [](std::string_view line) {
    return !mentions_any(line, {"Exited with exit code", "violates accounting/QOS policy"});
  };
  const auto why = std::find_if(lines.rbegin(), lines.rend(), says_why);
  std::string text((why == lines.rend() ? lines.back() : *why).substr(0, kMessageBytesMax));
  std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace torchwatch::cluster
