#pragma once

#include <functional>
#include <optional>
#include <string>

#include "head.hpp"
#include "rate_limit.hpp"
#include "torchwatch/http/exchange.hpp"

namespace torchwatch::http {

/// Checks bearer tokens, of which only the SHA-256 is known. A right token always passes; wrong
/// ones are limited per address: five at once, then one every twelve seconds. Thread-safe.
class Authentication {
 public:
  Authentication(std::string token_sha256, const platform::Clock& clock);

  /// Returns whether the value of an Authorization header holds the right token.
  bool is_right(const std::string& authorization) const;
  /// Returns the refusal of a request that may not write (401, 403, 429); nothing if it may.
  std::optional<Reply> refusal_of(const Request&);

 private:
  const std::string token_sha256_;
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
