#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "message.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::test {

/// Who does something at GitHub.
struct GithubUser {
  std::string login = "somebody";
  std::int64_t id = 1000;
  std::string type = "User";  ///< or "Bot"
  std::int64_t app = 0;       ///< through which App; 0: none
};

struct GithubComment {
  std::string body{};
  std::int64_t id = 0;
  GithubUser author{};
  std::string created_at = "2026-08-17T01:00:00Z";
  std::string updated_at = "2026-08-17T01:00:00Z";
};

struct GithubIssue {
  std::int64_t number = 0;
  std::string title{};
  std::string body{};
  std::string state = "open";
  std::string created_at = "2026-08-17T01:00:00Z";
  std::vector<std::string> labels{};
  std::vector<GithubComment> comments{};
  bool is_pull_request = false;
  GithubUser author{};
  std::string state_reason{};
  std::string updated_at = "2026-08-17T01:00:00Z";
  std::vector<std::string> assignees{};
  bool is_deleted = false;
  platform::WallMillis listed_from = 0;  ///< lists lag behind: not shown in them before
};

/// What one repository at the fake GitHub holds, and the shapes in which GitHub shows it. Endpoints
/// read and change it; whoever calls them holds the lock.
class GithubWorld {
 public:
  GithubWorld(std::string repository, const platform::Clock& clock)
      : repository_(std::move(repository)), clock_(clock) {}

  const std::string& repository() const { return repository_; }
  std::string base() const { return "/repos/" + repository_; }  ///< of paths
  const platform::Clock& clock() const { return clock_; }
  std::string now() const { return platform::iso_utc(clock_.wall_now()); }
  std::int64_t next_id() { return ++last_id_; }

  /// Gives the issue its number and keeps it.
  GithubIssue& add(GithubIssue issue);
  /// Null where there is none, or no longer.
  GithubIssue* find(const std::string& number);
  bool was_deleted(const std::string& number) const;
  /// The comment with this id, and its issue through `issue`; null where there is none.
  GithubComment* find_comment(const std::string& id, GithubIssue** issue = nullptr);

  nlohmann::json shape(const GithubUser&) const;
  nlohmann::json shape(const GithubIssue&) const;
  nlohmann::json shape(const GithubComment&, const GithubIssue&) const;

  std::vector<GithubIssue> issues{};
  std::string origin = "http://127.0.0.1";  ///< for links
  bool drops_labels = false;                ///< as GitHub does without push access
  std::vector<std::string> cannot_be_assigned{};
  std::chrono::seconds list_lag{0};  ///< how long a new issue is missing from lists
  /// State that further endpoints keep, each under a name of its own.
  nlohmann::json extra = nlohmann::json::object();

 private:
  nlohmann::json shape_of_app(std::int64_t app) const;

  std::string repository_;
  const platform::Clock& clock_;
  std::int64_t last_id_ = 5000;
};

}  // namespace torchwatch::test
