#include "github_api.hpp"

#include <algorithm>

namespace torchwatch::github {
namespace {

constexpr int kRedirectsMax = 5;
/// 100 issues of 65,536 characters each, a character being up to six bytes of JSON.
constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20U;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 307 || status == 308;
}

bool is_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                  c == '.';
         });
}

Status check_repository(const std::string& repository) {
  const auto slash = repository.find('/');
  if (slash != std::string::npos && is_name(repository.substr(0, slash)) &&
      is_name(repository.substr(slash + 1))) {
    return {};
  }
  return fail(ErrorCode::invalid,
              "[github] repository: invalid name \"" + repository + "\": must be owner/name");
}

/// Extracts the target of rel="next" from a Link header: <https://...>; rel="next", <...>;
/// rel="last".
std::string next_link(const platform::HttpResponse& response) {
  const auto header = response.headers.find("link");
  if (header == response.headers.end()) return "";
  const std::string& text = header->second;
  const auto rel = text.find("rel=\"next\"");
  if (rel == std::string::npos) return "";
  const auto close = text.rfind('>', rel);
  const auto open = text.rfind('<', close);
  if (open == std::string::npos || close == std::string::npos) return "";
  return text.substr(open + 1, close - open - 1);
}

}  // namespace

std::map<std::string, std::string> request_headers(const std::string& token) {
  return {{"Accept", "application/vnd.github+json"},
          {"X-GitHub-Api-Version", "2022-11-28"},
          {"Authorization", "Bearer " + token}};
}

GithubApi::GithubApi(platform::HttpClient& http, const platform::Clock& clock,
                     const GithubSettings& settings, WebAddress api, std::stop_token stop)
    : http_(&http),
      clock_(&clock),
      settings_(&settings),
      api_(std::move(api)),
      stop_(std::move(stop)) {}

Result<GithubApi> GithubApi::create(platform::HttpClient& http, const platform::Clock& clock,
                                    const GithubSettings& settings, std::stop_token stop) {
  TW_TRY_VOID(check_repository(settings.repository));
  auto api = parse_address(settings.api);
  if (!api) return fail(api.error().within("[github] api"));
  if (api->target.ends_with('/')) api->target.pop_back();
  return GithubApi(http, clock, settings, std::move(*api), std::move(stop));
}

WebAddress GithubApi::address(const std::string& path) const {
  WebAddress address = api_;
  address.target += "/repos/" + settings_->repository + path;
  return address;
}

platform::HttpRequest GithubApi::request(const std::string& method) const {
  platform::HttpRequest request;
  request.method = method;
  request.time_limit = settings_->time_limit;
  request.stop = stop_;
  request.response_bytes_max = kAnswerBytesMax;
  request.headers = request_headers(settings_->token);
  return request;
}

Result<WebAddress> GithubApi::follow(const platform::HttpResponse& response, const WebAddress& at,
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

Delivered<platform::HttpResponse> GithubApi::exchange(platform::HttpRequest request,
                                                      WebAddress at) const {
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

Delivered<ListPage> GithubApi::get_page(const WebAddress& at) const {
  const std::string what = "GET " + at.target;
  auto response = exchange(request("GET"), at);
  if (!response) return tl::unexpected(std::move(response).error());
  if (response->status != 200) {
    return tl::unexpected(failure_of(*response, what, settings_->repository, clock_->wall_now()));
  }
  ListPage page;
  page.items = nlohmann::json::parse(response->body, nullptr, false);
  if (!page.items.is_array()) {
    return tl::unexpected(
        failure_of(Error{ErrorCode::corrupt, what + ": the answer is not a list"}));
  }
  const std::string link = next_link(*response);
  if (link.empty()) return page;
  auto next = resolve(at, link);
  if (!next || !next->has_origin_of(api_)) {
    return tl::unexpected(failure_of(
        Error{ErrorCode::corrupt, what + ": the next page is on another host: " + link}));
  }
  page.next = std::move(*next);
  return page;
}

Delivered<nlohmann::json> GithubApi::write(const std::string& method, const std::string& path,
                                           const nlohmann::json& body) const {
  const WebAddress at = address(path);
  platform::HttpRequest outgoing = request(method);
  outgoing.headers.emplace("Content-Type", "application/json");
  outgoing.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  auto response = exchange(std::move(outgoing), at);
  if (!response) return tl::unexpected(std::move(response).error());
  if (response->status != 200 && response->status != 201) {
    return tl::unexpected(
        failure_of(*response, method + " " + at.target, settings_->repository, clock_->wall_now()));
  }
  auto answer = nlohmann::json::parse(response->body, nullptr, false);
  if (!answer.is_object()) {
    return tl::unexpected(failure_of(
        Error{ErrorCode::corrupt, method + " " + at.target + ": the answer is not a JSON object"}));
  }
  return answer;
}

}  // namespace torchwatch::github
