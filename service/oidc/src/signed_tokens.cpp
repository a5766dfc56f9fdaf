#include "torchwatch/oidc/signed_tokens.hpp"

#include <functional>
#include <system_error>
#include <utility>

namespace torchwatch::oidc {
namespace {

/// The entries with what they leave out. One without an audience fits no token.
std::vector<config::TrustedWorkflow> completed(const config::Config::Web& web) {
  auto address = web.public_address;
  while (address.ends_with('/')) address.pop_back();
  auto trusted = web.oidc;
  for (auto& entry : trusted) {
    if (entry.audience.empty()) entry.audience = address;
  }
  return trusted;
}

std::vector<std::string> issuers_of(const std::vector<config::TrustedWorkflow>& trusted) {
  std::vector<std::string> issuers;
  for (const auto& entry : trusted) issuers.push_back(entry.issuer);
  return issuers;
}

}  // namespace

SignedTokens::SignedTokens(std::vector<config::TrustedWorkflow> trusted,
                           const platform::Clock& clock, const log::Logger& logger)
    : client_(platform::make_http_client("torchwatch")),
      keys_(issuers_of(trusted), *client_, clock),
      callers_(std::move(trusted), keys_, clock, logger) {}

Result<std::unique_ptr<SignedTokens>> SignedTokens::open(
    const config::Config& config, const platform::Clock& clock, log::Logger logger,
    std::function<void(const std::string&)> note) {
  auto trusted = completed(config.web);
  const bool is_needed = !trusted.empty();
  std::unique_ptr<SignedTokens> tokens(new SignedTokens(std::move(trusted), clock, logger));
  if (!is_needed) return tokens;
  try {
    tokens->fetching_ =
        std::jthread([of = tokens.get(), note = std::move(note)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            note(of->keys_.refresh(stop));
            of->keys_.wait(stop);
          }
        });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::unavailable,
                std::string("no thread to fetch keys with: ") + error.what());
  }
  return tokens;
}

void SignedTokens::add_to(http::TokenHolder& tokens) {
  tokens.find_signed = [this](const std::string& token) { return callers_.find(token); };
  tokens.spend = [this](const http::Identity& caller) { return callers_.spend(caller); };
}

}  // namespace torchwatch::oidc
