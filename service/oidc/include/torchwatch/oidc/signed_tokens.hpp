#pragma once

#include <memory>
#include <string>
#include <thread>

#include "torchwatch/config/config.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/oidc/issuer_keys.hpp"
#include "torchwatch/oidc/workflow_callers.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/http_client.hpp"

namespace torchwatch::oidc {

/// The signed tokens that [[web.oidc]] trusts, with a thread that keeps the issuers' keys fresh.
class SignedTokens {
 public:
  /// Begins to fetch keys; nothing is fetched where nobody is trusted. `note` gets what does not
  /// work, in a sentence, and "" once it does; it is called from another thread. What is passed by
  /// reference must outlive this object. Errors: unavailable (no thread).
  static Result<std::unique_ptr<SignedTokens>> open(const config::Config&, const platform::Clock&,
                                                    log::Logger,
                                                    std::function<void(const std::string&)> note);

  /// Adds to who knows the tokens of a server: those that are signed.
  void add_to(http::TokenHolder& tokens);

 private:
  SignedTokens(std::vector<config::TrustedWorkflow> trusted, const platform::Clock& clock,
               const log::Logger& logger);

  std::unique_ptr<platform::HttpClient> client_;
  IssuerKeys keys_;
  WorkflowCallers callers_;
  std::jthread fetching_;  // last: it ends before what it uses
};

}  // namespace torchwatch::oidc
