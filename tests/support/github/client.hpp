#pragma once

#include "core.hpp"
#include "torchwatch/platform/http_client.hpp"

namespace torchwatch::test {

/// Reaches the fake GitHub without sockets. What takes time moves the clock.
class FakeGithubClient final : public platform::HttpClient {
 public:
  FakeGithubClient(FakeGithubCore& core, const platform::Clock& clock)
      : core_(core), clock_(clock) {}

  Result<platform::HttpResponse> send(const platform::HttpRequest&) override;

 private:
  FakeGithubCore& core_;
  const platform::Clock& clock_;
};

/// The request that a URL and an HttpRequest stand for.
GithubRequest github_request(const platform::HttpRequest&);

}  // namespace torchwatch::test
