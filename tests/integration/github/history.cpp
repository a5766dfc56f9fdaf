#include "history.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "torchwatch/issues/issue.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

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

bool is_ours(const test::GithubUser& author) {
  return author.id == kMachine.id || author.app == kApp;
}

bool is_write(const platform::HttpRequest& request) {
  return request.method != "GET" && !request.url.ends_with("/access_tokens");
}

std::string bodies_with(const std::string& marker, const std::string& text) {
  return text + "\n" + marker + "\n";
}

}  // namespace

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
  const auto database = Database::open({path, "", false}).value();
  const auto build = BuildStore(*database).discover(BuildOrigin::nightly, "2.14.0.dev20260817");
  REQUIRE(ComparisonStore(*database).open({Purpose::nightly, build.value().id, std::nullopt}, 1));
}

History::History(const Beginning& beginning, test::ApiDescription description)
    : core_(kRepository, std::move(description), clock_),
      github_(core_, clock_),
      client_(github_, clock_),
      log_({.level = log::Level::debug}, log_text_),
      has_app_(beginning.has_app),
      path_(beginning.database) {
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
  github::GithubSettings settings;
  settings.repository = kRepository;
  settings.api = "https://api.github.example";
  settings.tokens = tokens_;
  sender_ = std::make_unique<github::OutboxSender>(*store_, client_, clock_, settings,
                                                   log_.logger("github"));
}

void History::open_incident() {
  IncidentRow row;
  row.comparison = ComparisonStore(*database_).list(1).value().front().id;
  row.key = "key-" + std::to_string(told_.size());
  row.title = "resnet18 cpu-train time +15.2 %";
  row.opened_at = clock_.wall_now();
  Told told;
  told.incident = IncidentStore(*database_).open(row).value().id;
  told.key = "open-" + row.key;
  OutboxRow message;
  message.key = told.key;
  message.incident = told.incident;
  message.kind = OutboxKind::open;
  message.title = row.title;
  message.body = bodies_with(report::marker(told.key + ":5ec2e7"), "Slower.");
  REQUIRE(store_->queue(message));
  told_.push_back(std::move(told));
}

void History::say(Told& told, OutboxKind kind) {
  OutboxRow message;
  message.key = told.key + "-" + std::to_string(++told.said);
  message.incident = told.incident;
  message.kind = kind;
  const auto marker = report::marker(message.key + ":5ec2e7");
  message.body = bodies_with(marker, "News " + std::to_string(told.said) + ".");
  REQUIRE(store_->queue(message));
  told.comments.push_back(marker);
  if (kind == OutboxKind::close) told.state = "closed";
  if (kind == OutboxKind::reopen) told.state = "open";
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
      return open_incident();
    case 1:
    case 2:
      if (told_.empty()) return open_incident();
      return say(told_[static_cast<std::size_t>(step.a) % told_.size()],
                 kKinds[static_cast<std::size_t>(step.b) % kKinds.size()]);
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
    default:
      return deliver();
  }
}

void History::end() {
  core_.forget_faults();
  client_.kill_at(0, false);
  for (int round = 0; round < 60; ++round) {
    clock_.advance(std::chrono::hours(7));
    deliver();
    if (store_->unsent().value().empty()) return;
  }
}

void History::check(const Told& told, std::vector<std::string>& complaints) {
  const auto marker = report::marker(told.key + ":5ec2e7");
  const auto issues = core_.with([](auto& core) { return core.world.issues; });
  std::vector<test::GithubIssue> ours;
  for (const auto& issue : issues) {
    if (is_ours(issue.author) && issue.body.find(marker) != std::string::npos)
      ours.push_back(issue);
  }
  if (ours.size() != 1) {
    complaints.push_back(told.key + " has " + std::to_string(ours.size()) + " issues");
    return;
  }
  std::vector<std::string> said;
  for (const auto& comment : ours.front().comments) {
    if (is_ours(comment.author)) said.push_back(report::marker_in(comment.body).value_or("none"));
  }
  if (said != told.comments)
    complaints.push_back(told.key + ": comments lost, doubled or misplaced");
  if (ours.front().state != told.state)
    complaints.push_back(told.key + " is " + ours.front().state);
  if (IncidentStore(*database_).get(told.incident).value().issue_number != ours.front().number) {
    complaints.push_back(told.key + " belongs to another issue");
  }
}

std::vector<std::string> History::complaints() {
  auto all = client_.complaints();
  const auto unsent = store_->unsent().value();
  for (const auto& message : unsent) {
    all.push_back(message.key + " was not sent: " + message.last_error);
  }
  for (const auto& told : told_) check(told, all);
  const auto ours = core_.with([](auto& core) {
    return std::ranges::count_if(core.world.issues,
                                 [](const auto& issue) { return is_ours(issue.author); });
  });
  if (ours != static_cast<std::ptrdiff_t>(told_.size())) all.push_back("too many issues are ours");
  if (core_.with([](auto& core) { return core.quota.refusals(); }) > 0) {
    all.push_back("a limit was reached");
  }
  return all;
}
