// What is on the GitHub of fake_github_conversation.hpp, and what people do there.
#include <stdexcept>

#include "fake_github_conversation.hpp"

namespace torchwatch::test {
namespace {

using nlohmann::json;

constexpr const char* kApi = "https://api.github.com";

}  // namespace

std::string GithubState::now() const {
  return platform::iso_utc(clock.wall_now());
}

json GithubState::user(const std::string& name) const {
  const auto found = people.find(name);
  const auto person = found == people.end() ? Person{1, "read", "User"} : found->second;
  return {{"login", name}, {"id", person.id}, {"type", person.type}};
}

json GithubState::json_of(const Issue& issue) const {
  const auto number = std::to_string(issue.number);
  json shown{{"number", issue.number},
             {"title", issue.title},
             {"body", issue.body},
             {"state", issue.state},
             {"state_reason", issue.state_reason.empty() ? json() : json(issue.state_reason)},
             {"user", user(issue.login)},
             {"created_at", issue.created_at},
             {"updated_at", issue.updated_at},
             {"closed_at", issue.state == "closed" ? json(issue.updated_at) : json()},
             {"html_url", "https://github.com/" + repository + "/issues/" + number},
             {"repository_url", std::string(kApi) + "/repos/" + repository}};
  if (issue.is_pull) {
    shown["pull_request"] = {
        {"url", std::string(kApi) + "/repos/" + repository + "/pulls/" + number}};
  }
  return shown;
}

json GithubState::json_of(const Issue& issue, const Comment& comment) const {
  const auto address = std::string(kApi) + "/repos/" + repository + "/issues/";
  return {{"id", comment.id},
          {"body", comment.body},
          {"user", user(comment.login)},
          {"issue_url", address + std::to_string(issue.number)},
          {"created_at", comment.created_at},
          {"updated_at", comment.updated_at}};
}

GithubState::Issue& GithubState::at(std::int64_t number) {
  for (auto& issue : issues) {
    if (issue.number == number) return issue;
  }
  throw std::out_of_range("no issue " + std::to_string(number));
}

std::pair<GithubState::Comment*, GithubState::Issue*> GithubState::find_comment(std::int64_t id) {
  for (auto& issue : issues) {
    for (auto& comment : issue.comments) {
      if (comment.id == id) return {&comment, &issue};
    }
  }
  return {nullptr, nullptr};
}

GithubState::Comment& GithubState::add_comment(Issue& issue, const std::string& by,
                                               const std::string& body) {
  issue.updated_at = now();
  return issue.comments.emplace_back(Comment{
      .id = next_id++, .login = by, .body = body, .created_at = now(), .updated_at = now()});
}

void GithubState::add_event(Issue& issue, const std::string& by, const std::string& event,
                            json more) {
  issue.updated_at = now();
  issue.events.push_back(
      {.id = next_id++, .event = event, .login = by, .more = std::move(more), .created_at = now()});
}

void GithubState::set_state(Issue& issue, const std::string& by, const std::string& state,
                            const std::string& reason) {
  if (issue.state == state) return;
  const bool is_closed = state == "closed";
  issue.state = state;
  issue.state_reason = reason;
  add_event(issue, by, is_closed ? "closed" : "reopened",
            {{"state_reason", is_closed ? json(reason) : json()}});
}

Delivery People::delivery_of(const std::string& action, const std::string& login,
                             const GithubState::Issue& issue) const {
  return {"issues",
          {{"action", action},
           {"issue", state_.json_of(issue)},
           {"repository", {{"full_name", state_.repository}}},
           {"sender", state_.user(login)}}};
}

Delivery People::delivery_of(const std::string& action, const GithubState::Issue& issue,
                             const GithubState::Comment& comment) const {
  auto delivery = delivery_of(action, comment.login, issue);
  delivery.event = "issue_comment";
  delivery.payload["comment"] = state_.json_of(issue, comment);
  return delivery;
}

void People::add(const std::string& login, std::int64_t id, const std::string& permission,
                 const std::string& type) {
  const std::scoped_lock lock(state_.mutex);
  state_.people[login] = {.id = id, .permission = permission, .type = type};
}

std::int64_t People::open_pull(const std::string& login) {
  const std::scoped_lock lock(state_.mutex);
  const auto number = static_cast<std::int64_t>(state_.issues.size()) + 1;
  state_.issues.push_back({.number = number,
                           .title = "Change something",
                           .login = login,
                           .created_at = state_.now(),
                           .updated_at = state_.now(),
                           .is_pull = true});
  return number;
}

Delivery People::comment(const std::string& login, std::int64_t number, const std::string& body) {
  const std::scoped_lock lock(state_.mutex);
  auto& issue = state_.at(number);
  const auto& added = state_.add_comment(issue, login, body);
  return delivery_of("created", issue, added);
}

Delivery People::edit_comment(std::int64_t id, const std::string& body) {
  const std::scoped_lock lock(state_.mutex);
  const auto [comment, issue] = state_.find_comment(id);
  comment->body = body;
  comment->updated_at = state_.now();
  return delivery_of("edited", *issue, *comment);
}

Delivery People::close(const std::string& login, std::int64_t number, const std::string& reason) {
  const std::scoped_lock lock(state_.mutex);
  state_.set_state(state_.at(number), login, "closed", reason);
  return delivery_of("closed", login, state_.at(number));
}

Delivery People::reopen(const std::string& login, std::int64_t number) {
  const std::scoped_lock lock(state_.mutex);
  state_.set_state(state_.at(number), login, "open", "reopened");
  return delivery_of("reopened", login, state_.at(number));
}

Delivery People::label(const std::string& login, std::int64_t number, const std::string& name) {
  const std::scoped_lock lock(state_.mutex);
  state_.add_event(state_.at(number), login, "labeled", {{"label", {{"name", name}}}});
  return delivery_of("labeled", login, state_.at(number));
}

Delivery People::rename(const std::string& login, std::int64_t number, const std::string& title) {
  const std::scoped_lock lock(state_.mutex);
  auto& issue = state_.at(number);
  state_.add_event(issue, login, "renamed", {{"rename", {{"from", issue.title}, {"to", title}}}});
  issue.title = title;
  return delivery_of("edited", login, issue);
}

Delivery People::remove(const std::string& login, std::int64_t number) {
  const std::scoped_lock lock(state_.mutex);
  state_.at(number).is_deleted = true;
  return delivery_of("deleted", login, state_.at(number));
}

Delivery People::transfer(const std::string& login, std::int64_t number, const std::string& to) {
  const std::scoped_lock lock(state_.mutex);
  state_.at(number).moved_to = to;
  return delivery_of("transferred", login, state_.at(number));
}

}  // namespace torchwatch::test
