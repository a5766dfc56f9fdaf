#include "issue_tracker.hpp"

#include <algorithm>
#include <functional>

#include "refusals.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::github {
namespace {

using nlohmann::json;

/// A list that has more pages counts as endless.
constexpr int kPagesMax = 200;

std::string text_of(const json& item, const char* member) {
  const auto found = item.find(member);
  return found != item.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::int64_t> number_of(const json& issue) {
  const auto found = issue.find("number");
  if (found == issue.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

/// Anybody can copy a marker, so what holds it counts only if this account wrote it.
bool is_ours(const json& item, const std::string& marker, const Account& account) {
  return account.wrote(item) && text_of(item, "body").find(marker) != std::string::npos;
}

/// The names that a list of the issue lacks, each behind a blank. GitHub takes no notice of
/// capitals; an answer without the list says nothing.
std::string left_out(const std::vector<std::string>& wanted, const json& issue, const char* list,
                     const char* member) {
  const auto found = issue.find(list);
  if (found == issue.end() || !found->is_array()) return "";
  std::string names;
  for (const auto& name : wanted) {
    const bool is_there = std::ranges::any_of(*found, [&](const json& item) {
      return item.is_object() && lower(text_of(item, member)) == lower(name);
    });
    if (!is_there) names += " " + name;
  }
  return names;
}

/// Calls `is_found` for the items of every page until it returns true. Returns whether it did.
Delivered<bool> search_pages(const GithubApi& api, WebAddress at,
                             const std::function<bool(const json&)>& is_found) {
  for (int count = 0; count < kPagesMax; ++count) {
    auto page = api.get_page(at);
    if (!page) return tl::unexpected(std::move(page).error());
    for (const auto& item : page->items) {
      if (item.is_object() && is_found(item)) return true;
    }
    if (!page->next) return false;
    at = *page->next;
  }
  // Others need not read so much.
  return tl::unexpected(DeliveryFailure{.sentence = at.text() + ": the list does not end within " +
                                                    std::to_string(kPagesMax) + " pages"});
}

}  // namespace

std::string id_of(const json& item) {
  const auto found = item.find("id");
  if (found == item.end() || !found->is_number_integer()) return "";
  return std::to_string(found->get<std::int64_t>());
}

Delivered<std::optional<std::string>> find_comment(const GithubApi& api, std::int64_t issue,
                                                   const std::string& marker) {
  const auto account = api.account();
  if (!account) return tl::unexpected(account.error());
  std::optional<std::string> id;
  const auto is_found = [&](const json& comment) {
    if (!is_ours(comment, marker, *account)) return false;
    id = id_of(comment);
    return true;
  };
  const auto searched = search_pages(
      api, api.address("/issues/" + std::to_string(issue) + "/comments?per_page=100"), is_found);
  if (!searched) return tl::unexpected(missing_issue(searched.error(), api));
  return id;
}

Delivered<std::optional<std::int64_t>> IssueTracker::find_issue(const std::string& marker,
                                                                platform::WallMillis since) const {
  const auto account = api_.account();
  if (!account) return tl::unexpected(account.error());
  const std::string since_text = platform::iso_utc(since);
  std::optional<std::int64_t> number;
  const auto is_found = [&](const json& issue) {
    // Newest first: what is older than the incident cannot be about it.
    const std::string created = text_of(issue, "created_at");
    if (!created.empty() && created < since_text) return true;
    // The last one found is the oldest: a copy of it is younger.
    if (!issue.contains("pull_request") && is_ours(issue, marker, *account)) {
      number = number_of(issue);
    }
    return false;
  };
  const auto searched = search_pages(
      api_,
      api_.address("/issues?state=all&sort=created&direction=desc&per_page=100&since=" +
                   since_text),
      is_found);
  if (!searched) return tl::unexpected(searched.error());
  return number;
}

Delivered<std::int64_t> IssueTracker::open_issue(const std::string& title,
                                                 const std::string& body) const {
  json issue{{"title", title}, {"body", body}};
  // Without push access GitHub drops the labels silently and still opens the issue.
  if (!settings_.labels.empty()) issue["labels"] = settings_.labels;
  const auto answer = api_.write("POST", "/issues", issue);
  if (!answer) return tl::unexpected(answer.error());
  if (const auto number = number_of(*answer)) {
    if (const auto names = left_out(settings_.labels, *answer, "labels", "name"); !names.empty()) {
      logger_.warning(
          "GitHub left labels out of a new issue, as it does where the token may not push to the "
          "repository:" +
              names,
          {{"issue", *number}});
    }
    return *number;
  }
  return tl::unexpected(
      failure_of(Error{ErrorCode::corrupt, "POST /issues: the answer lacks the issue's number"}));
}

Delivered<bool> IssueTracker::assign(std::int64_t issue,
                                     const std::vector<std::string>& logins) const {
  // GitHub refuses to open, or to change, an issue with a name that it cannot assign; here it
  // leaves that name out.
  const auto answer = api_.write("POST", "/issues/" + std::to_string(issue) + "/assignees",
                                 json{{"assignees", logins}});
  if (!answer) return tl::unexpected(answer.error());
  const auto names = left_out(logins, *answer, "assignees", "login");
  if (names.empty()) return true;
  logger_.warning(
      "GitHub did not assign an issue, as it does where the token may not push to the repository "
      "or somebody may not be assigned there:" +
          names,
      {{"issue", issue}});
  return true;
}

Delivered<bool> IssueTracker::add_comment(std::int64_t issue, const std::string& body) const {
  const auto answer =
      api_.write("POST", "/issues/" + std::to_string(issue) + "/comments", json{{"body", body}});
  if (!answer) return tl::unexpected(answer.error());
  return true;
}

Delivered<bool> IssueTracker::close_issue(std::int64_t issue) const {
  return set_state(issue, "closed", "completed");
}

Delivered<bool> IssueTracker::reopen_issue(std::int64_t issue) const {
  return set_state(issue, "open", "reopened");
}

Delivered<bool> IssueTracker::set_state(std::int64_t issue, const char* state,
                                        const char* reason) const {
  const auto answer = api_.write("PATCH", "/issues/" + std::to_string(issue),
                                 json{{"state", state}, {"state_reason", reason}});
  if (!answer) return tl::unexpected(answer.error());
  return true;
}

}  // namespace torchwatch::github
