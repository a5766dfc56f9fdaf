#include "torchwatch/signin/accepted_tokens.hpp"

#include "torchwatch/access/token_store.hpp"
#include "torchwatch/secrets/secrets.hpp"

namespace torchwatch::signin {
namespace {

constexpr std::size_t kLengthMin = 16;
constexpr std::chrono::minutes kNotedEvery{1};

}  // namespace

Result<std::string> token_of_file(const std::filesystem::path& file) {
  auto token = secrets::read_secret(file);
  if (!token || token->size() >= kLengthMin) return token;
  return fail(ErrorCode::invalid, "the token in " + file.string() +
                                      " can be guessed: it must have " +
                                      std::to_string(kLengthMin) +
                                      " characters or more, such as `openssl rand -hex 32` prints");
}

Result<std::unique_ptr<AcceptedTokens>> AcceptedTokens::open(storage::Database& database,
                                                             const platform::Clock& clock,
                                                             log::Log& log,
                                                             const std::filesystem::path& file) {
  std::unique_ptr<AcceptedTokens> tokens(new AcceptedTokens(database, clock, log.logger("web")));
  if (!file.empty()) {
    TW_TRY(const auto token, token_of_file(file));
    log.hide(token);
    tokens->sha256_of_file_ = http::hash_token(token);
  }
  TW_TRY_VOID(tokens->reload());
  return tokens;
}

Status AcceptedTokens::reload() {
  TW_TRY(const auto rows, storage::TokenStore(database_).list());
  std::map<std::string, http::Identity> known;
  if (!sha256_of_file_.empty()) {
    known[sha256_of_file_] = {.token = 0, .scopes = all_scopes(), .name = "token_file"};
  }
  for (const auto& row : rows) {
    if (row.revoked_at) continue;
    known[row.sha256] = {.token = row.id, .scopes = row.scopes, .name = row.name};
  }
  const std::scoped_lock lock(mutex_);
  known_ = std::move(known);
  return {};
}

std::optional<http::Identity> AcceptedTokens::find(const std::string& sha256) const {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(sha256);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void AcceptedTokens::note_use(const http::Identity& identity) {
  if (identity.token == 0) return;
  const auto now = clock_.monotonic_now();
  {
    const std::scoped_lock lock(mutex_);
    const auto [noted, is_first] = noted_at_.try_emplace(identity.token, now);
    if (!is_first && now - noted->second < kNotedEvery) return;
    noted->second = now;
  }
  const auto stored = storage::TokenStore(database_).note_use(identity.token, clock_.wall_now());
  if (stored) return;
  // The request itself is more important than this note of it.
  logger_.warning("the use of a token was not noted: " + stored.error().text());
}

}  // namespace torchwatch::signin
