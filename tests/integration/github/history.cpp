#include "history.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::storage;
using test::Fault;

namespace {

constexpr const char* kRepository = "owner/name";
constexpr const char* kToken = "github_pat_a-token-for-tests-0123456789";
constexpr int kApp = 12345;
const test::GithubUser kMachine{.login = "torchwatch-machine", .id = 4242};

Fault answer(std::string method, int status, bool done,
             std::multimap<std::string, std::string> headers = {}) {
  return {
      .method = std::move(method), .done = done, .status = status, .headers = std::move(headers)};
}

Fault broken(std::string method, Fault::Kind kind, bool done,
             std::chrono::milliseconds delay = std::chrono::milliseconds(0)) {
  return {.method = std::move(method), .kind = kind, .done = done, .delay = delay};
}

/// One of everything that GitHub and the way to it do, but what is about a message for good.
std::vector<Fault> faults(WallMillis now) {
  const auto reset = std::to_string(now / 1000 + 600);
  std::vector<Fault> all;
  for (const std::string method : {"GET", "POST", "PATCH"}) {
    for (const int status : {401, 403, 404, 500, 502, 503}) {
      all.push_back(answer(method, status, false));
    }
    for (const int status : {500, 502, 503}) all.push_back(answer(method, status, true));
    all.push_back(answer(method, 503, true, {{"Retry-After", "5"}}));
    all.push_back(answer(method, 429, false, {{"Retry-After", "90"}}));
    all.push_back(answer(method, 403, false, {{"Retry-After", "60"}}));
    all.push_back(
        answer(method, 403, false, {{"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Reset", reset}}));
    for (const bool done : {false, true}) {
      all.push_back(broken(method, Fault::Kind::hang, done));
      all.push_back(broken(method, Fault::Kind::cut, done));
    }
    all.push_back(broken(method, Fault::Kind::slow, false, std::chrono::seconds(5)));
    all.push_back(broken(method, Fault::Kind::slow, false, std::chrono::seconds(45)));
  }
  // What a proxy may say.
  for (auto& fault : all)
    fault.message = "planted; you sent Authorization: Bearer " + std::string(kToken);
  return all;
}

bool is_write(const platform::HttpRequest& request) {
  return request.method != "GET" && !request.url.ends_with("/access_tokens");
}

}  // namespace

bool is_ours(const test::GithubUser& author) {
  return author.id == kMachine.id || author.app == kApp;
}

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << "{" << step.what << ", " << step.a << ", " << step.b << "}";
}

Result<platform::HttpResponse> WatchedClient::send(const platform::HttpRequest& request) {
  watch(request);
  const bool dies = kill_at_ > 0 && --kill_at_ == 0;
  if (dies && !kill_after_) throw Killed{};
  auto response = to_.send(request);
  if (dies) throw Killed{};
  if (!response) return response;
  // A write that was refused for its token has not been made: it is sent anew at once.
  if (response->status == 401 && is_write(request)) last_write_.reset();
  const auto asked = response->headers.find("retry-after");
  if (asked != response->headers.end()) {
    quiet_until_ = clock_.monotonic_now() + std::chrono::seconds(std::stoi(asked->second));
  }
  return response;
}

void WatchedClient::watch(const platform::HttpRequest& request) {
  const auto now = clock_.monotonic_now();
  if (now < quiet_until_) complaints_.push_back("asked before retry-after was over");
  if (!is_write(request)) return;
  if (last_write_ && now < *last_write_ + std::chrono::seconds(1)) {
    complaints_.push_back("two writes within a second");
  }
  last_write_ = now;
}

void WatchedClient::restart() {
  kill_at_ = 0;
  last_write_.reset();
  forget_pause();
}

void WatchedClient::forget_pause() {
  quiet_until_ = std::chrono::nanoseconds(0);
}

void make_empty_database(const std::filesystem::path& path) {
  REQUIRE(Database::open({path, "", false}));
}

