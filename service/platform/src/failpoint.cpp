#include "torchwatch/platform/failpoint.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace torchwatch::platform {
namespace {

// One line for each effect outside the database. The kill tests reach every
// one of them.
constexpr std::array<std::string_view, 14> kNames{
    "publish.before_file_rename",
    "publish.before_folder_rename",
    "builds.after_build_published",
    "kits.after_kit_published",
    "channel.after_fetch_published",
    "executor.after_spawn",
    "executor.before_result_read",
    "nightly.after_run_stored",
    "nightly.after_verdict",
    "nightly.after_bisection_event",
    "nightly.after_report",
    "outbox.before_post",
    "outbox.after_post",
    "outbox.after_sent",
};

enum class Action { kill, error, pause };

struct Armed {
  std::size_t name = 0;  ///< index into kNames
  long nth = 0;
  Action action = Action::kill;
};

[[noreturn]] void misuse(std::string_view what, std::string_view text) {
  std::fprintf(stderr, "torchwatch: failpoint: %.*s: '%.*s'\n", static_cast<int>(what.size()),
               what.data(), static_cast<int>(text.size()), text.data());
  std::abort();
}

std::size_t index_of(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames.at(i) == name) return i;
  }
  misuse("not in the list of failpoints", name);
}

std::optional<Action> parse_action(std::string_view text) {
  if (text == "kill") return Action::kill;
  if (text == "error") return Action::error;
  if (text == "pause") return Action::pause;
  return std::nullopt;
}

Armed parse_armed(std::string_view text) {
  const auto first = text.find(':');
  const auto second = text.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) {
    misuse("TORCHWATCH_FAILPOINT is not name:n:action", text);
  }
  Armed armed;
  armed.name = index_of(text.substr(0, first));
  const std::string_view count = text.substr(first + 1, second - first - 1);
  const auto parsed = std::from_chars(count.data(), count.data() + count.size(), armed.nth);
  const auto action = parse_action(text.substr(second + 1));
  if (parsed.ec != std::errc{} || armed.nth < 1 || !action) {
    misuse("TORCHWATCH_FAILPOINT is not name:n:(kill|error|pause)", text);
  }
  armed.action = *action;
  return armed;
}

/// The failpoints that the environment arms, read once, and how often each was reached.
class ArmedFailpoints {
 public:
  ArmedFailpoints() : reached_(kNames.size()) {
    const char* const text = std::getenv("TORCHWATCH_FAILPOINT");
    std::string_view rest = text == nullptr ? "" : text;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      armed_.push_back(parse_armed(rest.substr(0, comma)));
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
    const char* const log = std::getenv("TORCHWATCH_FAILPOINT_LOG");
    if (log != nullptr) log_ = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  }

  std::optional<Action> reach(std::size_t name) {
    const long count = ++reached_[name];
    if (log_ >= 0) note(name);
    for (const Armed& armed : armed_) {
      if (armed.name == name && armed.nth == count) return armed.action;
    }
    return std::nullopt;
  }

 private:
  /// One write a line, so that the log is whole also when the next thing is a kill.
  void note(std::size_t name) const {
    const std::string line = std::string(kNames.at(name)) + "\n";
    if (write(log_, line.data(), line.size()) < 0) std::perror("torchwatch: failpoint log");
  }

  std::vector<Armed> armed_;
  std::vector<std::atomic<long>> reached_;
  int log_ = -1;
};

}  // namespace

std::span<const std::string_view> failpoint_names() {
  return kNames;
}

Status failpoint(std::string_view name) {
  static ArmedFailpoints armed;
  const std::size_t index = index_of(name);
  const auto action = armed.reach(index);
  if (!action) return {};
  switch (*action) {
    case Action::kill:
      kill(getpid(), SIGKILL);
      break;
    case Action::pause:
      // A parent sees the stop with waitpid(WUNTRACED), then continues with SIGCONT or kills.
      kill(getpid(), SIGSTOP);
      break;
    case Action::error:
      return fail(ErrorCode::unavailable,
                  "failpoint " + std::string(name) + ": error asked for by TORCHWATCH_FAILPOINT");
  }
  return {};
}

}  // namespace torchwatch::platform
