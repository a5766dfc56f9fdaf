#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "github/judge.hpp"
#include "github/judged.hpp"

namespace httplib {
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace torchwatch::test {

/// A GitHub on 127.0.0.1 with pull requests, permissions, statuses, check runs and comments of one
/// repository and its forks. It answers as GitHub's documentation says, and refuses what that does
/// not allow with 422. Thread-safe.
class UnjudgedGithubPulls {
 public:
  struct Pull {
    std::string head;             ///< sha
    std::string head_repository;  ///< owner/name of a fork; empty: its fork is gone
    std::string branch = "change";
    std::string state = "open";
    std::string updated_at = "2026-08-17T01:00:00Z";
  };
  /// A push as GitHub's list of activities has it.
  struct Push {
    std::string repository;
    std::string branch;
    std::string after;
    std::string at;
  };
  struct Check {
    std::int64_t id = 0;
    nlohmann::json body;
  };

  UnjudgedGithubPulls(std::string repository, std::string token);
  ~UnjudgedGithubPulls();
  UnjudgedGithubPulls(const UnjudgedGithubPulls&) = delete;
  UnjudgedGithubPulls& operator=(const UnjudgedGithubPulls&) = delete;

  std::string url() const;

  void set_pull(int number, Pull);
  void add_push(Push);
  void permit(const std::string& login, const std::string& permission);
  /// What the token may not do: requests whose path has that part answer 403. Empty: it may all.
  void forbid(const std::string& part);
  /// The next request of that method is carried out, and its answer lost.
  void lose_answer_to(const std::string& method);
  /// Instead of all that was said on a pull request, somebody else has said that.
  void set_comments(int issue, const std::vector<std::string>& of_strangers);

  std::vector<std::string> requests() const;
  /// What was asked that GitHub does not allow.
  std::vector<std::string> violations() const;
  std::vector<nlohmann::json> statuses(const std::string& sha) const;
  std::vector<Check> checks() const;
  std::map<std::int64_t, std::string> comments(int issue) const;  ///< by their ids

 private:
  void answer(const httplib::Request&, httplib::Response&);
  void route(const httplib::Request&, const std::string& path, httplib::Response&);
  void answer_pull(const std::string& number, httplib::Response&);
  void answer_activity(const httplib::Request&, const std::string& repository, httplib::Response&);
  void answer_check(const httplib::Request&, const std::string& id, httplib::Response&);
  void answer_comments(const httplib::Request&, const std::string& issue, httplib::Response&);

  const std::string repository_;
  const std::string token_;
  mutable std::mutex mutex_;
  std::map<std::string, Pull> pulls_;
  std::vector<Push> pushes_;
  std::map<std::string, std::string> permissions_;
  std::set<std::string> forbidden_;
  std::string lost_method_;
  std::vector<std::string> requests_;
  GithubJudge judge_;
  std::map<std::string, std::vector<nlohmann::json>> statuses_;
  std::vector<Check> checks_;
  std::map<std::string, std::map<std::int64_t, std::string>> comments_;
  std::set<std::int64_t> of_strangers_;  ///< comments
  std::int64_t last_id_ = 1000;

  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::thread thread_;
};

using FakeGithubPulls = Judged<UnjudgedGithubPulls>;

}  // namespace torchwatch::test
