#include "torchwatch/github/api_client.hpp"

namespace torchwatch::github {
namespace {

constexpr int kRedirectsMax = 5;
/// 100 issues of 65,536 characters each, a character being up to six bytes of JSON.
constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20U;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 307 || status == 308;
}

}  // namespace

ApiClient::ApiClient(platform::HttpClient& http, WebAddress api,
                     std::chrono::milliseconds time_limit, std::stop_token stop)
    : http_(&http), api_(std::move(api)), time_limit_(time_limit), stop_(std::move(stop)) {}

Result<ApiClient> ApiClient::create(platform::HttpClient& http, const std::string& api,
                                    std::chrono::milliseconds time_limit, std::stop_token stop) {
  auto address = parse_address(api);
  if (!address) return fail(address.error().within("[github] api"));
  if (address->target.ends_with('/')) address->target.pop_back();
  return ApiClient(http, std::move(*address), time_limit, std::move(stop));
}

WebAddress ApiClient::address(const std::string& path) const {
  WebAddress address = api_;
  address.target += path;
  return address;
}

Result<WebAddress> ApiClient::follow(const platform::HttpResponse& response, const WebAddress& at,
                                     platform::HttpRequest& request) const {
  const auto location = response.headers.find("location");
  if (location == response.headers.end()) {
    return fail(ErrorCode::corrupt, "redirect without a Location header");
  }
  TW_TRY(const WebAddress next, resolve(at, location->second));
  if (next.has_origin_of(api_)) return next;
  if (next.scheme != "https") return fail(ErrorCode::invalid, "redirect away from https");
  if (request.method != "GET") {
    return fail(ErrorCode::invalid,
                "redirect of a " + request.method + " to another host (" + next.host + ")",
                "check [github] api");
  }
  request.headers.erase("Authorization");
  return next;
}

Delivered<platform::HttpResponse> ApiClient::send(const ApiRequest& asked) const {
  platform::HttpRequest request;
  request.method = asked.method;
  request.time_limit = time_limit_;
  request.stop = stop_;
  request.response_bytes_max = kAnswerBytesMax;
  request.headers = request_headers(asked.token);
  request.body = asked.body;
  if (!asked.body.empty()) request.headers.emplace("Content-Type", "application/json");
  if (!asked.etag.empty()) request.headers.emplace("If-None-Match", asked.etag);
  WebAddress at = asked.at;
  for (int hop = 0; hop <= kRedirectsMax; ++hop) {
    request.url = at.text();
    auto response = http_->send(request);
    if (!response) return tl::unexpected(failure_of(response.error()));
    if (!is_redirect(response->status)) return std::move(*response);
    auto next = follow(*response, at, request);
    if (!next) return tl::unexpected(failure_of(next.error().within(request.url)));
    at = std::move(*next);
  }
  return tl::unexpected(failure_of(
      Error{ErrorCode::unavailable, "more than " + std::to_string(kRedirectsMax) + " redirects"}));
}

Delivered<nlohmann::json> object_of(const platform::HttpResponse& response, const std::string& what,
                                    const std::string& repository, platform::WallMillis now) {
  if (response.status != 200 && response.status != 201) {
    return tl::unexpected(failure_of(response, what, repository, now));
  }
  auto answer = nlohmann::json::parse(response.body, nullptr, false);
  if (!answer.is_object()) {
    return tl::unexpected(
        failure_of(Error{ErrorCode::corrupt, what + ": the answer is not a JSON object"}));
  }
  return answer;
}

std::map<std::string, std::string> request_headers(const std::string& token) {
  std::map<std::string, std::string> headers{{"Accept", "application/vnd.github+json"},
                                             {"X-GitHub-Api-Version", "2022-11-28"}};
  if (!token.empty()) headers.emplace("Authorization", "Bearer " + token);
  return headers;
}

}  // namespace torchwatch::github
