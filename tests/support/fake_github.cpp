#include "fake_github.hpp"

#include <httplib.h>

#include <algorithm>

namespace torchwatch::test {
namespace {

constexpr const char* kJson = "application/json; charset=utf-8";

}  // namespace

GithubRequest github_request(const httplib::Request& request) {
  GithubRequest out;
  out.method = request.method;
  out.path = request.path;
  out.target = request.target;
  out.query = request.params;
  out.body = request.body;
  for (const auto& [name, value] : request.headers) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    out.headers.emplace(lower, value);
  }
  return out;
}

GithubUser UnjudgedGithub::owner_of_token() {
  return {.login = "torchwatch-machine", .id = 4242};
}

UnjudgedGithub::UnjudgedGithub(std::string repository, std::string token,
                               ApiDescription description, const platform::Clock* clock)
    : core_(std::make_unique<FakeGithubCore>(std::move(repository), std::move(description),
                                             clock == nullptr ? own_clock_ : *clock)),
      server_(std::make_unique<httplib::Server>()) {
  core_->accounts.add_token(token, owner_of_token());
  core_->add(make_repository_endpoint(of_repository_));
  // Where time stands still, no limit would ever be lifted.
  if (clock == nullptr) core_->quota.set(GithubQuota::unlimited());
  const auto handler = [this](const httplib::Request& request, httplib::Response& response) {
    answer(request, response);
  };
  server_->Get(".*", handler).Post(".*", handler).Patch(".*", handler);
  server_->Put(".*", handler).Delete(".*", handler);
  server_->set_tcp_nodelay(true);
  port_ = server_->bind_to_any_port("127.0.0.1");
  core_->world.origin = url();
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  while (!server_->is_running()) std::this_thread::yield();
}

UnjudgedGithub::~UnjudgedGithub() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  ended_.notify_all();
  server_->stop();
  thread_.join();
}

std::string UnjudgedGithub::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void UnjudgedGithub::plant(Issue issue) {
  core_->with([&](FakeGithubCore& core) { core.world.add(std::move(issue)); });
}

void UnjudgedGithub::fail_next(Fault fault) {
  core_->fail_next(std::move(fault));
}

void UnjudgedGithub::drop_labels() {
  core_->with([](FakeGithubCore& core) { core.world.drops_labels = true; });
}

void UnjudgedGithub::rename_repository() {
  core_->rename_repository();
}

std::vector<UnjudgedGithub::Issue> UnjudgedGithub::issues() const {
  return core_->with([](FakeGithubCore& core) { return core.world.issues; });
}

std::vector<std::string> UnjudgedGithub::requests() const {
  return core_->requests();
}

std::vector<std::string> UnjudgedGithub::violations() const {
  return core_->violations();
}

void UnjudgedGithub::answer(const httplib::Request& request, httplib::Response& response) {
  const auto outcome = core_->answer(github_request(request));
  if (outcome.fault && outcome.fault->kind == Fault::Kind::hang) {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return is_ending_; });
  }
  send(outcome, response);
}

void UnjudgedGithub::send(const GithubOutcome& outcome, httplib::Response& response) {
  if (outcome.fault && outcome.fault->kind == Fault::Kind::cut) {
    response.status = 201;
    response.set_content_provider(1000, "application/json",
                                  [](std::size_t, std::size_t, httplib::DataSink& sink) {
                                    sink.write("{\"number\"", 9);
                                    return false;
                                  });
    return;
  }
  response.status = outcome.answer.status;
  const auto text = outcome.answer.text();
  if (!text.empty()) response.set_content(text, kJson);
  for (const auto& [name, value] : outcome.answer.headers) response.set_header(name, value);
}

}  // namespace torchwatch::test
