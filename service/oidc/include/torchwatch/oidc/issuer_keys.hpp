#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::oidc {

/// Returns whether an issuer may be asked there: over https, or on this machine.
bool is_safe_address(const std::string& address);

/// The public keys of issuers, kept in memory. Who looks for a key never waits for the network:
/// `refresh` fetches what is due, in a thread of its own. Thread-safe.
class IssuerKeys {
 public:
  /// `client` and `clock` must outlive it.
  IssuerKeys(const std::vector<std::string>& issuers, platform::HttpClient& client,
             const platform::Clock& clock);

  /// Returns the key in PEM; nothing for an unknown one, for which the issuer is asked soon, but at
  /// most once a minute.
  std::optional<std::string> find(const std::string& issuer, const std::string& key_id);

  /// Asks the issuers that are due: the first time, for an unknown key, after a failure, and once
  /// an hour. Returns what went wrong, in a sentence; empty if nothing did.
  std::string refresh(std::stop_token stop);

  /// Waits until something may be due, or until a stop.
  void wait(std::stop_token stop);

 private:
  struct Issuer {
    std::map<std::string, std::string> keys{};  ///< PEM by key id
    std::optional<std::chrono::nanoseconds> tried_at{};
    std::optional<std::chrono::nanoseconds> fetched_at{};
    bool is_wanted = false;  ///< an unknown key was asked for since the last try
    std::string problem{};   ///< why the last try failed; empty: it did not
  };

  /// How long until this issuer is to be asked; 0 or less: now.
  std::chrono::nanoseconds due_in(const Issuer&) const;
  std::vector<std::string> due() const;
  void store(const std::string& issuer, Result<std::map<std::string, std::string>> fetched);
  Result<std::map<std::string, std::string>> fetch(const std::string& issuer,
                                                   const std::stop_token& stop);
  Result<std::string> get(const std::string& address, const std::stop_token& stop);

  platform::HttpClient& client_;
  const platform::Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable_any asked_;
  bool is_asked_ = false;
  std::map<std::string, Issuer> issuers_;
};

}  // namespace torchwatch::oidc
