#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "torchwatch/github/delivery_failure.hpp"
#include "torchwatch/github/web_address.hpp"

namespace torchwatch::github {

/// Returns the headers of every request to GitHub, in the API's version that torchwatch speaks.
/// Without a token there is no Authorization.
std::map<std::string, std::string> request_headers(const std::string& token);

/// A request to GitHub without its headers and its token.
struct ApiRequest {
  std::string method = "GET";
  WebAddress at{};
  std::string body{};   ///< JSON
  std::string etag{};   ///< what is known already; GitHub answers 304 to it
  std::string token{};  ///< empty: without
};

/// Sends single requests to the origin of GitHub's API: headers, redirects, limits. Redirects are
/// followed within the origin; elsewhere only a GET is, without its token. Not thread-safe.
class ApiClient {
 public:
  /// Errors: invalid (`api` cannot work).
  static Result<ApiClient> create(platform::HttpClient&, const std::string& api,
                                  std::chrono::milliseconds time_limit, std::stop_token stop = {});

  /// The address of `path` ("/user").
  WebAddress address(const std::string& path) const;
  bool has_origin_of(const WebAddress& other) const { return api_.has_origin_of(other); }
  Delivered<platform::HttpResponse> send(const ApiRequest&) const;

 private:
  ApiClient(platform::HttpClient&, WebAddress, std::chrono::milliseconds, std::stop_token);
  Result<WebAddress> follow(const platform::HttpResponse&, const WebAddress& at,
                            platform::HttpRequest&) const;

  platform::HttpClient* http_;
  WebAddress api_;
  std::chrono::milliseconds time_limit_;
  std::stop_token stop_;
};

/// Reads the JSON object of an answer with the status 200 or 201. `what` names the request, `now`
/// is the time now.
Delivered<nlohmann::json> object_of(const platform::HttpResponse&, const std::string& what,
                                    const std::string& repository, platform::WallMillis now);

}  // namespace torchwatch::github
