#include "senders.hpp"

#include <algorithm>
#include <charconv>

#include "refusals.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/issues/notices.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::github {
namespace {

using nlohmann::json;
using storage::OutboxKind;
using storage::OutboxRow;

/// GitHub's clock and this machine's may differ by this much.
constexpr platform::WallMillis kClockDoubt = 24LL * 3600 * 1000;
constexpr int kLabelPagesMax = 50;
constexpr int kUnprocessable = 422;

tl::unexpected<DeliveryFailure> cannot_be_sent(const OutboxRow& message) {
  return tl::unexpected(
      DeliveryFailure{.sentence = "no message of this kind goes to \"" + message.target + "\""});
}

std::string behind(const std::string& target, std::string_view start) {
  return target.starts_with(start) ? target.substr(start.size()) : "";
}

template <typename Number>
std::optional<Number> number_in(const std::string& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

std::string text_of(const json& item, const char* member) {
  const auto found = item.find(member);
  return found != item.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::int64_t> issue_of(const std::vector<OutboxRow>& messages) {
  const auto open = std::ranges::find(messages, OutboxKind::open, &OutboxRow::kind);
  return open == messages.end() ? std::nullopt : open->issue_number;
}

Result<std::optional<std::int64_t>> issue_of_incident(const OutboxRow& message,
                                                      const Sending& sending) {
  TW_TRY(const auto messages, sending.outbox.of_incident(message.incident));
  return issue_of(messages);
}

/// The title that the issue was given last.
std::string title_sent(const std::vector<OutboxRow>& messages) {
  std::string title;
  for (const auto& message : messages) {
    const bool has_title = message.kind == OutboxKind::open || message.kind == OutboxKind::edit;
    if (has_title && message.state == storage::OutboxState::sent) title = message.title;
  }
  return title;
}

/// The same settings for the repository whose commits are searched.
GithubSettings for_commits(const GithubSettings& settings) {
  auto of_commits = settings;
  of_commits.repository = settings.commits;
  return of_commits;
}

/// Whether GitHub does not know what was asked for. What it forbids it may know.
bool is_unknown(const DeliveryFailure& failure) {
  constexpr int kForbidden = 403;
  return failure.is_refusal && failure.status != kForbidden;
}

/// The login of a commit's author, if GitHub is certain of it and it is a person's.
Delivered<std::string> author_of(const GithubApi& commits, const std::string& sha,
                                 const std::string& repository) {
  const auto commit = commits.read("/commits/" + sha);
  if (!commit && is_unknown(commit.error())) return std::string();
  if (!commit) return tl::unexpected(refused(commit.error(), repository, kContents));
  const auto author = commit->value("author", json());
  const bool is_person = author.is_object() && text_of(author, "type") == "User";
  return is_person ? text_of(author, "login") : "";
}

Sent assign_author(const std::string& sha, const OutboxRow& message, const Sending& sending) {
  if (!is_commit(sha)) return cannot_be_sent(message);
  const auto settings = for_commits(sending.settings);
  const auto commits = GithubApi::create(sending.http, sending.clock, settings, sending.stop);
  if (!commits) return std::nullopt;  // no repository of commits is configured any more
  const auto login = author_of(*commits, sha, settings.repository);
  if (!login) return tl::unexpected(login.error());
  const auto issue = issue_of_incident(message, sending);
  if (!issue) return tl::unexpected(failure_of(issue.error()));
  if (login->empty() || !*issue) return std::nullopt;
  const auto done = sending.tracker.assign(**issue, {*login});
  if (!done) return tl::unexpected(refused(done.error(), sending.settings.repository, kIssues));
  return *issue;
}

/// The pull request that brought a commit; nothing where GitHub knows none.
Sent pull_of_commit(const GithubApi& commits, const std::string& sha,
                    const std::string& repository) {
  const auto page = commits.get_page(commits.address("/commits/" + sha + "/pulls?per_page=100"));
  if (!page && is_unknown(page.error())) return std::nullopt;
  if (!page) return tl::unexpected(refused(page.error(), repository, kComments));
  for (const auto& pull : page->items) {
    const bool is_merged = pull.is_object() && !text_of(pull, "merged_at").empty();
    if (is_merged || page->items.size() == 1) return pull.value("number", std::int64_t{0});
  }
  return std::nullopt;
}

Sent pull_of(const OutboxRow& message, const GithubApi& commits, const std::string& repository) {
  if (const auto sha = behind(message.target, "pull-of/"); is_commit(sha)) {
    return pull_of_commit(commits, sha, repository);
  }
  const auto number = number_in<std::int64_t>(behind(message.target, "pull/"));
  if (!number) return cannot_be_sent(message);
  return number;
}

}  // namespace

Sent send_edit(const OutboxRow& message, const Sending& sending) {
  if (!message.target.empty()) {
    return assign_author(behind(message.target, "author/"), message, sending);
  }
  const auto issue = issue_of(sending.subject.messages);
  if (!issue) {
    return tl::unexpected(DeliveryFailure{.sentence = "there is no issue that could be edited"});
  }
  json change{{"body", message.body}};
  // A title that somebody else gave the issue stays until there is another one to give.
  if (message.title != title_sent(sending.subject.messages)) change["title"] = message.title;
  const auto changed = sending.api.write("PATCH", "/issues/" + std::to_string(*issue), change);
  if (!changed) return tl::unexpected(missing_issue(changed.error(), sending.api));
  return issue;
}

Sent send_own_issue(const OutboxRow& message, const Sending& sending) {
  const auto slash = message.target.find('/');
  const auto queued_at = number_in<platform::WallMillis>(
      slash == std::string::npos ? "" : message.target.substr(slash + 1));
  const auto marker = report::marker_in(message.body);
  if (!queued_at || !marker) return cannot_be_sent(message);
  auto found = sending.tracker.find_issue(*marker, *queued_at - kClockDoubt);
  if (!found) return tl::unexpected(std::move(found).error());
  if (*found) return assign_all(**found, sending);
  const auto number = sending.tracker.open_issue(message.title, message.body);
  if (!number) return tl::unexpected(number.error());
  return assign_all(*number, sending);
}

Sent assign_all(std::int64_t issue, const Sending& sending) {
  if (sending.settings.assignees.empty()) return issue;
  const auto done = sending.tracker.assign(issue, sending.settings.assignees);
  if (done) return issue;
  if (!done.error().is_refusal) return tl::unexpected(done.error());
  sending.logger.warning("a new issue is assigned to nobody: " + done.error().sentence,
                         {{"issue", issue}});
  return issue;
}

Sent send_pull_comment(const OutboxRow& message, const Sending& sending) {
  const auto settings = for_commits(sending.settings);
  const auto commits = GithubApi::create(sending.http, sending.clock, settings, sending.stop);
  if (!commits) return std::nullopt;  // no repository of commits is configured any more
  const auto pull = pull_of(message, *commits, settings.repository);
  if (!pull || !*pull) return pull;
  const auto issue = issue_of_incident(message, sending);
  if (!issue) return tl::unexpected(failure_of(issue.error()));
  const auto marker = report::marker_in(message.body);
  if (!*issue || !marker) return cannot_be_sent(message);
  const IssueTracker tracker(*commits, settings);
  const auto said = find_comment(*commits, **pull, *marker);
  if (!said) return tl::unexpected(refused(said.error(), settings.repository, kComments));
  if (*said) return *pull;
  const auto text = report::with_issue_link(message.body, sending.settings.repository, **issue);
  const auto added = tracker.add_comment(**pull, text);
  if (!added) return tl::unexpected(refused(added.error(), settings.repository, kComments));
  return *pull;
}

Delivered<bool> make_labels(const GithubApi& api, const GithubSettings& settings) {
  auto missing = settings.labels;
  auto at = api.address("/labels?per_page=100");
  for (int count = 0; count < kLabelPagesMax && !missing.empty(); ++count) {
    const auto page = api.get_page(at);
    if (!page && page.error().is_refusal) return false;
    if (!page) return tl::unexpected(page.error());
    for (const auto& label : page->items) {
      // GitHub takes no notice of capitals.
      const auto there = lower(text_of(label, "name"));
      std::erase_if(missing, [&](const std::string& name) { return lower(name) == there; });
    }
    if (!page->next) break;
    at = *page->next;
  }
  for (const auto& name : missing) {
    const auto made =
        api.write("POST", "/labels",
                  {{"name", name}, {"color", "d93f0b"}, {"description", "Found by torchwatch"}});
    // What is wrong with one name, or that it is there by now, is not so of the next.
    if (made || made.error().status == kUnprocessable) continue;
    if (made.error().is_refusal) return false;
    return tl::unexpected(made.error());
  }
  return true;
}

}  // namespace torchwatch::github
