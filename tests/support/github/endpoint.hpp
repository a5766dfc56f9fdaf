#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "accounts.hpp"
#include "world.hpp"

namespace torchwatch::test {

/// Some paths of the fake GitHub. To add paths: a class in a file of its own, a line in
/// `make_endpoints` (core.cpp) or, for one test alone, `FakeGithubCore::add`; and the paths in
/// tests/integration/github/github_description.json where GitHub's own subset lacks them.
class GithubEndpoint {
 public:
  virtual ~GithubEndpoint() = default;
  /// Nothing where the request is for another endpoint. The lock is held meanwhile.
  virtual std::optional<GithubAnswer> answer(const GithubRequest&, const GithubCaller&,
                                             GithubWorld&) = 0;
};

std::unique_ptr<GithubEndpoint> make_issue_endpoint();
std::unique_ptr<GithubEndpoint> make_comment_endpoint();
std::unique_ptr<GithubEndpoint> make_identity_endpoint(GithubAccounts&);

}  // namespace torchwatch::test
