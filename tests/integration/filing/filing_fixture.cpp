#include "filing_fixture.hpp"

#include <SQLiteCpp/Database.h>

#include <catch2/catch.hpp>

#include "outbox_fixture.hpp"
#include "sample_facts.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;

namespace {

config::Config configured(config::Config config, const config::Config::Github& settings) {
  config.github = settings;
  config.github.repository = kRepository;
  config.github.commits = kRepository;
  return config;
}

}  // namespace

FilingDay::FilingDay(const config::Config::Github& settings)
    : github(kRepository, kToken, github_description()),
      day_(folder_.path(), {{"One", "noise 0.01"}, {"Two", "# two"}}),
      config_(configured(day_.config(), settings)),
      service_(test::ScriptedService::open(config_).value()),
      http_(platform::make_http_client("torchwatch-test")) {
  storage::BuildStore builds(services().database);
  const auto build = [&](const char* name) {
    return builds.discover(storage::BuildOrigin::nightly, name).value().id;
  };
  const auto baseline = build("2026-08-16");
  comparison_ =
      storage::ComparisonStore(services().database)
          .open({storage::Purpose::nightly, build("2026-08-17"), baseline}, clock.wall_now())
          .value();
}

comparison::Services FilingDay::services() {
  auto& of_day = service_->services();
  return comparison::Services{.config = config_,
                              .database = of_day.database,
                              .executor = of_day.executor,
                              .runners = of_day.runners,
                              .channel = of_day.channel,
                              .clock = clock,
                              .random = of_day.random,
                              .progress = of_day.progress};
}

storage::IncidentRow FilingDay::add(report::IncidentFacts facts) {
  storage::IncidentRow row;
  row.comparison = comparison_.id;
  row.kind = facts.kind;
  row.key = "key-" + std::to_string(facts_.size());
  row.opened_at = clock.wall_now();
  for (const auto& effect : facts.effects) {
    row.series.push_back({.series = effect.series, .ratio = effect.ratio});
  }
  facts_.push_back(std::move(facts));
  return storage::IncidentStore(services().database).open(row).value();
}

void FilingDay::know(storage::Id incident, report::IncidentFacts facts) {
  facts_.at(static_cast<std::size_t>(incident) - 1) = std::move(facts);
}

filing::FactsOf FilingDay::facts_of() {
  return [this](const storage::IncidentRow& row) -> Result<report::IncidentFacts> {
    auto facts = facts_.at(static_cast<std::size_t>(row.id) - 1);
    facts.cc = config_.github.cc;
    return facts;
  };
}

void FilingDay::change(const std::function<Status()>& inside_a_transaction) {
  REQUIRE(services().database.transact(inside_a_transaction));
}

void FilingDay::judge() {
  auto parts = services();
  change([&] { return filing::file_at_once(parts, comparison_, facts_of()); });
}

void FilingDay::report() {
  auto parts = services();
  change([&] { return filing::file_incidents(parts, comparison_, facts_of()); });
  execute("UPDATE comparison SET state = 'reported', ended_at = " +
          std::to_string(clock.wall_now()));
}

void FilingDay::refile(storage::Id id) {
  auto parts = services();
  const auto row = incident(id);
  change([&] { return filing::refile(parts, row, facts_of()); });
}

storage::IncidentRow FilingDay::incident(storage::Id id) {
  return storage::IncidentStore(services().database).get(id).value();
}

std::vector<storage::OutboxRow> FilingDay::messages(storage::Id id) {
  return storage::OutboxStore(services().database).of_incident(id).value();
}

std::vector<storage::OutboxRow> FilingDay::all_messages() {
  return storage::OutboxStore(services().database).unsent().value();
}

std::vector<std::string> FilingDay::broken_invariants() {
  std::vector<std::string> broken;
  const auto breaches = services().database.check_invariants().value();
  for (const auto& each : breaches) {
    if (each.invariant.find("message") != std::string::npos) broken.push_back(each.rows);
  }
  return broken;
}

github::Delivery FilingDay::deliver() {
  storage::OutboxStore outbox(services().database);
  github::GithubSettings settings;
  settings.repository = kRepository;
  settings.commits = kRepository;
  settings.token = kToken;
  settings.api = github.url();
  settings.labels = config_.github.labels;
  settings.write_interval = std::chrono::milliseconds(0);
  github::Delivery all;
  for (int round = 0; round < 10; ++round) {
    clock.advance(std::chrono::hours(7));
    github::OutboxSender sender(outbox, *http_, clock, settings);
    const auto delivery = sender.deliver_due({});
    REQUIRE(delivery);
    all.sent += delivery->sent;
    all.postponed += delivery->postponed;
    all.dead += delivery->dead;
    if (!delivery->problem.empty()) all.problem = delivery->problem;
  }
  return all;
}

void FilingDay::execute(const std::string& sql) {
  SQLite::Database file(config_.storage.path.string(), SQLite::OPEN_READWRITE);
  file.exec(sql);
}

report::IncidentFacts slowdown(const std::string& workload, double ratio) {
  auto facts = slower_comparison();
  facts.effects.resize(1);
  facts.effects.front().series.benchmark.workload = workload;
  facts.effects.front().ratio = ratio;
  facts.candidate.name = "2026-08-17";
  return facts;
}
