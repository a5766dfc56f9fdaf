#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fake_clock.hpp"
#include "fake_github.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/filing/filing.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/platform/http_client.hpp"

/// A comparison with incidents whose facts the test makes, a configuration, and a GitHub.
class FilingDay {
 public:
  explicit FilingDay(const torchwatch::config::Config::Github& settings);

  /// Opens an incident of the comparison with those facts.
  torchwatch::storage::IncidentRow add(torchwatch::report::IncidentFacts);
  /// Changes what is known of an incident: its search went on.
  void know(torchwatch::storage::Id incident, torchwatch::report::IncidentFacts);

  void judge();   ///< what the stage that judges does about issues
  void report();  ///< what the stage that reports does; the comparison is over then
  void refile(torchwatch::storage::Id incident);
  void change(const std::function<torchwatch::Status()>& inside_a_transaction);

  torchwatch::comparison::Services services();
  torchwatch::storage::IncidentRow incident(torchwatch::storage::Id);
  std::vector<torchwatch::storage::OutboxRow> messages(torchwatch::storage::Id);
  std::vector<torchwatch::storage::OutboxRow> all_messages();  ///< those not sent yet
  std::vector<std::string> broken_invariants();
  const torchwatch::storage::ComparisonRow& comparison() const { return comparison_; }

  /// Sends all that is due, with a sender that was not there before. Waits pass.
  torchwatch::github::Delivery deliver();
  void execute(const std::string& sql);

  torchwatch::test::FakeGithub github;
  torchwatch::test::FakeClock clock;

 private:
  torchwatch::filing::FactsOf facts_of();

  torchwatch::test::TemporaryFolder folder_;
  torchwatch::test::ScriptedDay day_;
  torchwatch::config::Config config_;
  std::unique_ptr<torchwatch::test::ScriptedService> service_;
  std::unique_ptr<torchwatch::platform::HttpClient> http_;
  torchwatch::storage::ComparisonRow comparison_;
  std::vector<torchwatch::report::IncidentFacts> facts_;
};

inline constexpr const char* kCulprit = "5d1c1c3f0a9e7b6d4c2f8e1a3b5d7f9021436587";

/// The facts of a slowdown of that workload by that ratio, with the search of sample_facts.hpp.
torchwatch::report::IncidentFacts slowdown(const std::string& workload, double ratio = 1.15);
