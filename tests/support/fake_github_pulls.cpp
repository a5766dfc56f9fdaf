#include "fake_github_pulls.hpp"

#include <httplib.h>

#include <algorithm>
#include <regex>

#include "fake_github.hpp"
#include "github/description.hpp"

namespace torchwatch::test {
namespace {

using nlohmann::json;

constexpr const char* kJson = "application/json; charset=utf-8";
const json kMachine{{"login", "torchwatch-machine"}, {"id", 4242}, {"type", "User"}};
const json kStranger{{"login", "mallory"}, {"id", 666}, {"type", "User"}};

void reply(httplib::Response& response, int status, const json& body) {
  response.status = status;
  response.set_content(body.dump(), kJson);
}

void refuse(httplib::Response& response, int status, const std::string& message) {
  reply(response, status, {{"message", message}, {"documentation_url", "https://docs.github.com"}});
}

bool is_among(const json& value, std::initializer_list<const char*> words) {
  return value.is_string() && std::ranges::any_of(words, [&](const char* word) {
           return value.get<std::string>() == word;
         });
}

/// What of a status GitHub would refuse; empty: nothing.
std::string fault_of_status(const json& body) {
  if (!is_among(body.value("state", json()), {"error", "failure", "pending", "success"})) {
    return "state";
  }
  if (body.value("description", "").size() > 140) return "description is too long";
  return "";
}

std::string fault_of_check(const json& body, bool is_new) {
  if (is_new && (!body.contains("name") || !body.contains("head_sha"))) return "name, head_sha";
  if (!is_new && body.contains("head_sha")) return "head_sha cannot be changed";
  if (!is_among(body.value("status", json()), {"queued", "in_progress", "completed"})) {
    return "status";
  }
  const bool is_over = body.at("status") == "completed";
  const bool has_end = is_among(body.value("conclusion", json()),
                                {"success", "failure", "neutral", "cancelled", "action_required"});
  if (is_over != has_end) return "conclusion";
  const auto output = body.value("output", json::object());
  if (!output.contains("title") || !output.contains("summary")) return "output";
  return output.at("summary").get<std::string>().size() > 65'535 ? "summary is too long" : "";
}

}  // namespace

UnjudgedGithubPulls::UnjudgedGithubPulls(std::string repository, std::string token)
    : repository_(std::move(repository)),
      token_(std::move(token)),
      judge_(github_description()),
      server_(std::make_unique<httplib::Server>()) {
  const auto handler = [this](const httplib::Request& request, httplib::Response& response) {
    answer(request, response);
  };
  server_->Get(".*", handler).Post(".*", handler).Patch(".*", handler);
  server_->set_tcp_nodelay(true);
  port_ = server_->bind_to_any_port("127.0.0.1");
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  while (!server_->is_running()) std::this_thread::yield();
}

UnjudgedGithubPulls::~UnjudgedGithubPulls() {
  server_->stop();
  thread_.join();
}

std::string UnjudgedGithubPulls::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void UnjudgedGithubPulls::set_pull(int number, Pull pull) {
  const std::scoped_lock lock(mutex_);
  pulls_[std::to_string(number)] = std::move(pull);
}

void UnjudgedGithubPulls::add_push(Push push) {
  const std::scoped_lock lock(mutex_);
  pushes_.insert(pushes_.begin(), std::move(push));
}

void UnjudgedGithubPulls::permit(const std::string& login, const std::string& permission) {
  const std::scoped_lock lock(mutex_);
  permissions_[login] = permission;
}

void UnjudgedGithubPulls::forbid(const std::string& part) {
  const std::scoped_lock lock(mutex_);
  if (part.empty()) return forbidden_.clear();
  forbidden_.insert(part);
}

void UnjudgedGithubPulls::lose_answer_to(const std::string& method) {
  const std::scoped_lock lock(mutex_);
  lost_method_ = method;
}

void UnjudgedGithubPulls::set_comments(int issue, const std::vector<std::string>& of_strangers) {
  const std::scoped_lock lock(mutex_);
  auto& comments = comments_[std::to_string(issue)];
  comments.clear();
  for (const auto& text : of_strangers) {
    comments[++last_id_] = text;
    of_strangers_.insert(last_id_);
  }
}

std::vector<std::string> UnjudgedGithubPulls::violations() const {
  const std::scoped_lock lock(mutex_);
  return judge_.violations();
}

std::vector<std::string> UnjudgedGithubPulls::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

std::vector<json> UnjudgedGithubPulls::statuses(const std::string& sha) const {
  const std::scoped_lock lock(mutex_);
  const auto found = statuses_.find(sha);
  return found == statuses_.end() ? std::vector<json>{} : found->second;
}

std::vector<UnjudgedGithubPulls::Check> UnjudgedGithubPulls::checks() const {
  const std::scoped_lock lock(mutex_);
  return checks_;
}

std::map<std::int64_t, std::string> UnjudgedGithubPulls::comments(int issue) const {
  const std::scoped_lock lock(mutex_);
  const auto found = comments_.find(std::to_string(issue));
  return found == comments_.end() ? std::map<std::int64_t, std::string>{} : found->second;
}

void UnjudgedGithubPulls::answer(const httplib::Request& request, httplib::Response& response) {
  const std::scoped_lock lock(mutex_);
  requests_.push_back(request.method + " " + request.path);
  const auto asked = github_request(request);
  judge_.check_headers(asked);
  judge_.note(asked);
  if (request.get_header_value("Authorization") != "Bearer " + token_) {
    return refuse(response, 401, "Bad credentials");
  }
  const bool is_forbidden = std::ranges::any_of(forbidden_, [&](const std::string& part) {
    return request.path.find(part) != std::string::npos;
  });
  if (is_forbidden) return refuse(response, 403, "Resource not accessible by integration");
  route(request, request.path, response);
  if (lost_method_ != request.method) return;
  lost_method_.clear();
  refuse(response, 502, "the answer is lost");
}

void UnjudgedGithubPulls::route(const httplib::Request& request, const std::string& path,
                                httplib::Response& response) {
  const auto body = json::parse(request.body, nullptr, false);
  std::smatch part;
  const auto is = [&](const char* pattern) {
    return std::regex_match(path, part, std::regex(pattern));
  };
  if (path == "/user") return reply(response, 200, kMachine);
  if (path == "/repos/" + repository_) return reply(response, 200, {{"full_name", repository_}});
  if (is("/repos/([^/]+/[^/]+)/activity")) return answer_activity(request, part[1], response);
  if (!path.starts_with("/repos/" + repository_ + "/")) return refuse(response, 404, "Not Found");
  if (is("/repos/[^/]+/[^/]+/pulls/(\\d+)")) return answer_pull(part[1], response);
  if (is("/repos/[^/]+/[^/]+/collaborators/([^/]+)/permission")) {
    const auto found = permissions_.find(part[1]);
    const auto right = found == permissions_.end() ? "none" : found->second;
    return reply(response, 200, {{"permission", right}, {"user", {{"login", part[1].str()}}}});
  }
  if (is("/repos/[^/]+/[^/]+/statuses/([0-9a-f]{40})")) {
    if (const auto fault = fault_of_status(body); !fault.empty()) {
      return refuse(response, 422, "Validation Failed: " + fault);
    }
    statuses_[part[1]].push_back(body);
    return reply(response, 201, {{"id", ++last_id_}, {"state", body.at("state")}});
  }
  if (is("/repos/[^/]+/[^/]+/check-runs/?(\\d*)")) return answer_check(request, part[1], response);
  if (is("/repos/[^/]+/[^/]+/commits/([0-9a-f]{40})/check-runs")) {
    auto runs = json::array();
    for (const auto& check : checks_) {
      if (check.body.value("head_sha", "") != part[1].str()) continue;
      runs.push_back(check.body);
      runs.back()["id"] = check.id;
    }
    return reply(response, 200, {{"total_count", runs.size()}, {"check_runs", runs}});
  }
  if (is("/repos/[^/]+/[^/]+/issues/(comments/\\d+|\\d+/comments)")) {
    return answer_comments(request, part[1], response);
  }
  refuse(response, 404, "Not Found");
}

void UnjudgedGithubPulls::answer_pull(const std::string& number, httplib::Response& response) {
  const auto found = pulls_.find(number);
  if (found == pulls_.end()) return refuse(response, 404, "Not Found");
  const auto& pull = found->second;
  json repository = nullptr;
  if (!pull.head_repository.empty()) repository = {{"full_name", pull.head_repository}};
  reply(response, 200,
        {{"number", std::stoi(number)},
         {"state", pull.state},
         {"updated_at", pull.updated_at},
         {"head", {{"sha", pull.head}, {"ref", pull.branch}, {"repo", repository}}},
         {"base", {{"ref", "main"}, {"repo", {{"full_name", repository_}}}}}});
}

void UnjudgedGithubPulls::answer_activity(const httplib::Request& request,
                                          const std::string& repository,
                                          httplib::Response& response) {
  auto all = json::array();
  const auto ref = request.get_param_value("ref");
  for (const auto& push : pushes_) {
    if (push.repository != repository || "refs/heads/" + push.branch != ref) continue;
    all.push_back({{"after", push.after}, {"timestamp", push.at}, {"activity_type", "push"}});
  }
  reply(response, 200, all);
}

void UnjudgedGithubPulls::answer_check(const httplib::Request& request, const std::string& id,
                                       httplib::Response& response) {
  const auto body = json::parse(request.body, nullptr, false);
  const bool is_new = request.method == "POST";
  if (const auto fault = fault_of_check(body, is_new); !fault.empty()) {
    return refuse(response, 422, "Validation Failed: " + fault);
  }
  if (is_new) {
    checks_.push_back({++last_id_, body});
    return reply(response, 201, {{"id", last_id_}});
  }
  for (auto& check : checks_) {
    if (std::to_string(check.id) != id) continue;
    check.body.update(body);
    return reply(response, 200, {{"id", check.id}});
  }
  refuse(response, 404, "Not Found");
}

void UnjudgedGithubPulls::answer_comments(const httplib::Request& request, const std::string& place,
                                          httplib::Response& response) {
  const auto body = json::parse(request.body, nullptr, false);
  const auto slash = place.find('/');
  if (place.starts_with("comments/")) {
    const auto id = std::stoll(place.substr(slash + 1));
    if (of_strangers_.contains(id)) return refuse(response, 403, "Must have admin rights");
    for (auto& [issue, comments] : comments_) {
      if (!comments.contains(id)) continue;
      comments[id] = body.value("body", "");
      return reply(response, 200, {{"id", id}, {"body", comments[id]}});
    }
    return refuse(response, 404, "Not Found");
  }
  auto& comments = comments_[place.substr(0, slash)];
  if (request.method == "POST") {
    comments[++last_id_] = body.value("body", "");
    return reply(response, 201, {{"id", last_id_}});
  }
  auto all = json::array();
  for (const auto& [id, text] : comments) {
    all.push_back(
        {{"id", id}, {"body", text}, {"user", of_strangers_.contains(id) ? kStranger : kMachine}});
  }
  reply(response, 200, all);
}

}  // namespace torchwatch::test
