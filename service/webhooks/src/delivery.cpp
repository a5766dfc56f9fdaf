#include "delivery.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>

namespace torchwatch::webhooks {
namespace {

using nlohmann::json;
using storage::ReceivedRow;

constexpr int kDepthMax = 64;
constexpr std::array kUsedActions{"closed", "reopened",  "deleted", "transferred",
                                  "edited", "unlabeled", "labeled"};

struct TooDeep : std::exception {};

bool is_same(const std::string& left, const std::string& right) {
  return std::ranges::equal(left, right, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
}

/// Returns the member at the path, or null where there is none.
const json& at(const json& object, std::initializer_list<const char*> path) {
  static const json kNone;
  const json* found = &object;
  for (const auto* name : path) {
    if (!found->is_object() || !found->contains(name)) return kNone;
    found = &found->at(name);
  }
  return *found;
}

std::string text_at(const json& object, std::initializer_list<const char*> path) {
  const auto& found = at(object, path);
  return found.is_string() ? found.get<std::string>() : "";
}

std::int64_t number_at(const json& object, std::initializer_list<const char*> path) {
  const auto& found = at(object, path);
  return found.is_number_integer() ? found.get<std::int64_t>() : 0;
}

Error lacks(const char* what) {
  return {ErrorCode::invalid, std::string("the delivery lacks ") + what};
}

/// Whether a line begins with the prefix; which of them is a command is decided later.
bool may_hold_command(const std::string& text, const std::string& prefix) {
  for (std::size_t line = 0; line < text.size();) {
    const auto first = text.find_first_not_of(" \r\n", line);
    if (first == std::string::npos) return false;
    if (text.compare(first, prefix.size(), prefix) == 0) return true;
    const auto end = text.find_first_of("\r\n", first);
    if (end == std::string::npos) return false;
    line = end + 1;
  }
  return false;
}

Result<std::optional<ReceivedRow>> used_of_issue(const json& payload, const std::string& action) {
  if (std::ranges::find(kUsedActions, action) == kUsedActions.end()) return std::nullopt;
  ReceivedRow row{.kind = storage::ReceivedKind::issue, .action = action};
  row.issue = number_at(payload, {"issue", "number"});
  if (row.issue <= 0) return fail(lacks("the number of its issue"));
  const auto closed_at = text_at(payload, {"issue", "closed_at"});
  row.body_json =
      json{{"at", action == "closed" ? closed_at : text_at(payload, {"issue", "updated_at"})},
           {"link", text_at(payload, {"changes", "new_issue", "html_url"})}}
          .dump(-1, ' ', false, json::error_handler_t::replace);
  return row;
}

Result<std::optional<ReceivedRow>> used_of_comment(const json& payload, const std::string& action,
                                                   const std::string& prefix) {
  const auto text = text_at(payload, {"comment", "body"});
  const bool is_of_bot = text_at(payload, {"comment", "user", "type"}) == "Bot" ||
                         text_at(payload, {"sender", "type"}) == "Bot" ||
                         !at(payload, {"comment", "performed_via_github_app"}).is_null();
  if (action != "created" || is_of_bot || !may_hold_command(text, prefix)) return std::nullopt;
  ReceivedRow row{.kind = storage::ReceivedKind::comment, .action = action};
  row.issue = number_at(payload, {"issue", "number"});
  const auto comment = number_at(payload, {"comment", "id"});
  const auto login = text_at(payload, {"comment", "user", "login"});
  if (row.issue <= 0) return fail(lacks("the number of its issue"));
  if (comment <= 0 || login.empty()) return fail(lacks("its comment's id or author"));
  row.body_json = json{{"repository", text_at(payload, {"repository", "full_name"})},
                       {"comment", comment},
                       {"text", text},
                       {"at", text_at(payload, {"comment", "created_at"})},
                       {"login", login},
                       {"login_id", number_at(payload, {"comment", "user", "id"})}}
                      .dump(-1, ' ', false, json::error_handler_t::replace);
  return row;
}

}  // namespace

Result<json> parse_payload(const std::string& body) {
  const auto limit_depth = [](int depth, json::parse_event_t, json&) {
    if (depth > kDepthMax) throw TooDeep();
    return true;
  };
  json payload;
  try {
    payload = json::parse(body, limit_depth, false);
  } catch (const TooDeep&) {
    return fail(ErrorCode::invalid, "the body is nested deeper than 64 levels");
  }
  if (!payload.is_object()) return fail(ErrorCode::invalid, "the body must be a JSON object");
  return payload;
}

bool is_of_another(const json& payload, const std::string& repository) {
  const auto named = text_at(payload, {"repository", "full_name"});
  return !named.empty() && !is_same(named, repository);
}

bool is_of_another_installation(const json& payload, std::int64_t installation) {
  const auto named = number_at(payload, {"installation", "id"});
  return installation != 0 && named != 0 && named != installation;
}

Result<std::optional<ReceivedRow>> used_part(const std::string& event, const json& payload,
                                             const std::string& command_prefix) {
  const auto action = text_at(payload, {"action"});
  if (event == "issues") return used_of_issue(payload, action);
  if (event == "issue_comment") return used_of_comment(payload, action, command_prefix);
  return std::nullopt;
}

}  // namespace torchwatch::webhooks
