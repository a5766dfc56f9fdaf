// What `torchwatch check` finds in a configuration and a database.
#include "torchwatch/checks/checks.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "running_service.hpp"
#include "test_repository.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/outbox/outbox_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using Service = test::RunningService;

TEST_CASE("the service's channel says in which manner it fetches, as the configuration has it") {
  test::RunningService service;
  service.config.channel.kind = config::ChannelKind::wheel_index;
  service.config.channel.index = "http://127.0.0.1:9/simple";
  const auto manner = [&](bool with_python) {
    service.config.channel.python = with_python;
    const auto application =
        daemon::Application::open(service.config, service.progress, service.log).value();
    return application->services().channel.manner();
  };
  CHECK(manner(false) != manner(true));
}

TEST_CASE("check says when an issue was last delivered, and what was not") {
  Service service;
  service.config.github.repository = "pytorch/pytorch";
  service.config.github.api = "http://127.0.0.1:1";
  service.application =
      daemon::Application::open(service.config, service.progress, service.log).value();
  auto& database = service.application->services().database;
  const auto found = [&] {
    const auto results = checks::check_all(service.config);
    const auto result = std::ranges::find_if(
        results, [](const checks::CheckResult& each) { return each.what == "delivery of issues"; });
    return result == results.end() ? "" : result->found;
  };
  CHECK(found() == "none yet, nothing waits");
  storage::AlarmStore alarms(database);
  storage::AlarmRow alarm;
  alarm.cause = storage::AlarmCause::no_nightly;
  alarm.since = alarm.raised_at = 1;
  storage::OutboxRow message;
  message.key = message.title = message.body = "k";
  REQUIRE(alarms.raise(alarm, message));
  CHECK(found() == "none yet, 1 not sent");
  storage::OutboxStore outbox(database);
  REQUIRE(outbox.mark_sending("k"));
  REQUIRE(outbox.mark_sent("k", 7, 1'786'935'845'000));
  CHECK(found() == "the last one at 2026-08-17 03:04, nothing waits");
  REQUIRE(outbox.move_issues("", "pytorch/test"));
  CHECK(found() == "the last one at 2026-08-17 03:04, pytorch/test has 1 of the issues");
}

TEST_CASE("check says that a clone is shallow, and how it gets its history") {
  Service service;
  test::TestRepository repository(service.folder.path() / "pytorch");
  repository.commit("first");
  service.config.source.repository = repository.path();
  const auto found = [&] {
    const auto results = checks::check_all(service.config);
    return *std::ranges::find(results, "[source] repository", &checks::CheckResult::what);
  };
  CHECK(found().severity == checks::Severity::good);
  service.folder.write("pytorch/shallow", "");
  CHECK(found().severity == checks::Severity::warning);
  CHECK_THAT(found().found, Contains("shallow"));
  CHECK_THAT(found().remedy, Contains("fetch --unshallow"));
}
