#include "notify_fixture.hpp"

#include <httplib.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace fs = std::filesystem;

FakeReceiver::FakeReceiver() : server_(std::make_unique<httplib::Server>()) {
  server_->Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
    const std::scoped_lock lock(mutex_);
    deliveries_.push_back({.path = request.path,
                           .event = request.get_header_value("X-Torchwatch-Event"),
                           .id = request.get_header_value("X-Torchwatch-Delivery"),
                           .signature = request.get_header_value("X-Torchwatch-Signature-256"),
                           .body = request.body});
    response.status = status_;
    if (!location_.empty()) response.set_header("Location", location_);
  });
  port_ = server_->bind_to_any_port("127.0.0.1");
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  while (!server_->is_running()) std::this_thread::yield();
}

FakeReceiver::~FakeReceiver() {
  server_->stop();
  thread_.join();
}

std::string FakeReceiver::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void FakeReceiver::answer_with(int status, const std::string& location) {
  const std::scoped_lock lock(mutex_);
  status_ = status;
  location_ = location;
}

std::vector<FakeReceiver::Delivery> FakeReceiver::deliveries() const {
  const std::scoped_lock lock(mutex_);
  return deliveries_;
}

NotifyFixture::NotifyFixture()
    : database(Database::open({.path = folder.path() / "torchwatch.sqlite"}).value()),
      processes(process::make_process_runner(folder.path().string())) {
  config.storage.path = folder.path() / "torchwatch.sqlite";
  config.web.public_address = "https://perf.example/";
}

NotifyFixture::~NotifyFixture() = default;

ComparisonRow NotifyFixture::nightly(const std::string& name, const std::string& commit) {
  BuildStore builds(*database);
  const auto make = [&](const std::string& of, const std::string& sha) {
    auto build = builds.discover(BuildOrigin::nightly, of).value();
    build.trunk_commit = sha;
    build.content_hash = of;
    build.folder = (folder.path() / of).string();
    return builds.mark_ready(build).value();
  };
  const auto baseline = make("2026-08-16", std::string(40, 'a'));
  const auto candidate = make(name, commit);
  const NewComparison asked{.candidate = candidate.id, .baseline = baseline.id};
  return ComparisonStore(*database).open(asked, clock.wall_now()).value();
}

ComparisonRow NotifyFixture::report(ComparisonRow row, bool regressed) {
  ComparisonStore comparisons(*database);
  const auto advance = [&](ComparisonState to) {
    row = comparisons.advance(row, to, clock.wall_now()).value();
  };
  if (row.state == ComparisonState::discovered) advance(ComparisonState::ready);
  advance(ComparisonState::measured);
  VerdictRow verdict;
  verdict.comparison = row.id;
  verdict.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
  verdict.verdict = regressed ? Verdict::regressed : Verdict::unchanged;
  verdict.ratio = regressed ? 1.152 : 1.001;
  verdict.interval_low = verdict.ratio - 0.01;
  verdict.interval_high = verdict.ratio + 0.01;
  verdict.baseline_value = 1e6;
  verdict.candidate_value = 1e6 * verdict.ratio;
  REQUIRE(comparisons.add_verdict(verdict));
  for (const auto to :
       {ComparisonState::judged, ComparisonState::bisected, ComparisonState::reported}) {
    advance(to);
  }
  return row;
}

IncidentRow NotifyFixture::incident_of(Id comparison, const std::string& title) {
  IncidentRow row;
  row.comparison = comparison;
  row.key = "time-" + title;
  row.title = title;
  row.opened_at = clock.wall_now();
  IncidentSeriesRow series;
  series.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
  series.ratio = 1.152;
  series.interval_low = 1.14;
  series.interval_high = 1.16;
  series.baseline_value = 1e6;
  series.candidate_value = 1.152e6;
  row.series = {series};
  return IncidentStore(*database).open(row).value();
}

void NotifyFixture::add_webhook(const std::string& name, const std::string& url,
                                std::vector<std::string> events) {
  const auto file = folder.write(name + ".secret", std::string(kWebhookSecret) + "\n");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  config.notify.webhooks.push_back({name, url, file, std::move(events)});
}

void NotifyFixture::add_mail(const std::string& name, const std::string& script,
                             std::vector<std::string> events) {
  config.notify.sendmail = folder.write("sendmail", "#!/bin/sh\n" + script);
  fs::permissions(config.notify.sendmail, fs::perms::owner_all);
  config.notify.mails.push_back(
      {name, {"perf@example.org", "ops@example.org"}, "tw@example.org", std::move(events)});
}

void NotifyFixture::start() {
  notifier = std::make_unique<notify::Notifier>(
      notify::NotifierParts{*database, config, *processes, clock, log});
  queue();
}

void NotifyFixture::queue() {
  const auto queued = notify::queue_notices({*database, config});
  if (!queued) FAIL(queued.error().text());
}

std::string NotifyFixture::deliver() {
  const auto waits = notifier->deliver({});
  if (!waits) FAIL(waits.error().text());
  return *waits;
}

std::vector<OutboxRow> NotifyFixture::unsent() const {
  return OutboxStore(*database).unsent().value();
}
