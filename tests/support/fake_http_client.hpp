#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "torchwatch/doors/http_client.hpp"

namespace torchwatch::test {

/// Talks to nobody: a function of the test answers. Keeps what was sent.
class FakeHttpClient final : public doors::HttpClient {
 public:
  using Script = std::function<Result<doors::HttpResponse>(const doors::HttpRequest&)>;

  explicit FakeHttpClient(Script script) : script_(std::move(script)) {}

  Result<doors::HttpResponse> send(const doors::HttpRequest& request) override;

  std::vector<doors::HttpRequest> requests() const;  ///< in the order of the calls

 private:
  Script script_;
  mutable std::mutex mutex_;
  std::vector<doors::HttpRequest> requests_;
};

/// "status, body, headers"
doors::HttpResponse answer(int status, std::string body = "",
                           std::map<std::string, std::string> headers = {});

}  // namespace torchwatch::test
