#include "torchwatch/identity/app_tokens.hpp"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "torchwatch/config/config.hpp"
#include "torchwatch/identity/app_jwt.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/secrets/secrets.hpp"

namespace torchwatch::identity {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr seconds kTimeLimit{30};
/// A token is replaced so long before it ends: a request may take a while.
constexpr seconds kMargin{5 * 60};
/// Clocks that differ by less agree: an answer and the way to it take time.
constexpr seconds kSkewMin{5};

/// "Mon, 17 Aug 2026 03:04:05 GMT", in seconds since the epoch.
std::optional<seconds> date_of(const platform::HttpResponse& response) {
  const auto found = response.headers.find("date");
  if (found == response.headers.end()) return {};
  std::istringstream text(found->second);
  text.imbue(std::locale::classic());
  std::tm parts{};
  text >> std::get_time(&parts, "%a, %d %b %Y %H:%M:%S GMT");
  if (text.fail()) return {};
  return seconds(::timegm(&parts));
}

std::string text_of(const json& node, const char* member) {
  const auto found = node.find(member);
  return found != node.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_of(const json& node, const char* member) {
  const auto found = node.find(member);
  return found != node.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string message_of(const platform::HttpResponse& response) {
  const auto body = json::parse(response.body, nullptr, false);
  return body.is_object() ? report::clean(log::redact(text_of(body, "message")), 200) : "";
}

github::DeliveryFailure unreadable(const std::string& what) {
  return github::failure_of(Error{ErrorCode::corrupt, what});
}

}  // namespace

AppTokens::AppTokens(platform::HttpClient& http, const platform::Clock& clock, AppSettings settings)
    : http_(http),
      clock_(clock),
      settings_(std::move(settings)),
      installation_(settings_.installation) {}

Delivered<std::string> AppTokens::token(std::stop_token stop) {
  const std::scoped_lock lock(mutex_);
  if (token_ && clock_.monotonic_now() < token_->used_until) return token_->text;
  token_.reset();
  auto made = make_token(stop);
  if (!made) return tl::unexpected(std::move(made).error());
  token_ = std::move(*made);
  return token_->text;
}

bool AppTokens::renew(const std::string& refused) {
  const std::scoped_lock lock(mutex_);
  if (token_ && token_->text == refused) token_.reset();
  return true;
}

Delivered<github::Account> AppTokens::account(std::stop_token stop) {
  const std::scoped_lock lock(mutex_);
  if (account_) return *account_;
  const auto response = send("GET", "/app", stop);
  if (!response) return tl::unexpected(response.error());
  const auto app = object(*response, "GET /app");
  if (!app) return tl::unexpected(app.error());
  const auto slug = text_of(*app, "slug");
  if (slug.empty()) return tl::unexpected(unreadable("GET /app: the answer lacks the slug"));
  account_ = github::Account{.login = slug + "[bot]", .id = 0, .is_bot = true};
  return *account_;
}

Delivered<Installation> AppTokens::installation(std::stop_token stop) {
  const std::scoped_lock lock(mutex_);
  return find_installation(stop);
}

Delivered<Installation> AppTokens::find_installation(const std::stop_token& stop) {
  const std::string path = "/repos/" + settings_.repository + "/installation";
  const auto response = send("GET", path, stop);
  if (!response) return tl::unexpected(response.error());
  const auto found = object(*response, "GET " + path);
  if (!found) return tl::unexpected(found.error());
  Installation installation{
      .id = number_of(*found, "id"), .slug = text_of(*found, "app_slug"), .permissions = {}};
  if (const auto list = found->find("permissions"); list != found->end() && list->is_object()) {
    for (const auto& [name, right] : list->items()) {
      if (right.is_string()) installation.permissions[name] = right.get<std::string>();
    }
  }
  if (installation.id != 0) return installation;
  return tl::unexpected(unreadable("GET " + path + ": the answer lacks the id"));
}

Delivered<AppTokens::Token> AppTokens::make_token(const std::stop_token& stop) {
  if (installation_ == 0) {
    const auto found = find_installation(stop);
    if (!found) return tl::unexpected(found.error());
    installation_ = found->id;
  }
  const auto asked_at = clock_.monotonic_now();
  const std::string path = "/app/installations/" + std::to_string(installation_) + "/access_tokens";
  const auto response = send("POST", path, stop);
  if (!response) return tl::unexpected(response.error());
  // An App that was taken away and installed again has another installation.
  if (response->status == 404) installation_ = settings_.installation;
  const auto answer = object(*response, "POST " + path);
  if (!answer) return tl::unexpected(answer.error());
  const auto text = text_of(*answer, "token");
  const auto ends_at = platform::parse_iso_utc(text_of(*answer, "expires_at"));
  if (text.empty() || !ends_at) {
    return tl::unexpected(unreadable("POST " + path + ": the answer lacks token or expires_at"));
  }
  const auto now = date_of(*response).value_or(seconds(clock_.wall_now() / 1000) + skew_);
  const auto life = seconds(*ends_at / 1000) - now - kMargin;
  return Token{.text = text, .used_until = asked_at + std::max(life, seconds(0))};
}

Delivered<platform::HttpResponse> AppTokens::send(const std::string& method,
                                                  const std::string& path,
                                                  const std::stop_token& stop) {
  auto response = send_once(method, path, stop);
  const bool is_rejected = response && response->status == 401;
  if (!is_rejected || !correct_clock(*response)) return response;
  return send_once(method, path, stop);
}

Delivered<platform::HttpResponse> AppTokens::send_once(const std::string& method,
                                                       const std::string& path,
                                                       const std::stop_token& stop) const {
  const auto client = github::ApiClient::create(http_, settings_.api, kTimeLimit, stop);
  if (!client) return tl::unexpected(github::failure_of(client.error()));
  const auto key = secrets::read_secret_text(settings_.key_file);
  if (!key) return tl::unexpected(github::failure_of(key.error().within("[github] app_key_file")));
  const auto now = seconds(clock_.wall_now() / 1000) + skew_;
  const auto jwt = make_app_jwt(*key, settings_.app, now);
  if (!jwt) return tl::unexpected(github::failure_of(jwt.error().within("[github] app_key_file")));
  return client->send({.method = method, .at = client->address(path), .token = *jwt});
}

bool AppTokens::correct_clock(const platform::HttpResponse& response) {
  const auto theirs = date_of(response);
  if (!theirs) return false;
  const auto skew = *theirs - seconds(clock_.wall_now() / 1000);
  const auto change = skew - skew_;
  skew_ = skew;
  return std::chrono::abs(change) > kSkewMin;
}

Delivered<json> AppTokens::object(const platform::HttpResponse& response,
                                  const std::string& what) const {
  auto answer = github::object_of(response, what, settings_.repository, clock_.wall_now());
  if (answer) return answer;
  auto failure = answer.error();
  const auto app = "App " + std::to_string(settings_.app);
  const auto said = [&] {
    const auto message = message_of(response);
    return (message.empty() ? "" : " [" + message + "]") + " (" + std::to_string(response.status) +
           " to " + what + ")";
  };
  if (response.status == 401) {
    failure.sentence = "GitHub rejected the key of " + app +
                       ": check [github] app_id and app_key_file, and this machine's clock" +
                       said();
  }
  if (response.status == 404) {
    failure.sentence = app + " is not installed in " + settings_.repository +
                       ": install it there, or check [github] app_id, installation and repository" +
                       said();
  }
  return tl::unexpected(std::move(failure));
}

}  // namespace torchwatch::identity
