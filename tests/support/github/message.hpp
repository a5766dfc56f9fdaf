#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace torchwatch::test {

/// A request as the fake GitHub sees it, whether it came over a socket or from this process.
struct GithubRequest {
  std::string method;
  std::string path;    ///< percent-decoded, without query
  std::string target;  ///< as it was sent, with query
  std::multimap<std::string, std::string> query{};
  std::multimap<std::string, std::string> headers{};  ///< names in lower case
  std::string body{};

  std::string header(const std::string& name) const;  ///< "" where it was not sent
  std::string parameter(const std::string& name, const std::string& otherwise = "") const;
  int number(const std::string& name, int otherwise) const;
  nlohmann::json content() const;  ///< the body; discarded where it is no JSON
};

struct GithubAnswer {
  int status = 200;
  nlohmann::json body{};  ///< null: none
  std::multimap<std::string, std::string> headers{};
  bool is_partial = false;  ///< has only what is read of it: not checked by the description

  std::string text() const { return body.is_null() ? "" : body.dump(); }
};

/// An error as GitHub words it.
GithubAnswer refusal(int status, const std::string& message);

/// One page of `all`, with the Link header that GitHub would send (by the repository's id). `below`
/// is the path below the repository ("/issues").
GithubAnswer page_of(const nlohmann::json& all, const GithubRequest&, const std::string& below,
                     const std::string& origin);

/// The parts of `path` that stand for the stars of `pattern` ("/repos/o/r/issues/*"); empty where
/// it does not fit. A star stands for one part.
std::vector<std::string> parts_of(const std::string& path, const std::string& pattern);
/// Whether `path` fits `pattern`.
bool fits(const std::string& path, const std::string& pattern);

}  // namespace torchwatch::test
