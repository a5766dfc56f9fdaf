#include "world.hpp"

#include <algorithm>

namespace torchwatch::test {
namespace {

using nlohmann::json;

json or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

}  // namespace

GithubIssue& GithubWorld::add(GithubIssue issue) {
  issue.number = static_cast<std::int64_t>(issues.size()) + 1;
  for (auto& comment : issue.comments) {
    if (comment.id == 0) comment.id = next_id();
  }
  issues.push_back(std::move(issue));
  return issues.back();
}

GithubIssue* GithubWorld::find(const std::string& number) {
  const auto found = std::find_if(issues.begin(), issues.end(), [&](const auto& issue) {
    return std::to_string(issue.number) == number && !issue.is_deleted;
  });
  return found == issues.end() ? nullptr : &*found;
}

bool GithubWorld::was_deleted(const std::string& number) const {
  return std::any_of(issues.begin(), issues.end(), [&](const auto& issue) {
    return std::to_string(issue.number) == number && issue.is_deleted;
  });
}

GithubComment* GithubWorld::find_comment(const std::string& id, GithubIssue** issue) {
  for (auto& each : issues) {
    for (auto& comment : each.comments) {
      if (each.is_deleted || std::to_string(comment.id) != id) continue;
      if (issue != nullptr) *issue = &each;
      return &comment;
    }
  }
  return nullptr;
}

json GithubWorld::shape(const GithubUser& user) const {
  const std::string url = origin + "/users/" + user.login;
  json out{{"login", user.login},
           {"id", user.id},
           {"node_id", "U_" + std::to_string(user.id)},
           {"type", user.type},
           {"site_admin", false},
           {"gravatar_id", ""},
           {"url", url},
           {"avatar_url", "https://avatars.githubusercontent.com/u/" + std::to_string(user.id)},
           {"html_url", "https://github.com/" + user.login}};
  for (const char* list : {"followers", "following", "gists", "starred", "subscriptions",
                           "organizations", "repos", "events", "received_events"}) {
    out[std::string(list) + "_url"] = url + "/" + list;
  }
  return out;
}

json GithubWorld::shape_of_app(std::int64_t app) const {
  if (app == 0) return nullptr;
  return {{"id", app},
          {"node_id", "A_" + std::to_string(app)},
          {"owner", shape(GithubUser{.login = "owner", .id = 7})},
          {"name", "an App"},
          {"description", nullptr},
          {"external_url", "https://torchwatch.example"},
          {"html_url", "https://github.com/apps/torchwatch"},
          {"created_at", "2026-01-01T00:00:00Z"},
          {"updated_at", "2026-01-01T00:00:00Z"},
          {"permissions", json::object()},
          {"events", json::array()}};
}

json GithubWorld::shape(const GithubIssue& issue) const {
  const std::string url = origin + base() + "/issues/" + std::to_string(issue.number);
  json labels = json::array();
  for (const auto& label : issue.labels) labels.push_back({{"name", label}});
  json assignees = json::array();
  for (const auto& login : issue.assignees) assignees.push_back(shape(GithubUser{.login = login}));
  json out{{"id", 100'000 + issue.number},
           {"node_id", "I_" + std::to_string(issue.number)},
           {"number", issue.number},
           {"title", issue.title},
           {"body", or_null(issue.body)},
           {"state", issue.state},
           {"state_reason", or_null(issue.state_reason)},
           {"user", shape(issue.author)},
           {"labels", labels},
           {"assignee", assignees.empty() ? json(nullptr) : assignees.front()},
           {"assignees", assignees},
           {"milestone", nullptr},
           {"locked", false},
           {"comments", issue.comments.size()},
           {"closed_at", issue.state == "closed" ? json(issue.updated_at) : json(nullptr)},
           {"created_at", issue.created_at},
           {"updated_at", issue.updated_at},
           {"author_association", "NONE"},
           {"performed_via_github_app", shape_of_app(issue.author.app)},
           {"url", url},
           {"repository_url", origin + base()},
           {"labels_url", url + "/labels{/name}"},
           {"comments_url", url + "/comments"},
           {"events_url", url + "/events"},
           {"html_url",
            "https://github.com/" + repository_ + "/issues/" + std::to_string(issue.number)}};
  if (issue.is_pull_request) {
    const std::string pull = origin + base() + "/pulls/" + std::to_string(issue.number);
    out["pull_request"] = {
        {"url", pull}, {"html_url", pull}, {"diff_url", pull}, {"patch_url", pull}};
  }
  return out;
}

json GithubWorld::shape(const GithubComment& comment, const GithubIssue& issue) const {
  const std::string id = std::to_string(comment.id);
  const std::string number = std::to_string(issue.number);
  return {{"id", comment.id},
          {"node_id", "IC_" + id},
          {"body", comment.body},
          {"user", shape(comment.author)},
          {"created_at", comment.created_at},
          {"updated_at", comment.updated_at},
          {"author_association", "NONE"},
          {"performed_via_github_app", shape_of_app(comment.author.app)},
          {"url", origin + base() + "/issues/comments/" + id},
          {"issue_url", origin + base() + "/issues/" + number},
          {"html_url",
           "https://github.com/" + repository_ + "/issues/" + number + "#issuecomment-" + id}};
}

}  // namespace torchwatch::test
