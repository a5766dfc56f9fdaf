#include "fake_http_client.hpp"

namespace torchwatch::test {

Result<platform::HttpResponse> FakeHttpClient::send(const platform::HttpRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  return script_(request);
}

std::vector<platform::HttpRequest> FakeHttpClient::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

platform::HttpResponse answer(int status, std::string body,
                              std::map<std::string, std::string> headers) {
  return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

}  // namespace torchwatch::test
