#include "torchwatch/runner/interleave.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace torchwatch::runner {
namespace {

namespace fs = std::filesystem;

using Message = protocol::Interleave;

/// Longer than the threads of any OpenMP runtime wait actively by default (LLVM's: 200 ms).
constexpr std::chrono::milliseconds kIdleLimit{250};
constexpr std::chrono::microseconds kPollInterval{100};

/// Opens the pipe for reading and writing, whichever it is used for: so it opens without waiting
/// for the other end, and never reports an end of file.
Result<UniqueFd> open_pipe(const std::string& path) {
  UniqueFd pipe(open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat facts{};
  if (!pipe.is_open() || fstat(pipe.get(), &facts) != 0) {
    return fail(ErrorCode::unavailable,
                "interleave: cannot open " + path + ": " + std::strerror(errno));
  }
  if (!S_ISFIFO(facts.st_mode)) {
    return fail(ErrorCode::unavailable, "interleave: " + path + " is not a named pipe");
  }
  return pipe;
}

/// A thread that has ended meanwhile has no state and counts as idle.
bool is_running(const fs::path& thread) {
  std::ifstream file(thread / "stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(") ");  // the name may hold brackets itself
  return name_end != std::string::npos && line.compare(name_end + 2, 1, "R") == 0;
}

bool other_threads_are_idle() {
  const auto own = std::to_string(gettid());
  std::error_code error;
  for (fs::directory_iterator thread("/proc/self/task", error), end; !error && thread != end;
       thread.increment(error)) {
    if (thread->path().filename() != own && is_running(thread->path())) return false;
  }
  return !error;
}

}  // namespace

Result<Interleave> Interleave::open(const protocol::Interleave& pipes) {
  Interleave interleave;
  TW_TRY(interleave.own_, open_pipe(pipes.own));
  TW_TRY(interleave.other_, open_pipe(pipes.other));
  interleave.has_partner_ = true;
  interleave.may_compute_ = pipes.begins;
  interleave.agrees_ = pipes.agrees;
  return interleave;
}

void Interleave::acquire() {
  while (!may_compute_) receive();
  if (has_partner_) ++handovers_;
}

void Interleave::hand_over() {
  if (!has_partner_) return;
  if (!wait_for_idle_threads(kIdleLimit)) ++handovers_not_idle_;
  may_compute_ = false;
  send(Message::kYours);
}

void Interleave::state_doublings(int doublings) {
  if (!has_partner_ || !agrees_) return;
  send(static_cast<char>(Message::kDoublings + std::min(doublings, Message::kDoublingsMax)));
}

void Interleave::finish() {
  if (!own_.is_open()) return;
  send(Message::kDone);
  while (has_partner_) receive();
}

/// Reads the next message. A pipe that cannot be read counts as a partner that has ended.
void Interleave::receive() {
  char message = Message::kEnded;
  while (read(own_.get(), &message, 1) < 0 && errno == EINTR) {
  }
  const int doublings = message - Message::kDoublings;
  if (agrees_ && doublings >= 0 && doublings <= Message::kDoublingsMax) {
    partners_doublings_ = doublings;
    return;
  }
  may_compute_ = true;
  has_partner_ = message == Message::kYours;
}

void Interleave::send(char message) {
  while (write(other_.get(), &message, 1) < 0 && errno == EINTR) {
  }
}

bool wait_for_idle_threads(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!other_threads_are_idle()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

}  // namespace torchwatch::runner
