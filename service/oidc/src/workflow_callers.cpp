#include "torchwatch/oidc/workflow_callers.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "json_web_token.hpp"
#include "torchwatch/records/asker.hpp"

namespace torchwatch::oidc {
namespace {

using nlohmann::json;

constexpr std::int64_t kLeewayS = 30;
constexpr std::int64_t kLifeMaxS = 3'600;
constexpr int kWrongSignaturesPerSecond = 50;
constexpr std::size_t kKeptMax = 10'000;
constexpr std::size_t kTokenIdBytesMax = 256;
constexpr std::size_t kShownBytesMax = 200;

std::string text_of(const json& claims, const char* name) {
  const auto found = claims.find(name);
  const bool is_text = found != claims.end() && found->is_string();
  return is_text ? found->get<std::string>() : std::string();
}

std::optional<std::int64_t> time_of(const json& claims, const char* name) {
  const auto found = claims.find(name);
  if (found == claims.end() || !found->is_number_integer()) return std::nullopt;
  const auto time = found->get<std::int64_t>();
  // Far from what would overflow in the sums below.
  constexpr std::int64_t kTimeMax = std::int64_t{1} << 40;
  return time > 0 && time < kTimeMax ? std::optional(time) : std::nullopt;
}

/// What a trusted workflow's entry lists, beside what a token says.
std::vector<std::pair<const char*, const std::string*>> claims_of(
    const config::TrustedWorkflow& trusted) {
  return {{"iss", &trusted.issuer},
          {"aud", &trusted.audience},
          {"repository_id", &trusted.repository_id},
          {"ref", &trusted.ref},
          {"job_workflow_ref", &trusted.job_workflow_ref}};
}

/// Returns what of the token is not as the entry lists it; null if all is. An empty claim of an
/// entry, which a configuration cannot have, fits nothing.
const char* difference(const config::TrustedWorkflow& trusted, const json& claims) {
  for (const auto& [name, wanted] : claims_of(trusted)) {
    if (wanted->empty() || text_of(claims, name) != *wanted) return name;
  }
  return nullptr;
}

/// Returns the entry that the token fits. Errors: invalid, naming what fits none.
Result<const config::TrustedWorkflow*> entry_for(
    const std::vector<config::TrustedWorkflow>& trusted, const json& claims) {
  const char* differs = "iss";
  for (const auto& entry : trusted) {
    const char* found = difference(entry, claims);
    if (found == nullptr) return &entry;
    differs = found;
  }
  return fail(ErrorCode::invalid, "no [[web.oidc]] lists its " + std::string(differs) + " \"" +
                                      text_of(claims, differs).substr(0, kShownBytesMax) +
                                      "\" with the rest of it");
}

struct Times {
  std::int64_t issued = 0;
  std::int64_t expires = 0;
};

Result<Times> check_times(const json& claims, std::int64_t now) {
  const auto issued = time_of(claims, "iat");
  const auto expires = time_of(claims, "exp");
  const auto begins = claims.contains("nbf") ? time_of(claims, "nbf") : issued;
  if (!issued || !expires || !begins) {
    return fail(ErrorCode::invalid, "it does not say when it is valid");
  }
  if (*expires + kLeewayS <= now) return fail(ErrorCode::invalid, "it has expired");
  if (*begins > now + kLeewayS || *issued > now + kLeewayS) {
    return fail(ErrorCode::invalid, "it is not valid yet: is this machine's clock right?");
  }
  if (*expires - *issued > kLifeMaxS) {
    return fail(ErrorCode::invalid, "it is valid for more than an hour");
  }
  return Times{.issued = *issued, .expires = *expires};
}

/// "owner/name", which becomes part of a caller's name.
bool is_repository(const std::string& text) {
  constexpr std::size_t kBytesMax = 140;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '/';
  };
  return text.size() <= kBytesMax && std::ranges::count(text, '/') == 1 &&
         std::ranges::all_of(text, is_plain);
}

}  // namespace

