#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/github/github_api.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::conversation {

struct Person {
  std::string login = {};
  std::int64_t id = 0;
  bool is_program = false;  ///< a bot, or an app that acts for somebody
};

/// An issue as it is now.
struct IssueNow {
  bool is_there = true;
  std::string moved_to = {};  ///< the address elsewhere; empty: it is where it was
  std::string state = {};     ///< open, closed
  std::string state_reason = {};
  std::string link = {};
  bool is_pull = false;  ///< a pull request, which has an issue's number
};

struct IssueEvent {
  std::int64_t id = 0;
  std::string event = {};  ///< closed, reopened, labeled, renamed, ...
  Person actor = {};
  std::string detail = {};
  std::string state_reason = {};
  platform::WallMillis at = 0;
};

struct Comment {
  std::int64_t id = 0;
  std::int64_t issue = 0;
  Person author = {};
  std::string text = {};
  std::string created_at = {};
  std::string updated_at = {};
};

/// One look at a list that grows.
struct Look {
  bool is_news = false;  ///< else nothing changed
  std::vector<nlohmann::json> items = {};
  std::string etag = {};
};

/// Returns the error of an item of work that could not be had: it waits where anything would fail.
Error error_of(const github::DeliveryFailure&);

/// Reads people's doings from GitHub. What a list lacks is empty: GitHub's own examples lack most
/// members. Errors: unavailable, and invalid where GitHub refuses this one question.
class TrackerReader {
 public:
  explicit TrackerReader(const github::GithubApi& api) : api_(api) {}

  /// The login that the token belongs to; empty for an app's.
  Result<std::string> own_login() const;
  Result<IssueNow> issue(std::int64_t number) const;
  Result<std::vector<IssueEvent>> events(std::int64_t issue) const;
  /// The last comment that somebody made on an issue; empty where there is none.
  Result<std::string> last_comment_of(std::int64_t issue, const std::string& login) const;
  /// admin, maintain, write, triage, read or none: what GitHub calls the permission and the role.
  Result<std::vector<std::string>> roles_of(const std::string& login) const;
  Status react(std::int64_t comment, const std::string& content) const;
  /// What changed in "/issues" or "/issues/comments" since then, oldest first.
  Result<Look> changed(const std::string& list, platform::WallMillis since,
                       const std::string& etag) const;

 private:
  Result<std::vector<nlohmann::json>> all(const std::string& path) const;
  Result<std::string> repository_now() const;

  const github::GithubApi& api_;
};

/// Reads a comment of a list or a delivery.
Comment comment_of(const nlohmann::json&);
/// Returns a member's text, or an empty one.
std::string text_of(const nlohmann::json&, const char* member);
std::int64_t number_of(const nlohmann::json&, const char* member);

}  // namespace torchwatch::conversation
