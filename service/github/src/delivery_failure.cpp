#include "torchwatch/github/delivery_failure.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "torchwatch/log/log.hpp"
#include "torchwatch/markdown/markdown.hpp"

namespace torchwatch::github {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr seconds kWaitMin{60};
constexpr seconds kWaitMax{30 * 60};

std::string header(const platform::HttpResponse& response, const std::string& name) {
  const auto found = response.headers.find(name);
  return found == response.headers.end() ? "" : found->second;
}

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// GitHub's own message; empty if it sent none.
std::string message_of(const platform::HttpResponse& response) {
  const auto body = nlohmann::json::parse(response.body, nullptr, false);
  if (!body.is_object() || !body.contains("message") || !body["message"].is_string()) return "";
  std::string text = body["message"].get<std::string>();
  for (const auto& error : body.value("errors", nlohmann::json::array())) {
    if (error.is_string()) text += "; " + error.get<std::string>();
    if (error.is_object())
      text += "; " + error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  // A proxy may answer with what it was sent.
  return report::clean(log::redact(text), 300);
}

bool is_rate_limit(const platform::HttpResponse& response) {
  if (response.status == 429) return true;
  return response.status == 403 && (!header(response, "retry-after").empty() ||
                                    header(response, "x-ratelimit-remaining") == "0" ||
                                    message_of(response).find("rate limit") != std::string::npos);
}

/// What the tracker asks for: retry-after first, then the reset of a used-up quota.
seconds wait_asked_for(const platform::HttpResponse& response, platform::WallMillis now) {
  if (const auto asked = number(header(response, "retry-after"))) return seconds(*asked);
  const auto reset = number(header(response, "x-ratelimit-reset"));
  if (!reset || header(response, "x-ratelimit-remaining") != "0") return seconds(0);
  return seconds(*reset - now / 1000 + 1);
}

std::string forbidden_sentence(const platform::HttpResponse& response,
                               const std::string& repository) {
  const std::string accepted = header(response, "x-accepted-github-permissions");
  return "the token may not do this in " + repository +
         ": it needs the permission Issues: read and write" +
         (accepted.empty() ? "" : " (GitHub asks for " + report::clean(accepted, 100) + ")");
}

bool says(const platform::HttpResponse& response, std::string_view words) {
  return message_of(response).find(words) != std::string::npos;
}

bool is_locked(const platform::HttpResponse& response) {
  return response.status == 403 && says(response, "is locked");
}

/// A query is long, and says nothing of why the request failed.
std::string without_query(const std::string& request) {
  return request.substr(0, request.find('?'));
}

struct Meaning {
  std::string sentence;
  bool is_for_all = true;
};

Meaning meaning_of_gone(const platform::HttpResponse& response, const std::string& repository) {
  // Somebody may switch them on again.
  if (says(response, "disabled")) {
    return {"issues are disabled in " + repository + ": enable them, or name another repository"};
  }
  return {"issues are disabled in " + repository +
              " (or this issue was deleted): enable them, or name another repository",
          false};
}

Meaning meaning_of(const platform::HttpResponse& response, const std::string& repository) {
  const bool is_of_version = response.status == 400 || response.status == 410;
  if (is_of_version && says(response, "version")) {
    return {
        "GitHub does not take the version of its API that this torchwatch speaks: install a "
        "newer torchwatch"};
  }
  switch (response.status) {
    case 401:
      return {
          "GitHub rejected the token (expired or revoked?): put a new one into the file that "
          "[github] token_file names"};
    case 403:
      // GitHub says that of one conversation by the status that it has for rights.
      if (is_locked(response)) return {"the conversation is locked", false};
      return {forbidden_sentence(response, repository)};
    case 404:
      return {"repository " + repository +
              " does not exist, or the token cannot see it: check [github] repository and the "
              "token's repositories"};
    case 410:
      return meaning_of_gone(response, repository);
    case 400:
    case 422:
      return {"GitHub rejected this message", false};
    default:
      break;
  }
  if (response.status >= 500) return {"GitHub failed"};
  return {"unexpected answer"};
}

}  // namespace

DeliveryFailure failure_of(const platform::HttpResponse& response, const std::string& what,
                           const std::string& repository, platform::WallMillis now) {
  const bool limited = is_rate_limit(response);
  const Meaning meaning =
      limited ? Meaning{"GitHub's rate limit is reached"} : meaning_of(response, repository);
  DeliveryFailure failure;
  failure.is_for_all = meaning.is_for_all;
  failure.status = response.status;
  failure.is_locked = is_locked(response);
  failure.is_refusal =
      !limited && response.status >= 400 && response.status < 500 && response.status != 401;
  if (limited || response.status >= 500) failure.wait = wait_asked_for(response, now);
  failure.sentence = meaning.sentence;
  if (const auto message = message_of(response); !message.empty()) {
    failure.sentence += " [" + message + "]";
  }
  failure.sentence += " (" + std::to_string(response.status) + " to " + without_query(what) + ")";
  return failure;
}

seconds pause_asked_for(const platform::HttpResponse& response, platform::WallMillis now) {
  if (!is_rate_limit(response)) return seconds(0);
  return wait_after({.sentence = {}, .wait = wait_asked_for(response, now)}, 1);
}

DeliveryFailure failure_of(const Error& error) {
  return {.sentence = error.text(), .is_for_all = true};
}

seconds wait_after(const DeliveryFailure& failure, int failures) {
  const int doublings = std::clamp(failures - 1, 0, 10);
  const seconds own = std::min(kWaitMin * (1 << doublings), kWaitMax);
  // An answer (perhaps a proxy's) must not silence the outbox for longer than a day.
  const seconds asked = std::min<seconds>(failure.wait, hours(24));
  return failure.wait > seconds(0) ? asked : own;
}

}  // namespace torchwatch::github