History::History(const Beginning& beginning, test::ApiDescription description)
    : core_(kRepository, std::move(description), clock_),
      github_(core_, clock_),
      client_(github_, clock_),
      log_({.level = log::Level::debug}, log_text_),
      has_app_(beginning.has_app),
      path_(beginning.database),
      incidents_(beginning.parts, beginning.file_when, clock_, core_) {
  core_.accounts.add_token(kToken, kMachine);
  core_.accounts.add_app({.id = kApp, .public_key = beginning.key.open, .installation = 1});
  core_.world.list_lag = std::chrono::seconds(60);
  if (has_app_) {
    tokens_ = std::make_shared<identity::AppTokens>(
        client_, clock_,
        identity::AppSettings{.app = kApp,
                              .key_file = beginning.key_file,
                              .repository = kRepository,
                              .api = "https://api.github.example"});
  } else {
    tokens_ =
        std::make_shared<github::GivenToken>(client_, clock_, "https://api.github.example", kToken);
  }
  start_sender();
}

History::~History() = default;

void History::start_sender() {
  close_database();
  client_.restart();
  database_ = Database::open({path_, "", false}).value();
  store_ = std::make_unique<OutboxStore>(*database_);
  incidents_.use(*database_);
  github::GithubSettings settings;
  settings.repository = kRepository;
  settings.api = "https://api.github.example";
  settings.tokens = tokens_;
  sender_ = std::make_unique<github::OutboxSender>(*store_, client_, clock_, settings,
                                                   log_.logger("github"));
}

void History::deliver() {
  try {
    const auto delivered = sender_->deliver_due({});  // Catch would keep what is thrown
    REQUIRE(delivered);
  } catch (const Killed&) {
    ++kills_;
    start_sender();
  }
}

void History::plant_fault(int which) {
  const auto all = faults(clock_.wall_now());
  core_.fail_next(all[static_cast<std::size_t>(which) % all.size()]);
}

/// Somebody who sees our issue and its comments writes the same.
void History::let_stranger_copy(int which) {
  core_.with([&](auto& core) {
    auto& issues = core.world.issues;
    if (issues.empty()) return;
    test::GithubIssue copy = issues[static_cast<std::size_t>(which) % issues.size()];
    copy.author = {.login = "mallory", .id = 666};
    copy.created_at = core.world.now();
    copy.listed_from = 0;
    for (auto& comment : copy.comments) comment.author = copy.author;
    if (which % 2 == 0 && !copy.comments.empty()) {
      issues.front().comments.push_back(copy.comments.back());
      issues.front().comments.back().id = core.world.next_id();
    } else {
      core.world.add(copy);
    }
  });
}

void History::take(const Step& step) {
  constexpr std::array kKinds{OutboxKind::comment, OutboxKind::close, OutboxKind::reopen};
  constexpr std::array kPauses{std::chrono::seconds(1), std::chrono::seconds(30),
                               std::chrono::seconds(61), std::chrono::seconds(600),
                               std::chrono::seconds(7'200)};
  switch (step.what) {
    case 0:
      return incidents_.open_comparison(step.a, step.b);
    case 1:
    case 2:
      if (incidents_.is_empty()) return incidents_.open_comparison(step.a, step.b);
      return incidents_.say(step.a, kKinds[static_cast<std::size_t>(step.b) % kKinds.size()]);
    case 3:
    case 4:
      return clock_.advance(kPauses[static_cast<std::size_t>(step.a) % kPauses.size()]);
    case 5:
      client_.kill_at(1 + step.a % 8, step.b % 2 == 0);
      return deliver();
    case 6:
    case 7:
      return plant_fault(step.a * 7 + step.b);
    case 8:
      return let_stranger_copy(step.a);
    case 9:
      core_.with([](auto& core) { core.accounts.end_installation_tokens(); });
      return;
    case 10:
      client_.forget_pause();
      REQUIRE(sender_->retry_now());
      return;
    case 11:
      incidents_.report_next(step.a, step.b % 4 == 0);
      return;
    case 12:
      return incidents_.search_again(step.a, step.b);
    default:
      return deliver();
  }
}

void History::end() {
  for (int ends = 0; incidents_.report_next(ends, false);) ++ends;
  core_.forget_faults();
  client_.kill_at(0, false);
  for (int round = 0; round < 60; ++round) {
    clock_.advance(std::chrono::hours(7));
    deliver();
    if (store_->unsent().value().empty()) return;
  }
}

std::vector<std::string> History::complaints() {
  auto all = client_.complaints();
  const auto unsent = store_->unsent().value();
  for (const auto& message : unsent) {
    all.push_back(message.key + " was not sent: " + message.last_error);
  }
  for (auto& complaint : incidents_.complaints()) all.push_back(std::move(complaint));
  if (core_.with([](auto& core) { return core.quota.refusals(); }) > 0) {
    all.push_back("a limit was reached");
  }
  return all;
}
