#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api_description.hpp"
#include "message.hpp"

namespace torchwatch::test {

/// Keeps what a fake GitHub was asked, and says what of it GitHub does not allow: by its API
/// description, a path that is not described included, and by its rules about headers. Not
/// thread-safe.
class GithubJudge {
 public:
  explicit GithubJudge(ApiDescription description) : description_(std::move(description)) {}

  /// Looks at the headers of a request.
  void check_headers(const GithubRequest&);
  /// Keeps a request and, where it is to be judged as well, its answer.
  void note(const GithubRequest&, std::optional<Exchange::Answer> = {});
  /// Keeps nothing from now on, for tests with very many requests.
  void look_away() { looks_ = false; }

  const std::vector<Exchange>& exchanges() const { return exchanges_; }
  std::vector<std::string> violations() const;

 private:
  ApiDescription description_;
  bool looks_ = true;
  std::vector<Exchange> exchanges_;
  std::vector<std::string> violations_;
};

}  // namespace torchwatch::test
