#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rsa_key.hpp"
#include "world.hpp"

namespace torchwatch::test {

using GithubPermissions = std::map<std::string, std::string>;  ///< "issues" -> "write"

/// An App that is installed at the fake GitHub.
struct GithubApp {
  std::int64_t id = 0;
  std::string slug = "torchwatch";
  std::string public_key{};
  std::int64_t installation = 0;  ///< 0: it is installed nowhere
  GithubPermissions permissions{{"issues", "write"}, {"metadata", "read"}};
  std::chrono::seconds token_life{3600};
};

/// Who asks, and what it may do.
struct GithubCaller {
  GithubUser user{};
  std::optional<GithubPermissions> permissions{};  ///< nothing: everything
  std::int64_t app = 0;                            ///< the App itself or its installation
  bool is_app_itself = false;                      ///< by a JWT
};

/// The tokens and Apps that the fake GitHub knows. The JWTs of an App are checked as GitHub does:
/// signature, issuer, and both times by the fake's own clock.
class GithubAccounts {
 public:
  explicit GithubAccounts(const platform::Clock& clock) : clock_(clock) {}

  void add_token(const std::string& token, GithubUser user,
                 std::optional<GithubPermissions> permissions = {});
  void drop_token(const std::string& token);  ///< it was revoked
  void add_app(GithubApp app);
  GithubApp* app(std::int64_t id);
  const std::vector<GithubApp>& apps() const { return apps_; }

  /// A token of the App's installation; it is longer than a classic token.
  std::pair<std::string, platform::WallMillis> make_token(const GithubApp&);
  /// All tokens of installations end before their time.
  void end_installation_tokens();
  /// Every token of an installation that was ever made.
  const std::vector<std::string>& made_tokens() const { return made_tokens_; }
  /// Every JWT that was ever seen.
  const std::vector<std::string>& seen_jwts() const { return seen_jwts_; }

  /// Who sends this header, or GitHub's answer to somebody unknown.
  std::variant<GithubCaller, GithubAnswer> caller_of(const std::string& authorization);

 private:
  struct Token {
    GithubCaller caller;
    std::optional<platform::WallMillis> ends_at;
  };
  std::variant<GithubCaller, GithubAnswer> app_of(const std::string& jwt) const;

  const platform::Clock& clock_;
  std::map<std::string, Token> tokens_;
  std::vector<GithubApp> apps_;
  std::vector<std::string> made_tokens_;
  std::vector<std::string> seen_jwts_;
};

}  // namespace torchwatch::test