WorkflowCallers::WorkflowCallers(std::vector<config::TrustedWorkflow> trusted, IssuerKeys& keys,
                                 const platform::Clock& clock, log::Logger logger)
    : trusted_(std::move(trusted)),
      keys_(keys),
      clock_(clock),
      logger_(std::move(logger)),
      begun_at_s_(now_s()) {}

std::int64_t WorkflowCallers::now_s() const {
  return clock_.wall_now() / 1'000;
}

std::optional<http::Identity> WorkflowCallers::find(const std::string& token) {
  // Wrong tokens of other kinds come here, too.
  const bool may_be_signed = std::ranges::count(token, '.') == 2;
  if (trusted_.empty() || !may_be_signed) return std::nullopt;
  const auto hash = http::hash_token(token);
  {
    const std::scoped_lock lock(mutex_);
    const auto known = verified_.find(hash);
    const bool is_valid =
        known != verified_.end() && known->second.expires_at_s + kLeewayS > now_s();
    if (is_valid) return known->second.caller;
  }
  auto verified = verify(token);
  if (!verified) {
    note_refusal(verified.error().message);
    return std::nullopt;
  }
  const std::scoped_lock lock(mutex_);
  forget_expired();
  if (verified_.size() < kKeptMax) verified_[hash] = *verified;
  return std::move(verified->caller);
}

Result<WorkflowCallers::Verified> WorkflowCallers::verify(const std::string& token) {
  TW_TRY(const auto read, read_token(token));
  TW_TRY(const auto* entry, entry_for(trusted_, read.claims));
  TW_TRY(const auto times, check_times(read.claims, now_s()));
  const auto id = text_of(read.claims, "jti");
  const auto repository = text_of(read.claims, "repository");
  if (id.empty() || id.size() > kTokenIdBytesMax || !is_repository(repository)) {
    return fail(ErrorCode::invalid, "it has no jti, or names no repository");
  }
  const auto key = keys_.find(entry->issuer, read.key_id);
  if (!key) return fail(ErrorCode::invalid, "its key is not known (yet): the issuer is asked");
  if (!may_check_signature()) {
    return fail(ErrorCode::invalid, "too many wrong signatures this second");
  }
  if (!is_signed_by(token, *key)) {
    const std::scoped_lock lock(mutex_);
    ++wrong_signatures_;
    return fail(ErrorCode::invalid, "its signature is wrong");
  }
  const bool may_change = times.issued >= begun_at_s_ + kLeewayS;
  return Verified{.caller = {.token = 0,
                             .scopes = entry->scopes,
                             .name = name_of_workflow(repository, entry->ref),
                             .once = http::OneUse{.id = entry->issuer + " " + id,
                                                  .expires_at_s = may_change ? times.expires : 0}},
                  .expires_at_s = times.expires};
}

bool WorkflowCallers::spend(const http::Identity& caller) {
  if (!caller.once) return true;
  if (caller.once->expires_at_s == 0) return false;
  const std::scoped_lock lock(mutex_);
  forget_expired();
  // Better one that may not than one that may twice.
  if (spent_.size() >= kKeptMax) return false;
  return spent_.try_emplace(caller.once->id, caller.once->expires_at_s).second;
}

bool WorkflowCallers::may_check_signature() {
  const std::scoped_lock lock(mutex_);
  const auto second = clock_.monotonic_now() / std::chrono::seconds(1);
  if (second != second_) {
    second_ = second;
    wrong_signatures_ = 0;
  }
  return wrong_signatures_ < kWrongSignaturesPerSecond;
}

void WorkflowCallers::forget_expired() {
  const auto now = now_s();
  std::erase_if(verified_,
                [&](const auto& of) { return of.second.expires_at_s + kLeewayS <= now; });
  std::erase_if(spent_, [&](const auto& of) { return of.second + kLeewayS <= now; });
}

void WorkflowCallers::note_refusal(const std::string& reason) {
  {
    const std::scoped_lock lock(mutex_);
    if (noted_at_s_ == now_s()) return;
    noted_at_s_ = now_s();
  }
  logger_.info("a signed token was refused: " + reason);
}

}  // namespace torchwatch::oidc
