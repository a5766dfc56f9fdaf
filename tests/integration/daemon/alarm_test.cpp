// Alarms of a running daemon, from the missing data to the closed issue on the tracker.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "fake_clock.hpp"
#include "fake_github.hpp"
#include "running_service.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using nlohmann::json;
using storage::ComparisonState;
using storage::Purpose;

namespace {

constexpr std::chrono::hours kDay{24};
constexpr const char* kRepository = "owner/name";

/// A daemon on a clock of the test's that files its issues on a fake GitHub, and raises no alarm
/// that the test does not ask for.
struct WatchedService : test::RunningService {
  WatchedService() {
    config.alarm = {.no_nightly = {}, .no_verdict = {}, .no_delivery = {}, .no_self_test = {}};
    config.github.repository = kRepository;
    config.github.token_file = config.web.token_file;
    config.github.api = github.url();
  }
  ~WatchedService() { stop(); }

  void watch() {
    application = daemon::Application::open(config, progress, log).value();
    auto& services = application->services();
    const comparison::Services on_own_clock{.config = services.config,
                                            .database = services.database,
                                            .executor = services.executor,
                                            .runners = services.runners,
                                            .channel = services.channel,
                                            .history = services.history,
                                            .commits = services.commits,
                                            .clock = clock,
                                            .random = services.random,
                                            .progress = services.progress,
                                            .releases = services.releases,
                                            .source = services.source,
                                            .interrupts = services.interrupts};
    std::destroy_at(&services);
    std::construct_at(&services, on_own_clock);
    daemon = daemon::Daemon::start(*application).value();
    work();
  }

  void look() { RunningService::look(clock.wall_now()); }

  void pass(std::chrono::hours time) {
    clock.advance(time);
    look();
  }

  storage::Database& database() const { return application->services().database; }

  storage::ComparisonRow compared(Purpose purpose, const std::string& name, ComparisonState end) {
    return add_ended(purpose, name, end, clock.wall_now());
  }

  std::vector<test::FakeGithub::Issue> issues_on(const std::string& title) const {
    auto issues = github.issues();
    std::erase_if(issues, [&](const auto& issue) { return issue.title != title; });
    return issues;
  }

  /// Checks that the alarm is raised, open once however long it lasts, and filed.
  void check_raised(const std::string& cause, const std::string& title) {
    for (int day = 0; day < 2; ++day) {
      const auto open = storage::AlarmStore(database()).open().value();
      REQUIRE(open.size() == 1);
      CHECK(to_string(open.front().cause) == cause);
      const auto issues = issues_on(title);
      REQUIRE(issues.size() == 1);
      CHECK(issues.front().state == "open");
      CHECK_THAT(send("GET", "/metrics").body,
                 Contains("torchwatch_alarms{cause=\"" + cause + "\"} 1"));
      const auto problems = get("/healthz").at("problems");
      CHECK(std::ranges::any_of(problems, [&](const json& each) {
        return each.at("source") == "alarm" && each.at("item") == cause;
      }));
      pass(kDay);
    }
  }

  /// Checks that the alarm has ended, and its issue with it.
  void check_ended(const std::string& cause, const std::string& title) {
    CHECK(storage::AlarmStore(database()).open().value().empty());
    const auto issues = issues_on(title);
    REQUIRE(issues.size() == 1);
    CHECK(issues.front().state == "closed");
    REQUIRE(issues.front().comments.size() == 1);
    CHECK_THAT(issues.front().comments.front().body, Contains("The alarm has ended"));
    CHECK_THAT(send("GET", "/metrics").body,
               Contains("torchwatch_alarms{cause=\"" + cause + "\"} 0"));
    CHECK(database().check_invariants().value().empty());
  }

  test::FakeClock clock;
  test::FakeGithub github{
      kRepository, test::kToken,
      test::ApiDescription::read(std::string(TORCHWATCH_SOURCE_DIR) +
                                 "/tests/integration/github/github_description.json")};
};

}  // namespace

TEST_CASE("nightlies without verdicts are an alarm with an issue until one has its verdicts") {
  WatchedService service;
  service.config.alarm.no_verdict = kDay;
  service.watch();
  service.compared(Purpose::nightly, "n1", ComparisonState::refused);
  service.pass(kDay);
  CHECK(service.github.issues().empty());
  service.pass(std::chrono::hours(1));
  const std::string title = "torchwatch alarm: no nightly has received its verdicts";
  service.check_raised("no_verdict", title);
  service.compared(Purpose::nightly, "n2", ComparisonState::accepted);
  service.look();
  service.check_ended("no_verdict", title);
}

TEST_CASE("an issue that the tracker rejects is an alarm with an issue until it is filed") {
  WatchedService service;
  service.config.alarm.no_delivery = kDay;
  service.watch();
  const auto found_by = service.compared(Purpose::nightly, "n1", ComparisonState::accepted);
  storage::IncidentRow incident;
  incident.comparison = found_by.id;
  incident.key = "time-cpu:abc";
  incident.series = {
      {{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time}, 1.15, 1.13, 1.17, 2e6, 2.3e6}};
  incident.opened_at = service.clock.wall_now();
  incident = storage::IncidentStore(service.database()).open(incident).value();
  service.github.of_repository().plant_label("torchwatch");
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    service.github.fail_next({.status = 422, .headers = {}, .message = "Validation Failed"});
  }
  storage::OutboxStore outbox(service.database());
  storage::OutboxRow message;
  message.key = "open:abc";
  message.incident = incident.id;
  message.title = "resnet18 is slower";
  message.body = "Slower.";
  REQUIRE(outbox.queue(message));
  for (int i = 0; i < kTries; ++i) service.pass(std::chrono::hours(4));
  REQUIRE(outbox.of_incident(incident.id).value().front().state == storage::OutboxState::dead);
  CHECK(service.github.issues().empty());
  service.pass(kDay);
  const std::string title = "torchwatch alarm: issues of incidents have not been filed";
  service.check_raised("no_delivery", title);
  REQUIRE(outbox.retry(message.key));
  service.look();
  CHECK(service.issues_on(message.title).size() == 1);
  service.check_ended("no_delivery", title);
}

TEST_CASE("a planted slowdown that is missed is an alarm with an issue until one is found") {
  WatchedService service;
  service.watch();
  const std::string title = "torchwatch alarm: a planted slowdown has not been found";
  const auto drill = [&](Verdict verdict) {
    const auto row = service.compared(Purpose::drill, "n1", ComparisonState::reported);
    storage::VerdictRow judged;
    judged.comparison = row.id;
    judged.series = {{"dlrm", {Device::cpu, Mode::train}, {}}, Metric::time};
    judged.verdict = verdict;
    REQUIRE(storage::ComparisonStore(service.database()).add_verdict(judged));
    service.look();
  };
  drill(Verdict::unchanged);
  service.check_raised("missed_drill", title);
  drill(Verdict::regressed);
  service.check_ended("missed_drill", title);
}

TEST_CASE("a self-test that is overdue is an alarm with an issue until one has ended") {
  WatchedService service;
  service.config.alarm.no_self_test = kDay;
  service.watch();
  service.compared(Purpose::nightly, "n1", ComparisonState::accepted);
  service.pass(3 * kDay);
  CHECK(service.github.issues().empty());  // overdue is counted in nightlies that came
  service.compared(Purpose::nightly, "n2", ComparisonState::accepted);
  service.look();
  const std::string title = "torchwatch alarm: no self-test has ended";
  service.check_raised("no_self_test", title);
  service.compared(Purpose::self_test, "n2", ComparisonState::reported);
  service.look();
  service.check_ended("no_self_test", title);
}
