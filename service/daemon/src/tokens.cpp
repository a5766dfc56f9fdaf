#include "tokens.hpp"

#include "torchwatch/storage/token_store.hpp"

namespace torchwatch::daemon {
namespace {

constexpr std::size_t kLengthMin = 16;
constexpr std::chrono::minutes kNotedEvery{1};

/// Reads the token of the file; empty where none is configured.
Result<std::string> read_token(const std::filesystem::path& file) {
  if (file.empty()) return std::string();
  TW_TRY(auto token, config::read_secret(file));
  if (token.size() >= kLengthMin) return token;
  return fail(ErrorCode::invalid, "the token in " + file.string() +
                                      " can be guessed: it must have " +
                                      std::to_string(kLengthMin) +
                                      " characters or more, such as `openssl rand -hex 32` prints");
}

}  // namespace

Result<std::unique_ptr<Tokens>> Tokens::open(Application& application) {
  std::unique_ptr<Tokens> tokens(new Tokens(application));
  TW_TRY(const auto token, read_token(application.config().web.token_file));
  if (!token.empty()) {
    application.log().hide(token);
    tokens->sha256_of_file_ = http::hash_token(token);
  }
  TW_TRY_VOID(tokens->reload());
  return tokens;
}

Status Tokens::reload() {
  TW_TRY(const auto rows, storage::TokenStore(application_.services().database).list());
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

std::optional<http::Identity> Tokens::find(const std::string& sha256) const {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(sha256);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void Tokens::note_use(const http::Identity& identity) {
  if (identity.token == 0) return;
  auto& services = application_.services();
  const auto now = services.clock.monotonic_now();
  {
    const std::scoped_lock lock(mutex_);
    const auto [noted, is_first] = noted_at_.try_emplace(identity.token, now);
    if (!is_first && now - noted->second < kNotedEvery) return;
    noted->second = now;
  }
  const auto stored =
      storage::TokenStore(services.database).note_use(identity.token, services.clock.wall_now());
  if (stored) return;
  // The request itself is more important than this note of it.
  application_.log().logger("daemon").warning("the use of a token was not noted: " +
                                              stored.error().message);
}

}  // namespace torchwatch::daemon
