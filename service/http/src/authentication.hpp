#pragma once

#include <optional>
#include <string>

#include "head.hpp"
#include "rate_limit.hpp"
#include "torchwatch/http/exchange.hpp"
#include "torchwatch/http/server.hpp"

namespace torchwatch::http {

/// Decides by bearer tokens, of which only the SHA-256 is known, who may do what. A right token
/// always passes; wrong ones are limited per address: five at once, then one every twelve seconds.
/// Thread-safe.
class Authentication {
 public:
  Authentication(TokenHolder tokens, bool local_may_read, bool others_may_read,
                 const platform::Clock& clock);

  /// Returns whose token the value of an Authorization header holds; nothing if it is not known.
  std::optional<Identity> identify(const std::string& authorization) const;
  /// Returns the refusal of a request that lacks the scope (401, 403, 429); nothing if it may pass.
  /// Over the Unix socket everything is allowed.
  std::optional<Reply> refusal_of(const Request&, Scope);
  void note_use(const Identity& identity) const {
    if (tokens_.used) tokens_.used(identity);
  }

 private:
  Reply refusal_of_wrong_token(const std::string& address);

  const TokenHolder tokens_;
  const bool local_may_read_;
  const bool others_may_read_;
  RateLimit failures_;
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
  RateLimit requests_;
};

}  // namespace torchwatch::http
