#pragma once

#include <filesystem>
#include <string>

/// A client that says on a connection what no HTTP library would, and waits at most ten seconds
/// for an answer (a test that waits longer has failed).
class RawClient {
 public:
  /// Connects from an address of loopback (127.0.0.0/8).
  explicit RawClient(int port, const char* from = "127.0.0.1");
  explicit RawClient(const std::filesystem::path& socket);  ///< at most 107 bytes
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient();

  /// False once the server has closed the connection.
  bool send(const std::string& bytes);
  /// One answer, by its Content-Length; what came before the server closed otherwise.
  std::string answer();
  /// What comes up to this text and with it; everything until the server closes if it never does.
  std::string until(const std::string& text);
  /// Everything until the server closes.
  std::string rest();
  /// Whether something (also the end) can be read at once.
  bool is_readable(int wait_ms = 0) const;

 private:
  bool receive();

  int socket_;
  std::string received_;
};

/// Returns the status of an answer; 0 for an empty one.
int status_of_answer(const std::string& answer);
