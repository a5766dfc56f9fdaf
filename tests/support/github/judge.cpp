#include "judge.hpp"

namespace torchwatch::test {

void GithubJudge::check_headers(const GithubRequest& request) {
  const auto demand = [&](const std::string& name, const std::string& value) {
    if (request.headers.count(name) == 1 && request.header(name) == value) return;
    violations_.push_back(request.method + " " + request.path + ": header " + name +
                          " is not once \"" + value + "\"");
  };
  demand("accept", "application/vnd.github+json");
  demand("x-github-api-version", "2022-11-28");
  if (request.header("user-agent").empty()) {
    violations_.push_back(request.method + " " + request.path + ": no User-Agent");
  }
  if (request.path.ends_with('/')) violations_.push_back(request.path + ": ends with a slash");
}

void GithubJudge::note(const GithubRequest& request, std::optional<Exchange::Answer> answer) {
  if (!looks_) return;
  exchanges_.push_back({.method = request.method,
                        .path = request.path,
                        .query = request.query,
                        .content_type = request.header("content-type"),
                        .body = request.body,
                        .answer = std::move(answer)});
}

std::vector<std::string> GithubJudge::violations() const {
  if (exchanges_.empty()) return violations_;
  auto all = description_.violations(exchanges_);
  all.insert(all.end(), violations_.begin(), violations_.end());
  return all;
}

}  // namespace torchwatch::test
