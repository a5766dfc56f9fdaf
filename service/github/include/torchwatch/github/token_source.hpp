#pragma once

#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "torchwatch/github/delivery_failure.hpp"

namespace torchwatch::github {

/// Who writes with a token.
struct Account {
  std::string login;    ///< of an App "slug[bot]"; empty: some App's, which cannot ask for its name
  std::int64_t id = 0;  ///< of a user; 0: not known
  bool is_bot = false;

  /// Whether this account wrote an issue or a comment. A marker alone proves nothing: anybody can
  /// copy it.
  bool wrote(const nlohmann::json& item) const;
};

/// Where requests to GitHub get their token: one for all requests of a process. Thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  /// A token that GitHub takes now.
  virtual Delivered<std::string> token(std::stop_token) = 0;
  /// GitHub refused this token: whether `token` gives another one, which is worth a second try.
  virtual bool renew(const std::string& refused) = 0;
  /// Who writes with the tokens of this source.
  virtual Delivered<Account> account(std::stop_token) = 0;
};

/// A token that somebody made at GitHub; its account is asked for once.
class GivenToken final : public TokenSource {
 public:
  /// `api` is the address of GitHub's API.
  GivenToken(platform::HttpClient&, const platform::Clock&, std::string api, std::string token);

  void set(std::string token);
  Delivered<std::string> token(std::stop_token) override;
  bool renew(const std::string& refused) override;
  Delivered<Account> account(std::stop_token) override;

 private:
  Delivered<Account> ask(const std::string& token, std::stop_token) const;

  platform::HttpClient& http_;
  const platform::Clock& clock_;
  const std::string api_;
  std::mutex mutex_;
  std::string token_;
  std::optional<Account> account_;
};

}  // namespace torchwatch::github
