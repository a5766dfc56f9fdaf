// In which order a daemon turns to what is due.
#include <catch2/catch.hpp>

#include "fake_github.hpp"
#include "running_service.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/event_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/outbox_store.hpp"

using namespace torchwatch;
using nlohmann::json;
using storage::Purpose;

namespace {

constexpr const char* kRepository = "owner/name";

/// A daemon with something of everything to do. What it is to work on ends at once, as refused:
/// there is no such build and no such commit.
struct BusyService : test::RunningService {
  BusyService() {
    config.alarm = {.no_nightly = {}, .no_verdict = {}, .no_delivery = {}, .no_self_test = {}};
    config.github.repository = kRepository;
    config.github.token_file = config.web.token_file;
    config.github.api = github.url();
    start();
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

  /// What has ended, in the order in which it did.
  std::vector<std::string> ended() const {
    std::vector<std::string> all;
    const auto events = storage::EventStore(database()).after(0, 1'000).value();
    for (const auto& event : events) {
      const bool is_end = event.state == "refused" || event.state == "sent";
      if (is_end) all.push_back(event.kind + " " + event.item);
    }
    return all;
  }

  test::FakeGithub github{
      kRepository, test::kToken,
      test::ApiDescription::read(std::string(TORCHWATCH_SOURCE_DIR) +
                                 "/tests/integration/github/github_description.json")};
};

}  // namespace

TEST_CASE("messages go first, then what people ask for at once, nightlies, and other requests") {
  BusyService service;
  service.work();
  service.wait_until("/api/v1/comparisons/1",
                     [](const json& body) { return body.at("state") == "refused"; });
  CHECK(service.ended() == std::vector<std::string>{"message issue", "request 2", "comparison 2",
                                                    "request 1", "comparison 1"});
}
