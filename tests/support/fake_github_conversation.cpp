#include "fake_github_conversation.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "github/client.hpp"
#include "github/description.hpp"

namespace torchwatch::test {
namespace {

using nlohmann::json;
using platform::HttpResponse;
using Query = std::multimap<std::string, std::string>;

constexpr const char* kApi = "https://api.github.com";

HttpResponse reply(int status, const json& body, std::map<std::string, std::string> headers = {}) {
  headers.emplace("content-type", "application/json; charset=utf-8");
  return {.status = status, .headers = std::move(headers), .body = body.dump()};
}

HttpResponse refuse(int status, const std::string& message) {
  return reply(status,
               {{"message", message}, {"documentation_url", "https://docs.github.com/rest"}});
}

std::int64_t number_in(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string value_of(const Query& query, const std::string& name, const std::string& otherwise) {
  const auto found = query.find(name);
  return found == query.end() ? otherwise : found->second;
}

/// What stands before the marker, which people do not see; of a report with tables its beginning.
std::string shown(const std::string& body) {
  auto text = body.substr(0, body.find("<!-- torchwatch"));
  while (text.ends_with('\n')) text.pop_back();
  const bool is_report = text.find("\n| ---") != std::string::npos;
  return is_report ? text.substr(0, text.find('\n')) + " ..." : text;
}

json json_of(const GithubState::Event& event, const GithubState& state) {
  json out = event.more.is_object() ? event.more : json::object();
  out.update({{"id", event.id},
              {"event", event.event},
              {"actor", state.user(event.login)},
              {"created_at", event.created_at}});
  return out;
}

}  // namespace

UnjudgedConversation::UnjudgedConversation(std::string repository, std::string token,
                                           std::string login, const platform::Clock& clock)
    : state_{.repository = std::move(repository), .login = std::move(login), .clock = clock},
      token_(std::move(token)),
      judge_(github_description()) {
  people.add(state_.login, 9, "write");
}

Result<HttpResponse> UnjudgedConversation::send(const platform::HttpRequest& request) {
  const std::scoped_lock lock(state_.mutex);
  const auto asked = github_request(request);
  requests_.push_back(asked.method + " " + asked.path);
  judge_.check_headers(asked);
  judge_.note(asked);
  if (fault_) {
    if (auto answered = fault_(request)) return *answered;
  }
  const auto authorization = request.headers.find("Authorization");
  if (authorization == request.headers.end() || authorization->second != "Bearer " + token_) {
    return refuse(401, "Bad credentials");
  }
  return route(request, asked.path, asked.query);
}

HttpResponse UnjudgedConversation::about_person(const std::string& login) const {
  const auto found = state_.people.find(login);
  const auto permission = found == state_.people.end() ? "none" : found->second.permission;
  if (permission == "none") return refuse(404, login + " is not a user");
  return reply(
      200, {{"permission", permission}, {"role_name", permission}, {"user", state_.user(login)}});
}

HttpResponse UnjudgedConversation::open(const Request& request) {
  const auto body = json::parse(request.body);
  GithubState::Issue issue;
  issue.number = static_cast<std::int64_t>(state_.issues.size()) + 1;
  issue.title = body.value("title", "");
  issue.body = body.value("body", "");
  issue.login = state_.login;
  issue.created_at = issue.updated_at = state_.now();
  return reply(201, state_.json_of(state_.issues.emplace_back(std::move(issue))));
}

HttpResponse UnjudgedConversation::route(const Request& request, const std::string& path,
                                         const Query& query) {
  if (path == "/user") return reply(200, state_.user(state_.login));
  const auto base = "/repos/" + state_.repository;
  if (is_hidden_ || !path.starts_with(base)) return refuse(404, "Not Found");
  const auto rest = path.substr(base.size());
  const std::string collaborators = "/collaborators/";
  if (rest.starts_with(collaborators)) {
    return about_person(rest.substr(collaborators.size(), rest.rfind('/') - collaborators.size()));
  }
  if (rest == "/issues" && request.method == "POST") return open(request);
  if (rest == "/issues" || rest == "/issues/comments") return list(rest, request, query);
  if (rest.starts_with("/issues/comments/")) return about_comment(request, rest.substr(17));
  if (rest.starts_with("/issues/")) return about_issue(request, rest.substr(8));
  return refuse(404, "Not Found");
}

HttpResponse UnjudgedConversation::list(const std::string& what, const Request& request,
                                        const Query& query) const {
  const auto since = value_of(query, "since", "");
  std::vector<std::pair<std::string, json>> found;
  for (const auto& issue : state_.issues) {
    if (issue.is_deleted || !issue.moved_to.empty()) continue;
    if (what == "/issues" && issue.updated_at >= since) {
      found.emplace_back(issue.updated_at, state_.json_of(issue));
    }
    for (const auto& comment : issue.comments) {
      if (what == "/issues" || comment.updated_at < since) continue;
      found.emplace_back(comment.updated_at, state_.json_of(issue, comment));
    }
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::string, json>::first);
  if (value_of(query, "direction", "desc") == "desc") std::ranges::reverse(found);
  auto items = json::array();
  for (auto& [at, item] : found) items.push_back(std::move(item));
  const auto per_page = std::stoul(value_of(query, "per_page", "30"));
  if (items.size() > per_page)
    items.erase(items.begin() + static_cast<long>(per_page), items.end());
  const auto tag = "\"" + std::to_string(std::hash<std::string>{}(items.dump())) + "\"";
  const auto known = request.headers.find("If-None-Match");
  if (known != request.headers.end() && known->second == tag) {
    return {.status = 304, .headers = {{"etag", tag}}, .body = ""};
  }
  return reply(200, items, {{"etag", tag}});
}

HttpResponse UnjudgedConversation::about_issue(const Request& request, const std::string& rest) {
  const auto number = number_in(rest);
  const auto slash = rest.find('/');
  const auto what = slash == std::string::npos ? "" : rest.substr(slash);
  const auto found = std::ranges::find(state_.issues, number, &GithubState::Issue::number);
  if (found == state_.issues.end()) return refuse(404, "Not Found");
  if (found->is_deleted) return refuse(410, "This issue was deleted");
  if (!found->moved_to.empty()) {
    auto moved = state_.json_of(*found);
    const auto hash = found->moved_to.find('#');
    moved["repository_url"] = std::string(kApi) + "/repos/" + found->moved_to.substr(0, hash);
    moved["html_url"] = "https://github.com/" + found->moved_to.substr(0, hash) + "/issues/" +
                        found->moved_to.substr(hash + 1);
    return reply(200, moved);
  }
  auto items = json::array();
  if (what == "/events") {
    for (const auto& event : found->events) items.push_back(json_of(event, state_));
    return reply(200, items);
  }
  if (what == "/comments" && request.method == "GET") {
    for (const auto& comment : found->comments) items.push_back(state_.json_of(*found, comment));
    return reply(200, items);
  }
  if (what == "/comments") {
    const auto body = json::parse(request.body).at("body").get<std::string>();
    const auto& added = state_.add_comment(*found, state_.login, body);
    return reply(201, state_.json_of(*found, added));
  }
  if (request.method == "PATCH") {
    const auto body = json::parse(request.body);
    found->title = body.value("title", found->title);
    found->body = body.value("body", found->body);
    if (body.contains("state")) {
      state_.set_state(*found, state_.login, body.at("state"), body.value("state_reason", ""));
    }
  }
  return reply(200, state_.json_of(*found));
}

HttpResponse UnjudgedConversation::about_comment(const Request& request, const std::string& rest) {
  const auto [comment, issue] = state_.find_comment(number_in(rest));
  if (comment == nullptr) return refuse(404, "Not Found");
  if (rest.ends_with("/reactions")) {
    const auto content = json::parse(request.body).at("content").get<std::string>();
    const bool is_new = std::ranges::find(comment->reactions, content) == comment->reactions.end();
    if (is_new) comment->reactions.push_back(content);
    return reply(is_new ? 201 : 200, {{"id", 1}, {"content", content}});
  }
  if (request.method == "PATCH") {
    comment->body = json::parse(request.body).at("body").get<std::string>();
    comment->updated_at = state_.now();
  }
  return reply(200, state_.json_of(*issue, *comment));
}

void UnjudgedConversation::set_fault(Fault fault) {
  const std::scoped_lock lock(state_.mutex);
  fault_ = std::move(fault);
}

void UnjudgedConversation::hide_repository(bool is_hidden) {
  const std::scoped_lock lock(state_.mutex);
  is_hidden_ = is_hidden;
}

GithubState::Issue UnjudgedConversation::issue(std::int64_t number) const {
  const std::scoped_lock lock(state_.mutex);
  return state_.issues.at(static_cast<std::size_t>(number - 1));
}

std::vector<std::string> UnjudgedConversation::requests() const {
  const std::scoped_lock lock(state_.mutex);
  return requests_;
}

std::vector<Exchange> UnjudgedConversation::exchanges() const {
  const std::scoped_lock lock(state_.mutex);
  return judge_.exchanges();
}

std::vector<std::string> UnjudgedConversation::violations() const {
  const std::scoped_lock lock(state_.mutex);
  return judge_.violations();
}

std::string UnjudgedConversation::transcript(std::int64_t number) const {
  const auto found = issue(number);
  auto text = "issue " + std::to_string(found.number) + " of " + found.login + ": " + found.state +
              (found.state_reason.empty() ? "" : " (" + found.state_reason + ")") + "\n";
  for (const auto& comment : found.comments) {
    text += "\n" + comment.login;
    for (const auto& reaction : comment.reactions) text += " [" + reaction + "]";
    text += "\n" + shown(comment.body) + "\n";
  }
  return text;
}

}  // namespace torchwatch::test
