#include "torchwatch/github/github_api.hpp"

#include <algorithm>
#include <functional>

namespace torchwatch::github {
namespace {

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

/// A token may end before its time. GitHub has done nothing yet then, so the request is sent once
/// more, after `again`.
Delivered<platform::HttpResponse> send_with_token(const ApiClient& client, TokenSource& tokens,
                                                  const std::stop_token& stop, ApiRequest request,
                                                  const std::function<void()>& again) {
  auto token = tokens.token(stop);
  if (!token) return tl::unexpected(std::move(token).error());
  request.token = *token;
  auto response = client.send(request);
  const bool is_refused = response && response->status == 401;
  if (!is_refused || !tokens.renew(*token)) return response;
  token = tokens.token(stop);
  if (!token) return tl::unexpected(std::move(token).error());
  request.token = std::move(*token);
  again();
  return client.send(request);
}

}  // namespace

GithubApi::GithubApi(ApiClient client, const platform::Clock& clock, const GithubSettings& settings,
                     std::shared_ptr<TokenSource> tokens, std::stop_token stop)
    : client_(std::move(client)),
      clock_(&clock),
      settings_(&settings),
      tokens_(std::move(tokens)),
      stop_(std::move(stop)) {}

Result<GithubApi> GithubApi::create(platform::HttpClient& http, const platform::Clock& clock,
                                    const GithubSettings& settings, std::stop_token stop) {
  TW_TRY_VOID(check_repository(settings.repository));
  TW_TRY(auto client, ApiClient::create(http, settings.api, settings.time_limit, stop));
  auto tokens = settings.tokens
                    ? settings.tokens
                    : std::make_shared<GivenToken>(http, clock, settings.api, settings.token);
  return GithubApi(std::move(client), clock, settings, std::move(tokens), std::move(stop));
}

WebAddress GithubApi::address(const std::string& path) const {
  return root_address("/repos/" + settings_->repository + path);
}

WebAddress GithubApi::root_address(const std::string& path) const {
  return client_.address(path);
}

Delivered<Account> GithubApi::account() const {
  return tokens_->account(stop_);
}

std::optional<DeliveryFailure> GithubApi::paused() const {
  const auto left = settings_->traffic->pause_left(*clock_);
  if (left <= std::chrono::nanoseconds{0}) return std::nullopt;
  const auto wait = std::chrono::ceil<std::chrono::seconds>(left);
  return DeliveryFailure{
      .sentence = "GitHub's rate limit is reached, and it has asked for a pause: " +
                  std::to_string(wait.count()) + " s are left",
      .is_for_all = true,
      .wait = wait};
}

void GithubApi::note_pause(const Delivered<platform::HttpResponse>& response) const {
  if (!response) return;
  const auto pause = pause_asked_for(*response, clock_->wall_now());
  if (pause.count() > 0) settings_->traffic->pause_until(clock_->monotonic_now() + pause);
}

Delivered<platform::HttpResponse> GithubApi::exchange(ApiRequest request) const {
  if (auto failure = paused()) return tl::unexpected(*std::move(failure));
  auto response = send_with_token(client_, *tokens_, stop_, std::move(request), [] {});
  note_pause(response);
  return response;
}

Delivered<platform::HttpResponse> GithubApi::get(const WebAddress& at) const {
  ApiRequest request{.at = at};
  const auto kept = settings_->traffic->kept(at.text());
  if (kept) request.etag = kept->headers.at("etag");
  auto response = exchange(std::move(request));
  if (response && response->status == 304 && kept) return *kept;
  if (response && response->status == 200) settings_->traffic->keep(at.text(), *response);
  return response;
}

DeliveryFailure GithubApi::failure(const platform::HttpResponse& response,
                                   const std::string& what) const {
  return failure_of(response, what, settings_->repository, clock_->wall_now());
}

Delivered<std::optional<WebAddress>> GithubApi::next_page(const platform::HttpResponse& response,
                                                          const WebAddress& at) const {
  const std::string link = next_link(response);
  if (link.empty()) return std::nullopt;
  auto next = resolve(at, link);
  if (next && client_.has_origin_of(*next)) return std::move(*next);
  return tl::unexpected(failure_of(Error{
      ErrorCode::corrupt, "GET " + at.target + ": the next page is on another host: " + link}));
}

Delivered<ListPage> GithubApi::get_page(const WebAddress& at) const {
  const std::string what = "GET " + at.target;
  auto response = get(at);
  if (!response) return tl::unexpected(std::move(response).error());
  if (response->status != 200) return tl::unexpected(failure(*response, what));
  ListPage page;
  page.items = nlohmann::json::parse(response->body, nullptr, false);
  if (!page.items.is_array()) {
    return tl::unexpected(
        failure_of(Error{ErrorCode::corrupt, what + ": the answer is not a list"}));
  }
  auto next = next_page(*response, at);
  if (!next) return tl::unexpected(std::move(next).error());
  page.next = std::move(*next);
  return page;
}

Delivered<Found> GithubApi::find(const WebAddress& at, const std::string& etag) const {
  const std::string what = "GET " + at.target;
  auto response = exchange({.at = at, .etag = etag});
  if (!response) return tl::unexpected(std::move(response).error());
  Found found{.status = response->status};
  if (found.status == 304 || found.status == 404 || found.status == 410) return found;
  if (found.status != 200) return tl::unexpected(failure(*response, what));
  found.body = nlohmann::json::parse(response->body, nullptr, false);
  if (!found.body.is_structured()) {
    return tl::unexpected(failure_of(Error{ErrorCode::corrupt, what + ": the answer is not JSON"}));
  }
  if (const auto tag = response->headers.find("etag"); tag != response->headers.end()) {
    found.etag = tag->second;
  }
  auto next = next_page(*response, at);
  if (!next) return tl::unexpected(std::move(next).error());
  found.next = std::move(*next);
  return found;
}

Delivered<nlohmann::json> GithubApi::read(const std::string& path) const {
  const auto at = address(path);
  const auto response = get(at);
  if (!response) return tl::unexpected(response.error());
  return object_of(*response, "GET " + at.target, settings_->repository, clock_->wall_now());
}

Delivered<nlohmann::json> GithubApi::write(const std::string& method, const std::string& path,
                                           const nlohmann::json& body) const {
  const WebAddress at = address(path);
  ApiRequest request{.method = method, .at = at};
  request.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto begin = [&] {
    return settings_->traffic->begin_write(*clock_, settings_->write_interval, stop_);
  };
  auto turn = begin();
  if (auto failure = paused()) return tl::unexpected(*std::move(failure));
  // What is sent once more is another write, a second after the one before it.
  const auto response = send_with_token(client_, *tokens_, stop_, std::move(request), [&] {
    turn.unlock();
    turn = begin();
  });
  note_pause(response);
  auto answer = response ? object_of(*response, method + " " + at.target, settings_->repository,
                                     clock_->wall_now())
                         : tl::unexpected(response.error());
  const bool is_refused = response && response->status >= 400 && response->status < 500;
  if (!answer) answer.error().may_be_done = !is_refused;
  return answer;
}

}  // namespace torchwatch::github
