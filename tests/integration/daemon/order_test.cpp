// In which order a daemon turns to what is due, and that its messages wait for none of it.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "fake_github.hpp"
#include "running_service.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/event_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using nlohmann::json;
using storage::Purpose;

namespace {

constexpr const char* kRepository = "owner/name";

/// Does something while a comparison is at work.
struct AtWork final : comparison::Progress {
  void comparison_started(std::int64_t) override { act(); }
  void phase_started(const std::string&) override {}
  void progress(int, int, const std::string&) override {}
  void log(const std::string&) override {}

  std::function<void()> act = [] {};
};

/// A daemon with something of everything to do. What it is to work on ends at once, as refused:
/// there is no such build and no such commit.
struct BusyService : test::RunningService {
  BusyService() {
    config.alarm = {.no_nightly = {}, .no_verdict = {}, .no_delivery = {}, .no_self_test = {}};
    config.github.repository = kRepository;
    config.github.token_file = config.web.token_file;
    config.github.api = github.url();
    start(at_work);
    store(storage::RequestKind::bisection, {{"suspect", "abc123"}});
    store(storage::RequestKind::bisection, {{"suspect", "abc124"}, {"now", true}});
    open(Purpose::requested);
    const auto nightly = open(Purpose::nightly);
    queue_issue(nightly);
  }
  ~BusyService() { stop(); }

  storage::Database& database() const { return application->services().database; }

  storage::Id open(Purpose purpose) const {
    const auto build =
        storage::BuildStore(database()).discover(storage::BuildOrigin::folder, "/elsewhere");
    return storage::ComparisonStore(database())
        .open({.purpose = purpose, .candidate = build->id, .baseline = build->id}, 1)
        .value()
        .id;
  }

  void queue_issue(storage::Id comparison) const {
    storage::IncidentRow incident;
    incident.comparison = comparison;
    incident.key = "time-cpu:abc";
    incident.opened_at = 1;
    storage::OutboxRow message;
    message.key = "issue";
    message.incident = storage::IncidentStore(database()).open(incident).value().id;
    message.title = "resnet18 is slower";
    message.body = "Slower.";
    REQUIRE(storage::OutboxStore(database()).queue(message));
  }

  /// Whether the issue comes in time.
  bool is_filed() const {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < limit) {
      if (!github.issues().empty()) return true;
      std::this_thread::yield();
    }
    return false;
  }

  /// What has ended beside messages, in the order in which it did.
  std::vector<std::string> refused() const {
    std::vector<std::string> all;
    const auto events = storage::EventStore(database()).after(0, 1'000).value();
    for (const auto& event : events) {
      if (event.state == "refused") all.push_back(event.kind + " " + event.item);
    }
    return all;
  }

  AtWork at_work;
  test::FakeGithub github{
      kRepository, test::kToken,
      test::ApiDescription::read(std::string(TORCHWATCH_SOURCE_DIR) +
                                 "/tests/integration/github/github_description.json")};
};

}  // namespace

TEST_CASE("first comes what people ask for at once, then nightlies, then other requests") {
  BusyService service;
  service.work();
  service.wait_until("/api/v1/comparisons/1",
                     [](const json& body) { return body.at("state") == "refused"; });
  CHECK(service.refused() ==
        std::vector<std::string>{"request 2", "comparison 2", "request 1", "comparison 1"});
}

TEST_CASE("a message leaves while a comparison is at work, however long that takes") {
  BusyService service;
  std::atomic<int> filed = 0;
  service.at_work.act = [&] { filed += service.is_filed() ? 1 : 0; };
  service.work();
  service.wait_until("/api/v1/comparisons/1",
                     [](const json& body) { return body.at("state") == "refused"; });
  service.stop();
  CHECK(filed == 2);  // with the first of the two comparisons, so with the second
}
