#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "head.hpp"
#include "torchwatch/http/exchange.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/platform/rate_limit.hpp"

namespace torchwatch::http {

/// Decides by bearer tokens, of which the SHA-256 is known or the signer, who may do what. A right
/// token always passes; wrong ones are limited per address: five at once, then one every twelve
/// seconds. Thread-safe.
class Authentication {
 public:
  Authentication(TokenHolder tokens, bool local_may_read, bool others_may_read,
                 const platform::Clock& clock);

  /// Returns whose token the value of an Authorization header holds; nothing if it is not known.
  std::optional<Identity> identify(const std::string& authorization) const;
  /// Returns whose token a request has, on a page also by being signed in; nothing without one.
  std::optional<Identity> identify(const Request&, bool is_page) const;
  /// Returns the refusal of a request that lacks the scope (401, 403, 429); nothing if it may pass.
  /// Over the Unix socket everything is allowed.
  std::optional<Reply> refusal_of(const Request&, Scope, bool is_page = false);
  /// Counts a wrong token; 429 if there were too many of the address.
  std::optional<Reply> count_wrong_token(const std::string& address);
  void note_use(const Identity& identity) const {
    if (tokens_.used) tokens_.used(identity);
  }

 private:
  std::optional<Reply> refusal_of_change(const Identity& identity) const;

  const TokenHolder tokens_;
  const bool local_may_read_;
  const bool others_may_read_;
  platform::RateLimit failures_;
};

/// The reader's budget: how much an address may ask for without a token, so that requests cannot
/// disturb what this machine measures. Ten seconds' worth may come at once. A probe of /healthz has
/// a budget of its own: it works beside a flood from the same address. Thread-safe.
class ReadBudget {
 public:
  ReadBudget(double requests_per_second, const platform::Clock& clock);

  /// Counts a request and returns its refusal (429), or nothing.
  std::optional<Reply> refusal_of(const Head&, const Origin&);

 private:
  platform::RateLimit requests_;
  std::mutex mutex_;
  std::map<int, std::optional<Reply>> refusals_;  ///< by seconds to wait: a flood gets one of few
};

}  // namespace torchwatch::http
