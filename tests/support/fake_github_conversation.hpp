#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "github/judge.hpp"
#include "github/judged.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/http_client.hpp"

namespace torchwatch::test {

/// A webhook's delivery, as GitHub would send it for what a person did.
struct Delivery {
  std::string event;
  nlohmann::json payload;
};

/// Everything on that GitHub. Use it under its mutex.
struct GithubState {
  struct Person {
    std::int64_t id = 0;
    std::string permission = {};
    std::string type = {};
  };
  struct Comment {
    std::int64_t id = 0;
    std::string login = {};
    std::string body = {};
    std::vector<std::string> reactions = {};
    std::string created_at = {};
    std::string updated_at = {};
  };
  struct Event {
    std::int64_t id = 0;
    std::string event = {};
    std::string login = {};
    nlohmann::json more = {};
    std::string created_at = {};
  };
  struct Issue {
    std::int64_t number = 0;
    std::string title = {};
    std::string body = {};
    std::string state = "open";
    std::string state_reason = {};
    std::string login = {};
    std::string created_at = {};
    std::string updated_at = {};
    std::vector<Comment> comments = {};
    std::vector<Event> events = {};
    bool is_deleted = false;
    std::string moved_to = {};  ///< "owner/other#5"
    bool is_pull = false;
  };

  Issue& at(std::int64_t number);
  /// The comment and its issue; null where there is none.
  std::pair<Comment*, Issue*> find_comment(std::int64_t id);
  Comment& add_comment(Issue&, const std::string& by, const std::string& body);
  void add_event(Issue&, const std::string& by, const std::string& event, nlohmann::json more);
  void set_state(Issue&, const std::string& by, const std::string& state,
                 const std::string& reason);
  nlohmann::json user(const std::string& name) const;
  nlohmann::json json_of(const Issue&) const;
  nlohmann::json json_of(const Issue&, const Comment&) const;
  std::string now() const;

  std::string repository;
  std::string login;  ///< that the token belongs to
  const platform::Clock& clock;
  std::map<std::string, Person> people = {};
  std::vector<Issue> issues = {};
  std::int64_t next_id = 1001;
  mutable std::mutex mutex = {};
};

/// What people do there; each returns the delivery. Thread-safe.
class People {
 public:
  explicit People(GithubState& state) : state_(state) {}

  void add(const std::string& login, std::int64_t id, const std::string& permission,
           const std::string& type = "User");
  /// Opens a pull request, and returns its number.
  std::int64_t open_pull(const std::string& login);
  Delivery comment(const std::string& login, std::int64_t issue, const std::string& body);
  Delivery edit_comment(std::int64_t comment, const std::string& body);
  Delivery close(const std::string& login, std::int64_t issue, const std::string& reason);
  Delivery reopen(const std::string& login, std::int64_t issue);
  Delivery label(const std::string& login, std::int64_t issue, const std::string& name);
  Delivery rename(const std::string& login, std::int64_t issue, const std::string& title);
  Delivery remove(const std::string& login, std::int64_t issue);
  Delivery transfer(const std::string& login, std::int64_t issue, const std::string& to);

 private:
  Delivery delivery_of(const std::string& action, const std::string& login,
                       const GithubState::Issue&) const;
  Delivery delivery_of(const std::string& action, const GithubState::Issue&,
                       const GithubState::Comment&) const;

  GithubState& state_;
};

/// A GitHub without a network, on which people talk: issues with events, comments and reactions,
/// roles, lists with ETags. It answers the requests of `login`'s token. Thread-safe.
class UnjudgedConversation : public platform::HttpClient {
 public:
  /// Answers a request instead of this, or leaves it.
  using Fault =
      std::function<std::optional<Result<platform::HttpResponse>>(const platform::HttpRequest&)>;

  UnjudgedConversation(std::string repository, std::string token, std::string login,
                       const platform::Clock& clock);

  Result<platform::HttpResponse> send(const platform::HttpRequest&) override;

  void set_fault(Fault fault);
  /// The repository cannot be seen with this token any more.
  void hide_repository(bool is_hidden = true);

  GithubState::Issue issue(std::int64_t number) const;
  std::vector<std::string> requests() const;  ///< "GET /repos/o/r/issues", in order
  std::vector<Exchange> exchanges() const;
  /// What was asked that GitHub does not allow.
  std::vector<std::string> violations() const;
  /// Everything on an issue as people see it: state, comments, reactions.
  std::string transcript(std::int64_t number) const;

 private:
  using Request = platform::HttpRequest;
  using Response = platform::HttpResponse;
  using Query = std::multimap<std::string, std::string>;

  Response route(const Request&, const std::string& path, const Query&);
  Response about_issue(const Request&, const std::string& rest);
  Response about_comment(const Request&, const std::string& rest);
  Response about_person(const std::string& login) const;
  Response list(const std::string& what, const Request&, const Query&) const;
  Response open(const Request&);

  GithubState state_;
  const std::string token_;
  bool is_hidden_ = false;
  Fault fault_;
  std::vector<std::string> requests_;
  GithubJudge judge_;

 public:
  People people{state_};
};

using ConversationGithub = Judged<UnjudgedConversation>;

}  // namespace torchwatch::test
