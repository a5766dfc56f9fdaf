#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "github/core.hpp"
#include "github/repository.hpp"

namespace httplib {
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace torchwatch::test {

/// A GitHub on 127.0.0.1 that keeps issues and comments of one repository, checks every request
/// with an API description, knows one token, and fails as the test asks. `core` has all that it
/// knows; `github/client.hpp` reaches that without sockets. Thread-safe.
class UnjudgedGithub {
 public:
  using Comment = GithubComment;
  using Issue = GithubIssue;

  /// Without a clock its time stands still, and it has no limits.
  UnjudgedGithub(std::string repository, std::string token, ApiDescription description,
                 const platform::Clock* clock = nullptr);
  ~UnjudgedGithub();
  UnjudgedGithub(const UnjudgedGithub&) = delete;
  UnjudgedGithub& operator=(const UnjudgedGithub&) = delete;

  std::string url() const;  ///< "http://127.0.0.1:PORT"
  FakeGithubCore& core() { return *core_; }
  /// Whose token it is.
  static GithubUser owner_of_token();

  FakeRepository& of_repository() { return of_repository_; }  ///< its labels and commits
  void plant(Issue issue);  ///< an issue that was there before; the number is given to it
  void fail_next(Fault fault);
  void drop_labels();  ///< as GitHub does without push access
  /// The repository was renamed: requests for `repository` are sent on by a 301.
  void rename_repository();

  std::vector<Issue> issues() const;
  std::vector<std::string> requests() const;  ///< "POST /repos/o/r/issues", in order
  /// What the requests did that the description or GitHub's rules do not allow.
  std::vector<std::string> violations() const;

 private:
  void answer(const httplib::Request&, httplib::Response&);
  void send(const GithubOutcome&, httplib::Response&);

  FakeClock own_clock_;
  FakeRepository of_repository_;
  std::unique_ptr<FakeGithubCore> core_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ending_ = false;
  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::thread thread_;
};

/// The one that tests have.
using FakeGithub = Judged<UnjudgedGithub>;

GithubRequest github_request(const httplib::Request&);

}  // namespace torchwatch::test
