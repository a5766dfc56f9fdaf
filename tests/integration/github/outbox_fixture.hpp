#pragma once

#include <memory>
#include <string>

#include "fake_clock.hpp"
#include "fake_github.hpp"
#include "github/description.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/platform/http_client.hpp"

using torchwatch::test::github_description;
using torchwatch::test::own_github_description;

inline constexpr const char* kRepository = "owner/name";
inline constexpr const char* kToken = "ghs_a-token-for-tests";

/// A database with one incident of tonight, a GitHub and a sender between them.
struct Outbox {
  explicit Outbox(torchwatch::test::ApiDescription description = github_description());

  void queue(const std::string& key, torchwatch::storage::OutboxKind kind,
             const std::string& body = "The text.");
  torchwatch::github::GithubSettings settings() const;
  /// One round of delivery by a sender that was not there before (as after a restart).
  torchwatch::github::Delivery deliver();
  torchwatch::storage::OutboxRow message(const std::string& key) const;
  /// Lets every wait pass, and delivers until nothing is due any more.
  void deliver_all();
  /// The database is closed, for another process.
  void close() { database.reset(); }
  void open();

  torchwatch::test::TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "torchwatch.sqlite";
  torchwatch::test::FakeClock clock;
  torchwatch::test::FakeGithub github;
  std::unique_ptr<torchwatch::storage::Database> database;
  std::unique_ptr<torchwatch::platform::HttpClient> http;
  std::chrono::milliseconds time_limit{10'000};
  torchwatch::storage::Id incident = 0;
};

/// How many issues hold the marker of `key`.
int issues_with(const std::string& key, const torchwatch::test::FakeGithub&);
