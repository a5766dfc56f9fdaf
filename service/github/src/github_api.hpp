#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "delivery_failure.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "web_address.hpp"

namespace torchwatch::github {

/// One page of a list, and the address of the next one.
struct ListPage {
  nlohmann::json items = nlohmann::json::array();
  std::optional<WebAddress> next;
};

/// Sends single requests to GitHub's REST API: headers, redirects, pages, failures. Not
/// thread-safe.
class GithubApi {
 public:
  /// `stop` ends a request that is being answered. Errors: invalid (repository or api cannot work).
  static Result<GithubApi> create(platform::HttpClient&, const platform::Clock&,
                                  const GithubSettings&, std::stop_token stop = {});

  /// The address of `path` below the repository ("/issues?state=all").
  WebAddress address(const std::string& path) const;
  Delivered<ListPage> get_page(const WebAddress&) const;
  /// Sends a POST or PATCH and returns the JSON object of the answer.
  Delivered<nlohmann::json> write(const std::string& method, const std::string& path,
                                  const nlohmann::json& body) const;

 private:
  GithubApi(platform::HttpClient&, const platform::Clock&, const GithubSettings&, WebAddress,
            std::stop_token stop);
  Delivered<platform::HttpResponse> exchange(platform::HttpRequest, WebAddress at) const;
  Result<WebAddress> follow(const platform::HttpResponse&, const WebAddress& at,
                            platform::HttpRequest&) const;
  platform::HttpRequest request(const std::string& method) const;

  platform::HttpClient* http_;
  const platform::Clock* clock_;
  const GithubSettings* settings_;
  WebAddress api_;
  std::stop_token stop_;
};

}  // namespace torchwatch::github
