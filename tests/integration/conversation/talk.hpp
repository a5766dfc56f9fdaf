#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <sstream>
#include <string>

#include "fake_clock.hpp"
#include "fake_github_conversation.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/conversation/inbox.hpp"
#include "torchwatch/http/router.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/tracker/conversation_store.hpp"
#include "torchwatch/tracker/received_store.hpp"

inline constexpr const char* kRepository = "owner/name";
inline constexpr const char* kToken = "ghs_a-token-for-tests";
inline constexpr const char* kWebhookSecret = "a secret of the webhook";

/// A GitHub on which people talk about incidents, and a service that reads and answers. Ada may do
/// everything, Bea may write, Cem is a stranger; "helpful[bot]" is a program.
struct Talk {
  /// Without `is_measured` there is one incident that nobody measured, with issue 1; else the two
  /// of a scripted day, with issues 1 and 2.
  explicit Talk(bool is_measured = false);

  /// Delivers the outbox.
  void deliver();
  /// Brings a webhook's delivery to its endpoint; the HTTP status.
  int hook(const torchwatch::test::Delivery&);
  /// One round of reading and answering, then one of delivering; why GitHub could not be read.
  std::string work();
  /// Does the same for what somebody did.
  void hear(const torchwatch::test::Delivery& delivery) {
    CHECK(hook(delivery) < 300);
    CHECK(work().empty());
  }
  /// A service that was started anew.
  void restart();
  void measure() { REQUIRE(service->carry_out_due_comparisons()); }
  void pass(std::chrono::milliseconds time) { clock.advance(time); }

  torchwatch::comparison::Services& services() { return *services_; }
  torchwatch::storage::Database& database() { return services().database; }
  torchwatch::storage::IncidentRow incident(torchwatch::storage::Id id = 1) {
    return torchwatch::storage::IncidentStore(database()).get(id).value();
  }
  /// "closed by ada (github ada): why", of the newest decision; empty without one.
  std::string newest_decision();
  std::size_t decisions() { return incident().decisions.size(); }

  torchwatch::test::TemporaryFolder folder;
  torchwatch::test::FakeClock clock;
  torchwatch::test::ConversationGithub github;
  torchwatch::test::ScriptedDay day;
  std::unique_ptr<torchwatch::test::ScriptedService> service;
  torchwatch::conversation::Settings settings;
  std::string refusal;  ///< why requests can never be carried out; empty: they can
  bool has_sandbox = true;
  std::unique_ptr<torchwatch::conversation::Inbox> inbox;
  std::vector<torchwatch::http::Route> routes;
  int deliveries = 0;
  std::ostringstream logged;  ///< by the inbox and by the webhook's endpoint
  torchwatch::log::Log log{{.level = torchwatch::log::Level::debug}, logged};

  /// The service ends; its database can be opened by another.
  void end();

 private:
  void add_incident();

  std::unique_ptr<torchwatch::comparison::Services> services_;
};

/// Twelve comments, a dispute, a second search and a fix; the Talk must be measured.
void talk_until_it_is_fixed(Talk&);
