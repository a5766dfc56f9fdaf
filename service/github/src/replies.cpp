#include "replies.hpp"

#include <charconv>
#include <optional>

#include "issue_tracker.hpp"
#include "refusals.hpp"
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

Delivered<bool> pass(std::string_view failpoint) {
  if (auto status = platform::failpoint(failpoint); !status) {
    return tl::unexpected(failure_of(status.error()));
  }
  return true;
}

Delivered<std::string> add(std::int64_t issue, const OutboxRow& message, const std::string& marker,
                           const GithubApi& api) {
  auto found = find_comment(api, issue, marker);
  if (!found) return tl::unexpected(std::move(found).error());
  if (!found->value_or("").empty()) return **std::move(found);
  if (auto ok = pass("outbox.before_post"); !ok) return tl::unexpected(std::move(ok).error());
  const auto made = api.write("POST", "/issues/" + std::to_string(issue) + "/comments",
                              json{{"body", message.body}});
  if (!made) return tl::unexpected(missing_issue(made.error(), api));
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
