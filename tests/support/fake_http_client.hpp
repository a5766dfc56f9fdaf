#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "torchwatch/platform/http_client.hpp"

namespace torchwatch::test {

/// Talks to nobody: a function of the test answers. Keeps what was sent.
class FakeHttpClient final : public platform::HttpClient {
 public:
  using Script = std::function<Result<platform::HttpResponse>(const platform::HttpRequest&)>;

  explicit FakeHttpClient(Script script) : script_(std::move(script)) {}

  Result<platform::HttpResponse> send(const platform::HttpRequest& request) override;

  std::vector<platform::HttpRequest> requests() const;  ///< in the order of the calls

 private:
  Script script_;
  mutable std::mutex mutex_;
  std::vector<platform::HttpRequest> requests_;
};

/// "status, body, headers"
platform::HttpResponse answer(int status, std::string body = "",
                              std::map<std::string, std::string> headers = {});

}  // namespace torchwatch::test
