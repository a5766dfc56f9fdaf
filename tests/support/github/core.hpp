#pragma once

#include <deque>
#include <mutex>
#include <optional>

#include "api_description.hpp"
#include "endpoint.hpp"
#include "fake_clock.hpp"
#include "fault.hpp"
#include "judge.hpp"
#include "judged.hpp"
#include "quota.hpp"

namespace torchwatch::test {

/// An answer, and whether it arrives.
struct GithubOutcome {
  GithubAnswer answer{};
  std::optional<Fault> fault{};  ///< hang, cut or slow
};

/// The fake GitHub without its transport: answers requests, checks each, and its own answers, by an
/// API description. Thread-safe. Tests have a `JudgedGithubCore`.
class FakeGithubCore {
 public:
  FakeGithubCore(std::string repository, ApiDescription description, const platform::Clock&);

  GithubOutcome answer(GithubRequest);
  /// Adds paths that only one test needs.
  void add(std::unique_ptr<GithubEndpoint>);
  void fail_next(Fault);
  void forget_faults();      ///< those that nothing has met
  void rename_repository();  ///< requests by its old name are sent on by a 301

  /// Calls `look` under the lock with what the fake holds, to read or to change it.
  template <typename Look>
  auto with(Look look) {
    const std::scoped_lock lock(mutex_);
    return look(*this);
  }
  std::vector<std::string> requests() const;  ///< "POST /repos/o/r/issues", in order
  /// What the requests, or the fake's answers, did that the description or GitHub's rules do not
  /// allow.
  std::vector<std::string> violations() const;
  /// Keeps no exchange from now on, for tests with very many.
  void forget_exchanges();

  GithubWorld world;
  GithubAccounts accounts;
  GithubQuota quota;

 private:
  GithubAnswer answer_known(GithubRequest&, const GithubCaller&);
  GithubAnswer route(const GithubRequest&, const GithubCaller&);
  std::optional<GithubAnswer> refuse(const GithubRequest&, const GithubCaller&) const;
  std::optional<Fault> take_fault(const GithubRequest&);
  void note(const GithubRequest&, const std::optional<GithubAnswer>&);

  mutable std::mutex mutex_;
  GithubJudge judge_;
  std::vector<std::unique_ptr<GithubEndpoint>> endpoints_;
  bool is_renamed_ = false;
  std::deque<Fault> faults_;
  std::vector<std::string> requests_;
};

using JudgedGithubCore = Judged<FakeGithubCore>;

}  // namespace torchwatch::test
