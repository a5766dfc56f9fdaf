#pragma once

#include <filesystem>
#include <map>

#include "torchwatch/github/api_client.hpp"
#include "torchwatch/github/token_source.hpp"

namespace torchwatch::identity {

using github::Delivered;

/// Which App, and where it is installed.
struct AppSettings {
  std::int64_t app = 0;
  std::filesystem::path key_file{};  ///< its private key, in PEM
  std::int64_t installation = 0;     ///< 0: the one of `repository` is asked for
  std::string repository{};          ///< owner/name
  std::string api = "https://api.github.com";
};

/// An App as it is installed in a repository.
struct Installation {
  std::int64_t id = 0;
  std::string slug;                                ///< the App's name in addresses
  std::map<std::string, std::string> permissions;  ///< "issues" -> "write"
};

/// The tokens of an App's installation: made when one is needed, used until five minutes before
/// they end, and made anew once where GitHub refuses one. How long a token lives is counted from
/// GitHub's own time. If GitHub rejects a JWT, its times are corrected by the time that GitHub's
/// answer states. Thread-safe.
class AppTokens final : public github::TokenSource {
 public:
  AppTokens(platform::HttpClient&, const platform::Clock&, AppSettings);

  Delivered<std::string> token(std::stop_token) override;
  bool renew(const std::string& refused) override;
  Delivered<github::Account> account(std::stop_token) override;
  /// Asks where the App is installed and what it may do there.
  Delivered<Installation> installation(std::stop_token);

 private:
  struct Token {
    std::string text;
    std::chrono::nanoseconds used_until;  ///< monotonic
  };
  Delivered<Token> make_token(const std::stop_token&);
  Delivered<Installation> find_installation(const std::stop_token&);
  /// Sends a request as the App itself.
  Delivered<platform::HttpResponse> send(const std::string& method, const std::string& path,
                                         const std::stop_token&);
  Delivered<platform::HttpResponse> send_once(const std::string& method, const std::string& path,
                                              const std::stop_token&) const;
  bool correct_clock(const platform::HttpResponse&);
  Delivered<nlohmann::json> object(const platform::HttpResponse&, const std::string& what) const;

  platform::HttpClient& http_;
  const platform::Clock& clock_;
  const AppSettings settings_;
  std::mutex mutex_;
  std::chrono::seconds skew_{0};  ///< GitHub's clock less this machine's
  std::optional<Token> token_;
  std::optional<github::Account> account_;
  std::int64_t installation_ = 0;
};

}  // namespace torchwatch::identity
