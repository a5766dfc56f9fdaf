#include "replies.hpp"

#include <charconv>
#include <optional>

#include "torchwatch/platform/failpoint.hpp"

namespace torchwatch::github {
namespace {

using nlohmann::json;
using storage::OutboxRow;

constexpr std::string_view kIssue = "issue/";
constexpr int kNotFound = 404;

DeliveryFailure without_issue() {
  return {.sentence = "the reply does not say to which issue it belongs"};
}

std::optional<std::int64_t> issue_of(const OutboxRow& message) {
  if (!message.title.starts_with(kIssue)) return std::nullopt;
  std::int64_t number = 0;
  const auto* begin = message.title.data() + kIssue.size();
  const auto [end, error] =
      std::from_chars(begin, message.title.data() + message.title.size(), number);
  return error == std::errc{} && number > 0 ? std::optional(number) : std::nullopt;
}

/// The comment that an earlier message of the same answer became.
std::string comment_before(const OutboxRow& message, const std::vector<OutboxRow>& of_target) {
  std::string comment;
  for (const auto& each : of_target) {
    if (each.id < message.id && !each.answer.empty()) comment = each.answer;
  }
  return comment;
}

/// Whether a later message says more: what would be replaced at once need not be said.
bool is_outdated(const OutboxRow& message, const std::vector<OutboxRow>& of_target) {
  return !of_target.empty() && of_target.back().id > message.id;
}

std::string id_of(const json& comment) {
  const bool has_id = comment.is_object() && comment.contains("id");
  return has_id && comment.at("id").is_number_integer()
             ? std::to_string(comment.at("id").get<std::int64_t>())
             : "";
}

Delivered<std::string> find_comment(std::int64_t issue, const std::string& marker,
                                    const GithubApi& api) {
  const auto account = api.account();
  if (!account) return tl::unexpected(account.error());
  std::optional<WebAddress> at =
      api.address("/issues/" + std::to_string(issue) + "/comments?per_page=100");
  while (at) {
    auto page = api.get_page(*at);
    if (!page) return tl::unexpected(std::move(page).error());
    for (const auto& comment : page->items) {
      // Anybody can copy a marker.
      const bool is_of_account = comment.is_object() && account->wrote(comment);
      const auto body = is_of_account ? comment.find("body") : comment.end();
      const bool is_ours = body != comment.end() && body->is_string() &&
                           body->get_ref<const std::string&>().find(marker) != std::string::npos;
      if (is_ours) return id_of(comment);
    }
    at = std::move(page->next);
  }
  return std::string();
}

Delivered<bool> pass(std::string_view failpoint) {
  if (auto status = platform::failpoint(failpoint); !status) {
    return tl::unexpected(failure_of(status.error()));
  }
  return true;
}

Delivered<std::string> add(std::int64_t issue, const OutboxRow& message, const std::string& marker,
                           const GithubApi& api) {
  auto found = find_comment(issue, marker, api);
  if (!found || !found->empty()) return found;
  if (auto ok = pass("outbox.before_post"); !ok) return tl::unexpected(std::move(ok).error());
  const auto made = api.write("POST", "/issues/" + std::to_string(issue) + "/comments",
                              json{{"body", message.body}});
  if (!made) return tl::unexpected(made.error());
  if (auto ok = pass("outbox.after_post"); !ok) return tl::unexpected(std::move(ok).error());
  if (auto id = id_of(*made); !id.empty()) return id;
  return tl::unexpected(
      failure_of(Error{ErrorCode::corrupt, "POST a comment: the answer lacks its id"}));
}

}  // namespace

Delivered<Replied> send_reply(const OutboxRow& message, const std::string& marker,
                              const std::vector<OutboxRow>& of_target, const GithubApi& api) {
  const auto issue = issue_of(message);
  if (!issue) return tl::unexpected(without_issue());
  const auto before = comment_before(message, of_target);
  if (before.empty()) {
    auto added = add(*issue, message, marker, api);
    if (!added) return tl::unexpected(std::move(added).error());
    return Replied{*issue, *std::move(added)};
  }
  if (is_outdated(message, of_target)) return Replied{*issue, before};
  const auto edited =
      api.write("PATCH", "/issues/comments/" + before, json{{"body", message.body}});
  if (edited) return Replied{*issue, before};
  if (edited.error().status != kNotFound) return tl::unexpected(edited.error());
  // Somebody deleted it: a new one takes its place.
  auto anew = add(*issue, message, marker, api);
  if (!anew) return tl::unexpected(std::move(anew).error());
  return Replied{*issue, *std::move(anew)};
}

}  // namespace torchwatch::github
