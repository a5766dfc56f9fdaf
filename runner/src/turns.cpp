#include "torchwatch/runner/turns.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "resting_threads.hpp"

namespace torchwatch::runner {
namespace {

using Message = protocol::Turns;

/// Longer than any OpenMP runtime's threads wait actively unless told to (LLVM's: 200 ms).
constexpr std::chrono::milliseconds kRestLimit{250};

/// For reading and writing, whatever it is used for: so a pipe opens without waiting for somebody
/// at its other end, and has no end itself.
Result<UniqueFd> open_pipe(const std::string& path) {
  UniqueFd pipe(open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat facts{};
  if (!pipe.is_open() || fstat(pipe.get(), &facts) != 0) {
    return fail(ErrorCode::unavailable, "turns: cannot open " + path + ": " + std::strerror(errno));
  }
  if (!S_ISFIFO(facts.st_mode)) {
    return fail(ErrorCode::unavailable, "turns: " + path + " is no named pipe");
  }
  return pipe;
}

}  // namespace

Result<Turns> Turns::open(const protocol::Turns& wanted) {
  Turns turns;
  TW_TRY(turns.own_, open_pipe(wanted.own));
  TW_TRY(turns.other_, open_pipe(wanted.other));
  turns.has_partner_ = true;
  turns.has_turn_ = wanted.begins;
  return turns;
}

void Turns::take() {
  while (!has_turn_) hear();
  if (has_partner_) ++taken_;
}

void Turns::pass() {
  if (!has_partner_) return;
  if (!wait_until_others_rest(kRestLimit)) ++passed_restless_;
  has_turn_ = false;
  say(Message::kYours);
}

void Turns::finish() {
  if (!own_.is_open()) return;
  say(Message::kDone);
  while (has_partner_) hear();
}

/// The next message. A partner that cannot be heard any more is none.
void Turns::hear() {
  char message = Message::kEnded;
  while (read(own_.get(), &message, 1) < 0 && errno == EINTR) {
  }
  has_turn_ = true;
  has_partner_ = message == Message::kYours;
}

void Turns::say(char message) {
  while (write(other_.get(), &message, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace torchwatch::runner
