#include "guarded_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
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

GuardedStream::GuardedStream(Client& client, std::size_t head_bytes_max)
    : client_(client), read_until_(Clock::now()), budget_(head_bytes_max) {}

GuardedStream::~GuardedStream() {
  client_.arrived.erase(0, taken_);
}

void GuardedStream::begin_body(std::size_t bytes_max, milliseconds limit, bool is_chunked) {
  budget_ = bytes_max;
  read_until_ = Clock::now() + limit;
  is_head_ = false;
  is_chunked_ = is_chunked;
  end_ = End::none;
}

ssize_t GuardedStream::stop(End end) {
  end_ = end;
  return -1;
}

bool GuardedStream::fill() {
  if (!ready(socket(), POLLIN, read_until_)) {
    end_ = End::too_late;
    return false;
  }
  std::array<char, 4096> buffer{};
  const ssize_t got = recv(socket(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got <= 0) {
    end_ = End::closed;
    return false;
  }
  client_.arrived.assign(buffer.data(), static_cast<std::size_t>(got));
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

ssize_t GuardedStream::scan_chunks(const char* bytes, std::size_t size) {
  const bool is_fine = std::all_of(bytes, bytes + size, [&](char c) { return chunks_.see(c); });
  return is_fine ? static_cast<ssize_t>(size) : stop(End::malformed);
}

ssize_t GuardedStream::read(char* to, std::size_t size) {
  if (end_ != End::none) return -1;
  if (budget_ == 0) return stop(End::too_long);
  if (taken_ == client_.arrived.size() && !fill()) return -1;
  const std::size_t count = std::min({size, client_.arrived.size() - taken_, budget_});
  std::memcpy(to, client_.arrived.data() + taken_, count);
  taken_ += count;
  budget_ -= count;
  if (is_head_) return scan_head(to, count);
  return is_chunked_ ? scan_chunks(to, count) : static_cast<ssize_t>(count);
}

ssize_t GuardedStream::write(const char* from, std::size_t size) {
  std::size_t sent = 0;
  while (client_.unsent.empty() && sent < size) {
    const ssize_t count = send(socket(), from + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) return -1;
    if (count < 0) break;
    sent += static_cast<std::size_t>(count);
  }
  client_.unsent.append(from + sent, size - sent);
  return static_cast<ssize_t>(size);
}

bool GuardedStream::is_readable() const {
  return taken_ < client_.arrived.size();
}

void GuardedStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = client_.origin.address;
  port = 0;
}

void GuardedStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace torchwatch::http
