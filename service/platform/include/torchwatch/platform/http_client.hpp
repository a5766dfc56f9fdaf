#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::platform {

struct HttpRequest {
  std::string method = "GET";
  std::string url;  ///< http(s)://host[:port]/path?query
  std::map<std::string, std::string> headers;
  std::string body;
  std::chrono::milliseconds time_limit{30'000};
  std::size_t response_bytes_max = 8U << 20U;
  /// A Unix socket to connect to instead of the url's host, which is only named to the server.
  std::filesystem::path socket{};
  std::stop_token stop{};  ///< ends the transfer, wherever it is
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

/// Sends requests over HTTP and HTTPS. A redirect is returned, never followed (a library that
/// follows it hands the token to the other host); TLS is verified. Thread-safe.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  /// Errors: invalid (url), unavailable (no connection, TLS), timed_out, corrupt (too long, cut),
  /// cancelled.
  virtual Result<HttpResponse> send(const HttpRequest&) = 0;
};

std::unique_ptr<HttpClient> make_http_client(std::string user_agent);

}  // namespace torchwatch::platform
