#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "endpoint.hpp"

namespace torchwatch::test {

/// A commit as GitHub knows it.
struct FakeCommit {
  std::string sha;
  std::string login;  ///< of its author; empty: GitHub knows nobody with that address
  std::string author_type = "User";
  std::vector<std::int64_t> pulls = {};
};

/// Labels, commits and locked conversations of a fake GitHub's repository. Thread-safe.
class FakeRepository {
 public:
  void plant(FakeCommit);
  void plant_label(const std::string&);
  void lock(std::int64_t issue);  ///< comments on it are refused
  std::vector<std::string> labels() const;

  /// Answers what asks for labels or commits, and comments on what is locked.
  std::optional<GithubAnswer> answer(const GithubRequest&, const GithubWorld&);

 private:
  GithubAnswer answer_labels(const GithubRequest&, const GithubWorld&);
  GithubAnswer answer_commit(const std::string& sha, const GithubWorld&) const;
  GithubAnswer answer_pulls(const std::string& sha) const;

  mutable std::mutex mutex_;
  std::vector<FakeCommit> commits_;
  std::vector<std::int64_t> locked_;
  std::vector<std::string> labels_;
};

/// The paths of a repository that must outlive the endpoint.
std::unique_ptr<GithubEndpoint> make_repository_endpoint(FakeRepository&);

}  // namespace torchwatch::test
