#include "fake_github.hpp"

#include <httplib.h>

#include <algorithm>

namespace torchwatch::test {
namespace {

using nlohmann::json;

constexpr const char* kJson = "application/json; charset=utf-8";

void reply(httplib::Response& response, int status, const json& body) {
  response.status = status;
  response.set_content(body.dump(), kJson);
}

void refuse(httplib::Response& response, int status, const std::string& message) {
  reply(response, status,
        {{"message", message}, {"documentation_url", "https://docs.github.com/rest"}});
}

json to_json(const FakeGithub::Issue& issue) {
  json labels = json::array();
  for (const auto& label : issue.labels) labels.push_back({{"name", label}});
  json out{{"number", issue.number},
           {"title", issue.title},
           {"body", issue.body.empty() ? json(nullptr) : json(issue.body)},
           {"state", issue.state},
           {"labels", labels},
           {"created_at", issue.created_at},
           {"comments", issue.comments.size()}};
  if (issue.is_pull_request) out["pull_request"] = {{"url", "https://api.github.com/x"}};
  return out;
}

int parameter(const httplib::Request& request, const char* name, int otherwise) {
  return request.has_param(name) ? std::stoi(request.get_param_value(name)) : otherwise;
}

/// One page of `all`, with the Link header that GitHub would send (by the repository's id).
void reply_page(const httplib::Request& request, const json& all, const std::string& base,
                const std::string& path_by_id, httplib::Response& response) {
  const int per_page = parameter(request, "per_page", 30);
  const int page = parameter(request, "page", 1);
  json items = json::array();
  const int first = (page - 1) * per_page;
  const int size = static_cast<int>(all.size());
  for (int i = first; i < std::min(first + per_page, size); ++i) {
    items.push_back(all[static_cast<std::size_t>(i)]);
  }
  if (first + per_page < size) {
    std::string query;
    for (const auto& [name, value] : request.params) {
      if (name != "page") query += name + "=" + value + "&";
    }
    const std::string url = base + path_by_id + "?" + query + "page=";
    response.set_header("Link", "<" + url + std::to_string(page + 1) + ">; rel=\"next\", <" + url +
                                    "99>; rel=\"last\"");
  }
  reply(response, 200, items);
}

}  // namespace

FakeGithub::FakeGithub(std::string repository, std::string token, ApiDescription description)
    : repository_(std::move(repository)),
      token_(std::move(token)),
      description_(std::move(description)),
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

FakeGithub::~FakeGithub() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  ended_.notify_all();
  server_->stop();
  thread_.join();
}

std::string FakeGithub::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void FakeGithub::plant(Issue issue) {
  const std::scoped_lock lock(mutex_);
  issue.number = static_cast<std::int64_t>(issues_.size()) + 1;
  issues_.push_back(std::move(issue));
}

void FakeGithub::fail_next(Fault fault) {
  const std::scoped_lock lock(mutex_);
  faults_.push_back(std::move(fault));
}

void FakeGithub::drop_labels() {
  const std::scoped_lock lock(mutex_);
  drops_labels_ = true;
}

void FakeGithub::rename_repository() {
  const std::scoped_lock lock(mutex_);
  is_renamed_ = true;
}

std::vector<FakeGithub::Issue> FakeGithub::issues() const {
  const std::scoped_lock lock(mutex_);
  return issues_;
}

std::vector<std::string> FakeGithub::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

std::vector<std::string> FakeGithub::violations() const {
  const std::scoped_lock lock(mutex_);
  auto all = description_.violations(exchanges_);
  all.insert(all.end(), violations_.begin(), violations_.end());
  return all;
}

void FakeGithub::answer(const httplib::Request& request, httplib::Response& response) {
  std::string path = request.path;
  const std::string by_name = "/repos/" + repository_;
  const std::string by_id = "/repositories/1";
  std::unique_lock lock(mutex_);
  requests_.push_back(request.method + " " + path);
  check_headers(request);
  if (request.get_header_value("Authorization") != "Bearer " + token_) {
    return refuse(response, 401, "Bad credentials");
  }
  if (is_renamed_ && path.starts_with(by_name)) {
    check(request, path);
    response.set_header("Location", url() + by_id + request.target.substr(by_name.size()));
    return refuse(response, 301, "Moved Permanently");
  }
  if (path.starts_with(by_id)) path.replace(0, by_id.size(), by_name);
  check(request, path);
  const bool fails = !faults_.empty() && faults_.front().method == request.method;
  if (!fails) return route(request, path, response);
  const Fault fault = faults_.front();
  faults_.pop_front();
  if (fault.done) route(request, path, response);
  if (fault.kind == Fault::Kind::hang) ended_.wait(lock, [this] { return is_ending_; });
  apply_fault(fault, response);
}

