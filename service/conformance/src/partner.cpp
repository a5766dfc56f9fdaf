#include "partner.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace torchwatch::conformance {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Message = protocol::Interleave;
using Clock = std::chrono::steady_clock;

constexpr int kHandovers = 4;  ///< the first for its warm-up, the others for a sample each
/// How long nothing may be said while the partner has the machine.
constexpr milliseconds kQuiet{150};
/// A warm-up with torch.compile takes a minute.
constexpr milliseconds kPatience{300'000};
constexpr milliseconds kPoll{20};

Result<UniqueFd> make_pipe(const fs::path& path) {
  UniqueFd pipe;
  if (mkfifo(path.c_str(), 0600) == 0) {
    pipe.reset(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  }
  if (pipe.is_open()) return pipe;
  return fail(ErrorCode::unavailable,
              "pipe " + path.string() + ": " + std::generic_category().message(errno));
}

}  // namespace

Result<Partner> Partner::open(const fs::path& folder) {
  Partner partner;
  partner.to_ = folder / "to";
  partner.from_ = folder / "from";
  TW_TRY(partner.to_pipe_, make_pipe(partner.to_));
  TW_TRY(partner.from_pipe_, make_pipe(partner.from_));
  return partner;
}

protocol::Interleave Partner::pipes() const {
  return {.own = to_, .other = from_, .begins = false};
}

char Partner::receive(milliseconds within, const std::stop_token& stop) const {
  for (auto left = within; left.count() > 0 && !stop.stop_requested(); left -= kPoll) {
    pollfd waiting{.fd = from_pipe_.get(), .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, static_cast<int>(kPoll.count())) <= 0) continue;
    char message = 0;
    if (read(from_pipe_.get(), &message, 1) == 1) return message;
  }
  return 0;
}

void Partner::send(char message) const {
  [[maybe_unused]] const auto written = write(to_pipe_.get(), &message, 1);
}

Turns Partner::play(const std::stop_token& stop) const {
  Turns turns;
  for (int handover = 0; handover < kHandovers; ++handover) {
    if (receive(kQuiet, stop) != 0) {
      turns.problem = "it wrote to the pipe while the partner had the machine";
      break;
    }
    const auto handed_over = Clock::now();
    send(Message::kYours);
    const char answer = receive(kPatience, stop);
    if (answer == Message::kDone) break;
    if (answer != Message::kYours) {
      turns.problem = answer == 0 ? "it did not give the machine back"
                                  : "it wrote a message that is neither y nor d";
      break;
    }
    if (handover == 0) continue;
    const std::chrono::nanoseconds had = Clock::now() - handed_over;
    turns.shortest = turns.samples == 0 ? had : std::min(turns.shortest, had);
    ++turns.samples;
  }
  send(Message::kDone);  // it measures on without a partner
  return turns;
}

}  // namespace torchwatch::conformance
