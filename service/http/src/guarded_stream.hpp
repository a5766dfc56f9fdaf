#pragma once

#include <httplib.h>

#include <chrono>
#include <string>

#include "client.hpp"
#include "head_scanner.hpp"

namespace torchwatch::http {

/// Reads a request of a client, whose head has arrived already, with an absolute deadline and byte
/// budgets; the library's own limits are per read, and per plain body. Writing never waits: what
/// the client does not take at once stays for the reception to send.
class GuardedStream final : public httplib::Stream {
 public:
  using Clock = Client::Clock;
  enum class End { none, closed, too_late, too_long, malformed, too_many_lines };

  /// Reads at most `head_bytes_max` bytes until `begin_body`.
  GuardedStream(Client& client, std::size_t head_bytes_max);
  /// Leaves with the client what was not read.
  ~GuardedStream() override;

  void begin_body(std::size_t bytes_max, std::chrono::milliseconds limit, bool is_chunked);

  /// Why reading stopped before the request was complete.
  End end() const { return end_; }
  const Origin& origin() const { return client_.origin; }

  bool is_readable() const override;
  bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return client_.connection.socket(); }

 private:
  bool fill();
  ssize_t stop(End);
  ssize_t scan_head(const char* bytes, std::size_t size);
  ssize_t scan_chunks(const char* bytes, std::size_t size);

  Client& client_;
  std::size_t taken_ = 0;  ///< of client_.arrived
  Clock::time_point read_until_;
  std::size_t budget_;
  bool is_head_ = true;
  bool is_chunked_ = false;
  HeadScanner scanner_;
  ChunkScanner chunks_;
  End end_ = End::none;
};

}  // namespace torchwatch::http
