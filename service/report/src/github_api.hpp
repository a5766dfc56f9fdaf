#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "delivery_failure.hpp"
#include "torchwatch/report/outbox_sender.hpp"
#include "web_address.hpp"

namespace torchwatch::report {

/// One page of a list, and where the next one is.
struct Page {
  nlohmann::json items = nlohmann::json::array();
  std::optional<WebAddress> next;
};

/// GitHub's REST API as far as it is one request, one answer: headers, redirects, pages, failures.
class GithubApi {
 public:
  /// Errors: invalid, when the settings can never work.
  static Result<GithubApi> create(doors::HttpClient&, const doors::Clock&, const GithubSettings&);

  /// `path` below the repository ("/issues?state=all").
  WebAddress address(const std::string& path) const;
  Delivered<Page> get_page(const WebAddress&) const;
  /// POST or PATCH; the object that the answer holds.
  Delivered<nlohmann::json> write(const std::string& method, const std::string& path,
                                  const nlohmann::json& body) const;

 private:
  GithubApi(doors::HttpClient&, const doors::Clock&, const GithubSettings&, WebAddress);
  Delivered<doors::HttpResponse> exchange(doors::HttpRequest, WebAddress at) const;
  Result<WebAddress> follow(const doors::HttpResponse&, const WebAddress& at,
                            doors::HttpRequest&) const;
  doors::HttpRequest request(const std::string& method) const;

  doors::HttpClient* http_;
  const doors::Clock* clock_;
  const GithubSettings* settings_;
  WebAddress api_;
};

}  // namespace torchwatch::report
