#include "guarded_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace torchwatch::http {
namespace {

using std::chrono::milliseconds;

/// Waits until the socket is ready for `events`; false at the deadline.
bool ready(int socket, short events, GuardedStream::Clock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(until - GuardedStream::Clock::now()).count();
    if (left <= 0) return false;
    pollfd entry{socket, events, 0};
    const int count = poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

}  // namespace

GuardedStream::GuardedStream(int socket, std::string remote_address, std::optional<uid_t> user)
    : socket_(socket), remote_address_(std::move(remote_address)), user_(user) {}

bool GuardedStream::wait_for_request(milliseconds limit) {
  if (taken_ < filled_) return true;
  read_until_ = Clock::now() + limit;
  return fill();
}

void GuardedStream::begin(std::size_t bytes_max, milliseconds limit, bool is_head) {
  budget_ = bytes_max;
  read_until_ = Clock::now() + limit;
  is_head_ = is_head;
  end_ = End::none;
}

void GuardedStream::begin_head(std::size_t bytes_max, milliseconds limit) {
  begin(bytes_max, limit, true);
  scanner_ = HeadScanner();
}

void GuardedStream::begin_body(std::size_t bytes_max, milliseconds limit) {
  begin(bytes_max, limit, false);
}

void GuardedStream::begin_answer(milliseconds limit) {
  write_until_ = Clock::now() + limit;
}

ssize_t GuardedStream::stop(End end) {
  end_ = end;
  return -1;
}

bool GuardedStream::fill() {
  if (!ready(socket_, POLLIN, read_until_)) {
    end_ = End::too_late;
    return false;
  }
  const ssize_t got = recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (got <= 0) {
    end_ = End::closed;
    return false;
  }
  filled_ = static_cast<std::size_t>(got);
  taken_ = 0;
  return true;
}

ssize_t GuardedStream::scan_head(const char* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    switch (scanner_.see(bytes[i])) {
      case HeadScanner::Scan::fine:
        break;
      case HeadScanner::Scan::malformed:
        return stop(End::malformed);
      case HeadScanner::Scan::too_many_lines:
        return stop(End::too_many_lines);
    }
  }
  return static_cast<ssize_t>(size);
}

ssize_t GuardedStream::read(char* to, std::size_t size) {
  if (end_ != End::none) return -1;
  if (budget_ == 0) return stop(End::too_long);
  if (taken_ == filled_ && !fill()) return -1;
  const std::size_t count = std::min({size, filled_ - taken_, budget_});
  std::memcpy(to, buffer_.data() + taken_, count);
  taken_ += count;
  budget_ -= count;
  return is_head_ ? scan_head(to, count) : static_cast<ssize_t>(count);
}

ssize_t GuardedStream::write(const char* from, std::size_t size) {
  while (ready(socket_, POLLOUT, write_until_)) {
    const ssize_t sent = send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno != EAGAIN && errno != EINTR) return -1;
  }
  return -1;
}

bool GuardedStream::is_readable() const {
  return taken_ < filled_;
}

bool GuardedStream::is_writable() const {
  return Clock::now() < write_until_;
}

void GuardedStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = remote_address_;
  port = 0;
}

void GuardedStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace torchwatch::http
