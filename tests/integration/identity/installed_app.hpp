#pragma once

#include "fake_clock.hpp"
#include "github/client.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/identity/credentials.hpp"

inline constexpr const char* kRepository = "owner/name";
inline constexpr int kApp = 12345;
inline constexpr int kInstallation = 678;

/// A GitHub at which one App is installed, and what [github] says of it. GitHub's clock may differ
/// from ours.
struct InstalledApp {
  explicit InstalledApp(std::chrono::seconds their_clock_is_ahead = std::chrono::seconds(0));

  torchwatch::identity::AppSettings settings() const;
  torchwatch::config::Config config() const;
  /// [github] with a token in a file instead of the App.
  torchwatch::config::Config config_with_token(const std::string& token) const;
  /// Writes a secret, as a careful person does.
  std::filesystem::path write(const std::string& name, const std::string& text,
                              unsigned mode = 0600) const;
  /// Time passes, on both clocks.
  void advance(std::chrono::seconds);
  int asked(const std::string& request) const;  ///< how often, as "POST /app/..."
  void require_no_violation() const;

  torchwatch::test::TemporaryFolder folder;
  torchwatch::test::RsaKey key = torchwatch::test::make_rsa_key();
  torchwatch::test::FakeClock clock;
  torchwatch::test::FakeClock their_clock;
  torchwatch::test::JudgedGithubCore core;
  torchwatch::test::FakeGithubClient http;
};