void FakeGithub::apply_fault(const Fault& fault, httplib::Response& response) {
  response.headers.clear();
  response.body.clear();
  if (fault.kind == Fault::Kind::cut) {
    response.status = 201;
    response.set_content_provider(1000, "application/json",
                                  [](std::size_t, std::size_t, httplib::DataSink& sink) {
                                    sink.write("{\"number\"", 9);
                                    return false;
                                  });
    return;
  }
  refuse(response, fault.status, fault.message);
  for (const auto& [name, value] : fault.headers) response.set_header(name, value);
}

void FakeGithub::check_headers(const httplib::Request& request) {
  const auto demand = [&](const char* name, const std::string& value) {
    if (request.get_header_value_count(name) != 1 || request.get_header_value(name) != value) {
      violations_.push_back(std::string("header ") + name + " is not once \"" + value + "\"");
    }
  };
  demand("Accept", "application/vnd.github+json");
  demand("X-GitHub-Api-Version", "2022-11-28");
  if (request.get_header_value("User-Agent").empty()) violations_.push_back("no User-Agent");
}

void FakeGithub::check(const httplib::Request& request, const std::string& path) {
  exchanges_.push_back({.method = request.method,
                        .path = path,
                        .query = request.params,
                        .content_type = request.get_header_value("Content-Type"),
                        .body = request.body,
                        .answer = {}});
  if (path.ends_with('/')) violations_.push_back(path + ": ends with a slash");
}

FakeGithub::Issue* FakeGithub::find_issue(const std::string& number) {
  const auto found = std::find_if(issues_.begin(), issues_.end(), [&](const Issue& issue) {
    return std::to_string(issue.number) == number;
  });
  return found == issues_.end() ? nullptr : &*found;
}

void FakeGithub::list_issues(const httplib::Request& request, httplib::Response& response) {
  json all = json::array();
  const std::string state = request.has_param("state") ? request.get_param_value("state") : "open";
  for (auto issue = issues_.rbegin(); issue != issues_.rend(); ++issue) {
    if (state == "all" || issue->state == state) all.push_back(to_json(*issue));
  }
  reply_page(request, all, url(), "/repositories/1/issues", response);
}

void FakeGithub::list_comments(const httplib::Request& request, const Issue& issue,
                               httplib::Response& response) {
  json all = json::array();
  for (const auto& comment : issue.comments) all.push_back({{"body", comment.body}});
  reply_page(request, all, url(),
             "/repositories/1/issues/" + std::to_string(issue.number) + "/comments", response);
}

void FakeGithub::open_issue(const json& body, httplib::Response& response) {
  Issue issue;
  issue.number = static_cast<std::int64_t>(issues_.size()) + 1;
  issue.title = body.value("title", "");
  issue.body = body.value("body", "");
  if (!drops_labels_) issue.labels = body.value("labels", std::vector<std::string>{});
  issues_.push_back(issue);
  reply(response, 201, to_json(issue));
}

void FakeGithub::route(const httplib::Request& request, const std::string& path,
                       httplib::Response& response) {
  const std::string base = "/repos/" + repository_ + "/issues";
  const json body = json::parse(request.body, nullptr, false);
  if (path == base) {
    return request.method == "GET" ? list_issues(request, response) : open_issue(body, response);
  }
  if (!path.starts_with(base + "/")) return refuse(response, 404, "Not Found");
  std::string number = path.substr(base.size() + 1);
  const bool is_about_comments = number.ends_with("/comments");
  if (is_about_comments) number.resize(number.size() - std::string("/comments").size());
  Issue* const issue = find_issue(number);
  if (issue == nullptr) return refuse(response, 404, "Not Found");
  if (is_about_comments && request.method == "GET") {
    return list_comments(request, *issue, response);
  }
  if (is_about_comments) {
    issue->comments.push_back({body.value("body", "")});
    return reply(response, 201, {{"id", issue->comments.size()}, {"body", body.value("body", "")}});
  }
  if (request.method == "PATCH") issue->state = body.value("state", issue->state);
  reply(response, 200, to_json(*issue));
}

}  // namespace torchwatch::test
