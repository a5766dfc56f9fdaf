#include "core.hpp"

#include <functional>

namespace torchwatch::test {
namespace {

constexpr const char* kJson = "application/json; charset=utf-8";

/// The endpoints of every fake. The first that knows a path answers.
std::vector<std::unique_ptr<GithubEndpoint>> make_endpoints(GithubAccounts& accounts) {
  std::vector<std::unique_ptr<GithubEndpoint>> all;
  all.push_back(make_issue_endpoint());
  all.push_back(make_comment_endpoint());
  all.push_back(make_identity_endpoint(accounts));
  return all;
}

std::string etag_of(const GithubAnswer& answer) {
  return "W/\"" + std::to_string(std::hash<std::string>{}(answer.text())) + "\"";
}

/// Answers a GET by 304 where the client has it already.
GithubAnswer with_etag(const GithubRequest& request, GithubAnswer answer) {
  if (request.method != "GET" || answer.status != 200) return answer;
  const auto etag = etag_of(answer);
  if (request.header("if-none-match") == etag) {
    answer.status = 304;
    answer.body = nullptr;
  }
  answer.headers.emplace("ETag", etag);
  return answer;
}

/// Whether GitHub may answer so on any path, and describes it with few: no right, no such thing, a
/// limit, a fault.
bool is_general(int status) {
  return status == 401 || status == 403 || status == 422 || status == 429 || status >= 500;
}

/// "Mon, 17 Aug 2026 03:04:05 GMT"
std::string http_date(platform::WallMillis now) {
  const std::time_t seconds = now / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text.data();
}

}  // namespace

FakeGithubCore::FakeGithubCore(std::string repository, ApiDescription description,
                               const platform::Clock& clock)
    : world(std::move(repository), clock),
      accounts(clock),
      quota(clock),
      judge_(std::move(description)),
      endpoints_(make_endpoints(accounts)) {}

void FakeGithubCore::add(std::unique_ptr<GithubEndpoint> endpoint) {
  const std::scoped_lock lock(mutex_);
  endpoints_.insert(endpoints_.begin(), std::move(endpoint));
}

void FakeGithubCore::fail_next(Fault fault) {
  const std::scoped_lock lock(mutex_);
  faults_.push_back(std::move(fault));
}

void FakeGithubCore::forget_faults() {
  const std::scoped_lock lock(mutex_);
  faults_.clear();
}

void FakeGithubCore::rename_repository() {
  const std::scoped_lock lock(mutex_);
  is_renamed_ = true;
}

void FakeGithubCore::forget_exchanges() {
  const std::scoped_lock lock(mutex_);
  judge_.look_away();
}

std::vector<std::string> FakeGithubCore::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

std::vector<std::string> FakeGithubCore::violations() const {
  const std::scoped_lock lock(mutex_);
  return judge_.violations();
}

GithubOutcome FakeGithubCore::answer(GithubRequest request) {
  const std::scoped_lock lock(mutex_);
  requests_.push_back(request.method + " " + request.path);
  judge_.check_headers(request);
  GithubOutcome outcome;
  const bool is_open = request.path.starts_with("/app-manifests/");
  auto caller = is_open ? std::variant<GithubCaller, GithubAnswer>(GithubCaller{})
                        : accounts.caller_of(request.header("authorization"));
  if (auto* refused = std::get_if<GithubAnswer>(&caller)) {
    outcome.answer = std::move(*refused);
  } else if (const std::string by_name = world.base();
             is_renamed_ && request.path.starts_with(by_name)) {
    note(request, {});
    outcome.answer = refusal(301, "Moved Permanently");
    outcome.answer.headers.emplace(
        "Location", world.origin + "/repositories/1" + request.target.substr(by_name.size()));
  } else if (auto fault = take_fault(request)) {
    note(request, {});
    if (fault->done) route(request, std::get<GithubCaller>(caller));
    outcome.answer = refusal(fault->status, fault->message);
    outcome.answer.headers.merge(std::multimap(fault->headers));
    if (fault->kind == Fault::Kind::slow) {
      outcome.answer = answer_known(request, std::get<GithubCaller>(caller));
    }
    if (fault->kind != Fault::Kind::status) outcome.fault = std::move(fault);
  } else {
    outcome.answer = answer_known(request, std::get<GithubCaller>(caller));
  }
  outcome.answer.headers.emplace("Date", http_date(world.clock().wall_now()));
  return outcome;
}

GithubAnswer FakeGithubCore::answer_known(GithubRequest& request, const GithubCaller& caller) {
  const std::string by_id = "/repositories/1";
  if (request.path.starts_with(by_id)) request.path.replace(0, by_id.size(), world.base());
  if (auto refused = quota.refuse(request)) {
    note(request, {});
    refused->headers.merge(quota.headers());
    return *refused;
  }
  auto answer = with_etag(request, route(request, caller));
  quota.count(request, answer);
  note(request, answer.status == 304 ? std::nullopt : std::optional(answer));
  answer.headers.merge(quota.headers());
  return answer;
}

GithubAnswer FakeGithubCore::route(const GithubRequest& request, const GithubCaller& caller) {
  if (request.path == "/rate_limit") return {.status = 200, .body = quota.shape()};
  if (auto refused = refuse(request, caller)) return *refused;
  for (const auto& endpoint : endpoints_) {
    if (auto answer = endpoint->answer(request, caller, world)) return *answer;
  }
  return refusal(404, "Not Found");
}

std::optional<GithubAnswer> FakeGithubCore::refuse(const GithubRequest& request,
                                                   const GithubCaller& caller) const {
  const bool writes_issues =
      request.method != "GET" && request.path.starts_with(world.base() + "/issues");
  if (!writes_issues || !caller.permissions) return {};
  const auto found = caller.permissions->find("issues");
  if (found != caller.permissions->end() && found->second == "write") return {};
  auto answer = refusal(403, caller.app != 0 ? "Resource not accessible by integration"
                                             : "Resource not accessible by personal access token");
  answer.headers.emplace("X-Accepted-GitHub-Permissions", "issues=write");
  return answer;
}

std::optional<Fault> FakeGithubCore::take_fault(const GithubRequest& request) {
  if (faults_.empty() || faults_.front().method != request.method) return {};
  if (request.path.find(faults_.front().path_part) == std::string::npos) return {};
  Fault fault = std::move(faults_.front());
  faults_.pop_front();
  return fault;
}

void FakeGithubCore::note(const GithubRequest& request, const std::optional<GithubAnswer>& answer) {
  auto by_name = request;
  const std::string by_id = "/repositories/1";
  if (by_name.path.starts_with(by_id)) by_name.path.replace(0, by_id.size(), world.base());
  const bool is_judged = answer && !answer->is_partial && !is_general(answer->status);
  if (!is_judged) return judge_.note(by_name);
  judge_.note(by_name, Exchange::Answer{.status = answer->status,
                                        .content_type = answer->text().empty() ? "" : kJson,
                                        .body = answer->text()});
}

}  // namespace torchwatch::test
