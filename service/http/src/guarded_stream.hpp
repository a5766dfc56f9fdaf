#pragma once

#include <httplib.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "head_scanner.hpp"

namespace torchwatch::http {

/// Reads and writes a connection with an absolute deadline and a byte budget for each part of an
/// exchange. The library's own limits are per read, and per plain body.
class GuardedStream final : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;
  enum class End { none, closed, too_late, too_long, malformed, too_many_lines };

  GuardedStream(int socket, std::string remote_address, std::optional<uid_t> user = {});

  /// Waits for the first byte of the next request.
  bool wait_for_request(std::chrono::milliseconds limit);
  void begin_head(std::size_t bytes_max, std::chrono::milliseconds limit);
  void begin_body(std::size_t bytes_max, std::chrono::milliseconds limit);
  void begin_answer(std::chrono::milliseconds limit);

  /// Why reading stopped before the request was complete.
  End end() const { return end_; }
  const std::string& remote_address() const { return remote_address_; }
  /// Who is at the other end, over the Unix socket.
  std::optional<uid_t> user() const { return user_; }

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  bool fill();
  ssize_t stop(End);
  ssize_t scan_head(const char* bytes, std::size_t size);
  void begin(std::size_t bytes_max, std::chrono::milliseconds limit, bool is_head);

  int socket_;
  std::string remote_address_;
  std::optional<uid_t> user_;
  Clock::time_point read_until_;
  Clock::time_point write_until_;
  std::size_t budget_ = 0;
  bool is_head_ = true;
  HeadScanner scanner_;
  End end_ = End::none;
  std::array<char, 4096> buffer_{};
  std::size_t filled_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace torchwatch::http
