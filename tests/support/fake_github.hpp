#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "api_description.hpp"

namespace httplib {
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace torchwatch::test {

/// What goes wrong with one request. `done` says whether GitHub did what was asked before.
struct Fault {
  enum class Kind {
    status,  ///< answers `status` with `headers`
    hang,    ///< answers nothing until the client gives up or the fake ends
    cut      ///< begins an answer and closes the connection in the middle
  };
  std::string method = "POST";
  Kind kind = Kind::status;
  bool done = false;
  int status = 502;
  std::multimap<std::string, std::string> headers;
  std::string message = "a planted failure";
};

/// A GitHub on 127.0.0.1 that keeps issues and comments of one repository, checks every request
/// with an API description, refuses every token but one, and fails as the test asks. Thread-safe.
class FakeGithub {
 public:
  struct Comment {
    std::string body;
  };
  struct Issue {
    std::int64_t number = 0;
    std::string title;
    std::string body;
    std::string state = "open";
    std::string created_at = "2026-08-17T01:00:00Z";
    std::vector<std::string> labels;
    std::vector<Comment> comments;
    bool is_pull_request = false;
  };

  FakeGithub(std::string repository, std::string token, ApiDescription description);
  ~FakeGithub();
  FakeGithub(const FakeGithub&) = delete;
  FakeGithub& operator=(const FakeGithub&) = delete;

  std::string url() const;  ///< "http://127.0.0.1:PORT"

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
  void route(const httplib::Request&, const std::string& path, httplib::Response&);
  void check(const httplib::Request&, const std::string& path);
  void check_headers(const httplib::Request&);
  void apply_fault(const Fault&, httplib::Response&);
  void list_issues(const httplib::Request&, httplib::Response&);
  void list_comments(const httplib::Request&, const Issue&, httplib::Response&);
  void open_issue(const nlohmann::json&, httplib::Response&);
  Issue* find_issue(const std::string& number);

  const std::string repository_;
  const std::string token_;
  const ApiDescription description_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ending_ = false;
  bool drops_labels_ = false;
  bool is_renamed_ = false;
  std::vector<Issue> issues_;
  std::deque<Fault> faults_;
  std::vector<std::string> requests_;
  std::vector<Exchange> exchanges_;
  std::vector<std::string> violations_;

  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace torchwatch::test
