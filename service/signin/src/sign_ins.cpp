#include "torchwatch/signin/sign_ins.hpp"

#include <algorithm>
#include <utility>

#include "cookie.hpp"
#include "torchwatch/access/sign_in_store.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/signin/own_origin.hpp"

namespace torchwatch::signin {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr std::size_t kIdBytes = 32;
constexpr std::size_t kTokenBytesMax = 512;
constexpr auto kLastsMs = duration_cast<milliseconds>(SignIns::kLasts).count();

/// What the forms of a sign-in send back. From it nobody learns the id, nor it from the stored
/// hash.
std::string form_key_of(const std::string& id) {
  return digest::sha256_hex("torchwatch form key of " + id);
}

}  // namespace

Result<std::unique_ptr<SignIns>> SignIns::open(Parts parts) {
  std::unique_ptr<SignIns> sign_ins(new SignIns(std::move(parts)));
  TW_TRY_VOID(sign_ins->reload());
  return sign_ins;
}

Status SignIns::reload() {
  const auto wall = parts_.clock.wall_now();
  const auto now = parts_.clock.monotonic_now();
  TW_TRY(const auto rows, storage::SignInStore(parts_.database).list(wall));
  const std::scoped_lock lock(mutex_);
  for (const auto& row : rows) {
    const auto left = std::min<std::int64_t>(row.ends_at - wall, kLastsMs);
    known_[row.sha256] = {.token_sha256 = row.token_sha256,
                          .ends_at = row.ends_at,
                          .until = now + milliseconds(left)};
  }
  return {};
}

std::string SignIns::id_of(const http::Request& request) const {
  return id_in_cookie(request, is_https(request, parts_.public_address));
}

std::optional<http::Identity> SignIns::find(const http::Request& request) const {
  const auto id = id_of(request);
  if (id.empty()) return std::nullopt;
  std::string token_sha256;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(digest::sha256_hex(id));
    if (found == known_.end()) return std::nullopt;
    const bool has_ended = parts_.clock.monotonic_now() >= found->second.until ||
                           parts_.clock.wall_now() >= found->second.ends_at;
    if (has_ended) return std::nullopt;
    token_sha256 = found->second.token_sha256;
  }
  auto identity = parts_.find_token(token_sha256);
  if (identity) identity->form_key = form_key_of(id);
  return identity;
}

Result<std::string> SignIns::begin(const http::Request& request, const std::string& token) {
  const auto token_sha256 = http::hash_token(token);
  const bool is_known = !token.empty() && token.size() <= kTokenBytesMax &&
                        parts_.find_token(token_sha256).has_value();
  if (!is_known) return fail(ErrorCode::not_found, "this token is not known, or was revoked");
  const auto before = id_of(request);
  if (!before.empty()) TW_TRY_VOID(end(request));
  const auto id = parts_.random.token(kIdBytes);
  const auto now = parts_.clock.wall_now();
  const storage::SignInRow row{.sha256 = digest::sha256_hex(id),
                               .token_sha256 = token_sha256,
                               .made_at = now,
                               .ends_at = now + kLastsMs};
  TW_TRY_VOID(storage::SignInStore(parts_.database).add(row));
  forget_ended();
  {
    const std::scoped_lock lock(mutex_);
    known_[row.sha256] = {.token_sha256 = token_sha256,
                          .ends_at = row.ends_at,
                          .until = parts_.clock.monotonic_now() + kLasts};
  }
  return cookie_text(request, is_https(request, parts_.public_address), id, kLasts);
}

void SignIns::forget_ended() {
  const auto now = parts_.clock.monotonic_now();
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [&](const auto& known) {
    return now >= known.second.until || !parts_.find_token(known.second.token_sha256);
  });
}

Result<std::string> SignIns::end(const http::Request& request) {
  const auto id = id_of(request);
  const auto removal =
      cookie_text(request, is_https(request, parts_.public_address), "", std::chrono::seconds(0));
  if (id.empty()) return removal;
  const auto sha256 = digest::sha256_hex(id);
  {
    const std::scoped_lock lock(mutex_);
    known_.erase(sha256);
  }
  TW_TRY_VOID(storage::SignInStore(parts_.database).end(sha256));
  return removal;
}

bool SignIns::is_own_origin(const http::Request& request) const {
  return signin::is_own_origin(request, parts_.public_address);
}

void SignIns::leave_note(const http::Request& request, const std::string& path,
                         const std::string& text) {
  const auto sha256 = digest::sha256_hex(id_of(request));
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(sha256);
  if (found == known_.end()) return;
  found->second.note_path = path;
  found->second.note = text;
}

std::string SignIns::take_note(const http::Request& request) {
  if (!request.signed_in) return "";
  const auto sha256 = digest::sha256_hex(id_of(request));
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(sha256);
  if (found == known_.end() || found->second.note_path != request.path) return "";
  found->second.note_path.clear();
  return std::exchange(found->second.note, {});
}

}  // namespace torchwatch::signin
