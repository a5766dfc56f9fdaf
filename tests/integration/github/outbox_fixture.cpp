#include "outbox_fixture.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "torchwatch/issues/issue.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

Id opened_incident(Database& database, WallMillis now) {
  BuildStore builds(database);
  const auto build = builds.discover(BuildOrigin::nightly, "2.14.0.dev20260817").value();
  const auto comparison =
      ComparisonStore(database).open({Purpose::nightly, build.id, std::nullopt}, now).value();
  IncidentRow row;
  row.comparison = comparison.id;
  row.key = "time-cpu:abc";
  row.title = "resnet18 cpu-train time +15.2 %";
  row.opened_at = now;
  return IncidentStore(database).open(row).value().id;
}

/// An empty database of the newest version, made once: migrating takes longer than most tests.
const std::filesystem::path& empty_database() {
  static const test::TemporaryFolder folder;
  static const auto file = [] {
    auto path = folder.path() / "empty.sqlite";
    REQUIRE(Database::open({path, "", false}));
    return path;
  }();
  return file;
}

}  // namespace

Outbox::Outbox(test::ApiDescription description)
    : github(kRepository, kToken, std::move(description), &clock),
      http(platform::make_http_client("torchwatch-test")) {
  github.of_repository().plant_label("torchwatch");
  open();
  incident = opened_incident(*database, clock.wall_now());
}

void Outbox::open() {
  if (!std::filesystem::exists(path)) std::filesystem::copy_file(empty_database(), path);
  database = Database::open({path, "", false}).value();
}

void Outbox::queue(const std::string& key, OutboxKind kind, const std::string& body) {
  OutboxRow row;
  row.key = key;
  row.incident = incident;
  row.kind = kind;
  row.title = kind == OutboxKind::open ? "resnet18 cpu-train time +15.2 %" : "";
  row.body = body;
  REQUIRE(OutboxStore(*database).queue(row));
}

github::GithubSettings Outbox::settings() const {
  github::GithubSettings settings;
  settings.repository = kRepository;
  settings.token = kToken;
  settings.api = github.url();
  settings.time_limit = time_limit;
  return settings;
}

github::Delivery Outbox::deliver() {
  OutboxStore messages(*database);
  github::OutboxSender sender(messages, *http, clock, settings());
  auto delivery = sender.deliver_due({});
  REQUIRE(delivery);
  return *delivery;
}

void Outbox::deliver_all() {
  for (int round = 0; round < 50; ++round) {
    clock.advance(std::chrono::hours(7));
    const auto delivery = deliver();
    if (delivery.sent + delivery.postponed + delivery.dead == 0) return;
  }
  FAIL("messages are still due after fifty rounds");
}

OutboxRow Outbox::message(const std::string& key) const {
  const auto rows = OutboxStore(*database).of_incident(incident).value();
  for (const auto& row : rows) {
    if (row.key == key) return row;
  }
  FAIL("no message " << key);
  return {};
}

int issues_with(const std::string& key, const test::FakeGithub& github) {
  const auto issues = github.issues();
  return static_cast<int>(std::count_if(issues.begin(), issues.end(), [&](const auto& issue) {
    return issue.body.find(report::marker(key)) != std::string::npos;
  }));
}
