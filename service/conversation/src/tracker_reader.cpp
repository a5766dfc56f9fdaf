#include "tracker_reader.hpp"

#include <algorithm>
#include <charconv>

namespace torchwatch::conversation {
namespace {

using nlohmann::json;

/// 1,000 comments or events: who writes more on one issue is not read to the end.
constexpr int kPagesMax = 10;
constexpr std::size_t kLoginBytesMax = 100;

const json& member(const json& object, const char* name) {
  static const json kNone;
  return object.is_object() && object.contains(name) ? object.at(name) : kNone;
}

Person person_of(const json& object, const char* name) {
  const auto& user = member(object, name);
  return {.login = text_of(user, "login"),
          .id = number_of(user, "id"),
          .is_program = text_of(user, "type") == "Bot" ||
                        !member(object, "performed_via_github_app").is_null()};
}

std::string detail_of(const json& event) {
  const auto label = text_of(member(event, "label"), "name");
  return label.empty() ? text_of(member(event, "rename"), "to") : label;
}

IssueEvent event_of(const json& event) {
  return {.id = number_of(event, "id"),
          .event = text_of(event, "event"),
          .actor = person_of(event, "actor"),
          .detail = detail_of(event),
          .state_reason = text_of(event, "state_reason"),
          .at = platform::parse_iso_utc(text_of(event, "created_at")).value_or(0)};
}

/// The number that an address ends with: ".../issues/17".
std::int64_t number_at_end(const std::string& address) {
  const auto slash = address.rfind('/');
  if (slash == std::string::npos) return 0;
  std::int64_t number = 0;
  const auto* begin = address.data() + slash + 1;
  const auto [end, error] = std::from_chars(begin, address.data() + address.size(), number);
  return error == std::errc{} && end == address.data() + address.size() ? number : 0;
}

bool is_login(const std::string& login) {
  return !login.empty() && login.size() <= kLoginBytesMax && std::ranges::all_of(login, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
}

}  // namespace

std::string text_of(const json& object, const char* name) {
  const auto& found = member(object, name);
  return found.is_string() ? found.get<std::string>() : "";
}

std::int64_t number_of(const json& object, const char* name) {
  const auto& found = member(object, name);
  return found.is_number_integer() ? found.get<std::int64_t>() : 0;
}

Error error_of(const github::DeliveryFailure& failure) {
  return {failure.is_for_all ? ErrorCode::unavailable : ErrorCode::invalid, failure.sentence};
}

Comment comment_of(const json& comment) {
  return {.id = number_of(comment, "id"),
          .issue = number_at_end(text_of(comment, "issue_url")),
          .author = person_of(comment, "user"),
          .text = text_of(comment, "body"),
          .created_at = text_of(comment, "created_at"),
          .updated_at = text_of(comment, "updated_at")};
}

Result<std::vector<json>> TrackerReader::all(const std::string& path) const {
  std::vector<json> items;
  std::optional<github::WebAddress> at = api_.address(path);
  for (int page = 0; at && page < kPagesMax; ++page) {
    auto found = api_.get_page(*at);
    if (!found) return fail(error_of(found.error()));
    std::ranges::move(found->items, std::back_inserter(items));
    at = std::move(found->next);
  }
  return items;
}

Result<std::string> TrackerReader::own_login() const {
  // An App's token may not be able to ask for its name; its doings are a bot's.
  const auto account = api_.account();
  if (!account) return fail(error_of(account.error()));
  return account->login;
}

Result<std::string> TrackerReader::repository_now() const {
  const auto listed = api_.find(api_.address("/issues?state=all&per_page=1"));
  if (!listed) return fail(error_of(listed.error()));
  if (listed->status != 200) {
    return fail(ErrorCode::unavailable, "the issues of [github] repository cannot be seen");
  }
  return listed->body.is_array() && !listed->body.empty()
             ? text_of(listed->body.front(), "repository_url")
             : std::string();
}

Result<IssueNow> TrackerReader::issue(std::int64_t number) const {
  const auto found = api_.find(api_.address("/issues/" + std::to_string(number)));
  if (!found) return fail(error_of(found.error()));
  IssueNow now;
  if (found->status != 200) {
    // A token that lost its rights sees nothing at all: that deletes no issue.
    TW_TRY_VOID(repository_now());
    now.is_there = false;
    return now;
  }
  now.state = text_of(found->body, "state");
  now.state_reason = text_of(found->body, "state_reason");
  now.link = text_of(found->body, "html_url");
  now.is_pull = found->body.is_object() && found->body.contains("pull_request");
  const auto lies_in = text_of(found->body, "repository_url");
  const auto address = github::parse_address(lies_in);
  if (!address || address->target == api_.address("").target) return now;
  // Not where it was asked for: the issue was moved, or the repository has another name.
  TW_TRY(const auto ours, repository_now());
  if (lies_in != ours) now.moved_to = now.link.empty() ? lies_in : now.link;
  return now;
}

Result<std::vector<IssueEvent>> TrackerReader::events(std::int64_t issue) const {
  TW_TRY(const auto items, all("/issues/" + std::to_string(issue) + "/events?per_page=100"));
  std::vector<IssueEvent> events;
  for (const auto& item : items) events.push_back(event_of(item));
  std::ranges::sort(events, {}, &IssueEvent::id);
  return events;
}

Result<std::string> TrackerReader::last_comment_of(std::int64_t issue,
                                                   const std::string& login) const {
  TW_TRY(const auto items, all("/issues/" + std::to_string(issue) + "/comments?per_page=100"));
  std::string last;
  for (const auto& item : items) {
    auto comment = comment_of(item);
    if (comment.author.login == login) last = std::move(comment.text);
  }
  return last;
}

Result<std::vector<std::string>> TrackerReader::roles_of(const std::string& login) const {
  if (!is_login(login)) return std::vector<std::string>{};
  const auto found = api_.find(api_.address("/collaborators/" + login + "/permission"));
  if (!found) return fail(error_of(found.error()));
  return std::vector{text_of(found->body, "permission"), text_of(found->body, "role_name")};
}

Status TrackerReader::react(std::int64_t comment, const std::string& content) const {
  const auto answer =
      api_.write("POST", "/issues/comments/" + std::to_string(comment) + "/reactions",
                 json{{"content", content}});
  return answer ? Status{} : Status{fail(error_of(answer.error()))};
}

Result<Look> TrackerReader::changed(const std::string& list, platform::WallMillis since,
                                    const std::string& etag) const {
  const auto path = list +
                    "?sort=updated&direction=asc&per_page=100&since=" + platform::iso_utc(since) +
                    (list == "/issues" ? "&state=all" : "");
  Look look;
  std::optional<github::WebAddress> at = api_.address(path);
  for (int page = 0; at && page < kPagesMax; ++page) {
    auto found = api_.find(*at, page == 0 ? etag : "");
    if (!found) return fail(error_of(found.error()));
    if (found->status == 304) return look;
    if (found->status != 200) {
      return fail(ErrorCode::unavailable, "the issues of [github] repository cannot be seen");
    }
    look.is_news = true;
    if (page == 0) look.etag = found->etag;
    for (auto& item : found->body) look.items.push_back(std::move(item));
    at = std::move(found->next);
  }
  return look;
}

}  // namespace torchwatch::conversation
