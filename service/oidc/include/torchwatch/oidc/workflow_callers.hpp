#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/config/config.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/oidc/issuer_keys.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::oidc {

/// Decides by signed tokens which workflow calls. Thread-safe; never waits for the network.
class WorkflowCallers {
 public:
  /// `keys` and `clock` must outlive it.
  WorkflowCallers(std::vector<config::TrustedWorkflow> trusted, IssuerKeys& keys,
                  const platform::Clock& clock, log::Logger logger = {});

  /// Returns whose token it is ("actions OWNER/REPO@ref"); nothing for one that is not trusted. The
  /// log says why one was refused, at most once a second.
  std::optional<http::Identity> find(const std::string& token);

  /// Returns whether the caller's token may change something now: once, and only if it was issued
  /// after this object was made.
  bool spend(const http::Identity& caller);

 private:
  struct Verified {
    http::Identity caller;
    std::int64_t expires_at_s = 0;
  };

  Result<Verified> verify(const std::string& token);
  bool may_check_signature();
  void note_refusal(const std::string& reason);
  void forget_expired();
  std::int64_t now_s() const;

  const std::vector<config::TrustedWorkflow> trusted_;
  IssuerKeys& keys_;
  const platform::Clock& clock_;
  const log::Logger logger_;
  const std::int64_t begun_at_s_;
  std::mutex mutex_;
  std::map<std::string, Verified> verified_;   ///< by the token's SHA-256, until it expires
  std::map<std::string, std::int64_t> spent_;  ///< when it expires, by issuer and jti
  std::int64_t second_ = 0;                    ///< of which wrong signatures are counted
  int wrong_signatures_ = 0;
  std::optional<std::int64_t> noted_at_s_;
};

}  // namespace torchwatch::oidc
