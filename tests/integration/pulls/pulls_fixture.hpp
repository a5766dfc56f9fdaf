#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fake_github_pulls.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/pulls/pulls.hpp"

inline constexpr const char* kRepository = "owner/name";
inline constexpr const char* kFork = "somebody/fork";
inline constexpr const char* kToken = "ghs_a-token-for-tests";
/// When people ask; GitHub's times are before and after.
inline constexpr torchwatch::platform::WallMillis kAskedAt = 1'786'849'445'000;  // 2026-08-16 03:04

/// A scripted day whose repository has forks with pull requests, a GitHub that knows them, and a
/// sandbox. Without one on this machine `has_sandbox` is false, and heads are refused.
struct PullsFixture {
  PullsFixture();
  ~PullsFixture();

  /// Adds a commit to the fork of pull request 17, with those lines of behaviour, and pushes it
  /// then, as GitHub's list has it. Returns its sha.
  std::string push(const std::string& behaviour, const std::string& at);
  torchwatch::storage::RequestRow ask(torchwatch::pulls::PullSpec);
  /// Carries the request out as the daemon does. Returns the error's text, or nothing.
  std::string carry_out(torchwatch::storage::Id request);
  torchwatch::pulls::PullParts parts();
  std::string comment() const;  ///< the newest text for pull request 17
  std::vector<torchwatch::storage::OutboxRow> messages() const;
  torchwatch::storage::Database& database();

  torchwatch::test::TemporaryFolder folder;
  torchwatch::test::FakeGithubPulls github{kRepository, kToken};
  torchwatch::test::ScriptedDay day;
  torchwatch::config::Config config;
  std::unique_ptr<torchwatch::test::ScriptedService> service;
  std::unique_ptr<torchwatch::process::ProcessRunner> processes;
  std::unique_ptr<torchwatch::platform::HttpClient> http;
  std::unique_ptr<torchwatch::comparison::RunnerSource> runners;
  std::optional<torchwatch::source::Clone> clone;
  torchwatch::sandbox::Sandbox sandbox;
  std::optional<torchwatch::pulls::HeadBuilds> heads;
  bool has_sandbox = false;
  int asked = 0;  ///< how often `ask` was called
};
