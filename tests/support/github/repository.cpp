#include "repository.hpp"

#include <algorithm>

namespace torchwatch::test {
namespace {

using nlohmann::json;

constexpr int kForbidden = 403;

json label_of(const std::string& name, const GithubWorld& world) {
  return {{"id", 1},
          {"node_id", "L_1"},
          {"url", world.origin + world.base() + "/labels/" + name},
          {"name", name},
          {"description", "Found by torchwatch"},
          {"color", "d93f0b"},
          {"default", false}};
}

json commit_of(const FakeCommit& commit, const GithubWorld& world) {
  const auto url = world.origin + world.base() + "/commits/" + commit.sha;
  const json person{{"name", "somebody"}, {"email", "a@example.org"}, {"date", world.now()}};
  const auto author =
      commit.login.empty()
          ? json(nullptr)
          : world.shape(GithubUser{.login = commit.login, .type = commit.author_type});
  return {{"url", url},
          {"sha", commit.sha},
          {"node_id", "C_1"},
          {"html_url", url},
          {"comments_url", url + "/comments"},
          {"commit",
           {{"url", url},
            {"author", person},
            {"committer", person},
            {"message", "a commit"},
            {"comment_count", 0},
            {"tree", {{"sha", commit.sha}, {"url", url}}}}},
          {"author", author},
          {"committer", author},
          {"parents", json::array()}};
}

GithubAnswer unknown_commit(const std::string& sha) {
  return refusal(422, "No commit found for SHA: " + sha);
}

class RepositoryEndpoint final : public GithubEndpoint {
 public:
  explicit RepositoryEndpoint(FakeRepository& repository) : repository_(repository) {}

  std::optional<GithubAnswer> answer(const GithubRequest& request, const GithubCaller&,
                                     GithubWorld& world) override {
    return repository_.answer(request, world);
  }

 private:
  FakeRepository& repository_;
};

}  // namespace

void FakeRepository::plant(FakeCommit commit) {
  const std::scoped_lock lock(mutex_);
  commits_.push_back(std::move(commit));
}

void FakeRepository::plant_label(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  labels_.push_back(name);
}

void FakeRepository::lock(std::int64_t issue) {
  const std::scoped_lock lock(mutex_);
  locked_.push_back(issue);
}

std::vector<std::string> FakeRepository::labels() const {
  const std::scoped_lock lock(mutex_);
  return labels_;
}

std::optional<GithubAnswer> FakeRepository::answer(const GithubRequest& request,
                                                   const GithubWorld& world) {
  const std::scoped_lock lock(mutex_);
  const auto comments = parts_of(request.path, world.base() + "/issues/*/comments");
  if (!comments.empty() && request.method == "POST") {
    const bool is_locked = std::ranges::any_of(
        locked_, [&](auto issue) { return std::to_string(issue) == comments.front(); });
    if (!is_locked) return {};
    return refusal(kForbidden, "Unable to create comment because issue is locked.");
  }
  if (request.path == world.base() + "/labels") return answer_labels(request, world);
  if (request.method != "GET") return {};
  // Nobody does anything to issues here but through the API.
  if (fits(request.path, world.base() + "/issues/*/events")) {
    return GithubAnswer{.status = 200, .body = json::array()};
  }
  const auto commit = parts_of(request.path, world.base() + "/commits/*");
  if (!commit.empty()) return answer_commit(commit.front(), world);
  const auto pulls = parts_of(request.path, world.base() + "/commits/*/pulls");
  if (!pulls.empty()) return answer_pulls(pulls.front());
  return {};
}

GithubAnswer FakeRepository::answer_labels(const GithubRequest& request, const GithubWorld& world) {
  if (request.method == "GET") {
    json list = json::array();
    for (const auto& label : labels_) list.push_back(label_of(label, world));
    return {.status = 200, .body = list};
  }
  if (world.drops_labels) {
    return refusal(kForbidden, "Resource not accessible by personal access token");
  }
  const auto name = request.content().value("name", "");
  if (std::ranges::find(labels_, name) != labels_.end()) return refusal(422, "Validation Failed");
  labels_.push_back(name);
  return {.status = 201, .body = label_of(name, world)};
}

GithubAnswer FakeRepository::answer_commit(const std::string& sha, const GithubWorld& world) const {
  const auto commit = std::ranges::find(commits_, sha, &FakeCommit::sha);
  if (commit == commits_.end()) return unknown_commit(sha);
  return {.status = 200, .body = commit_of(*commit, world)};
}

GithubAnswer FakeRepository::answer_pulls(const std::string& sha) const {
  const auto commit = std::ranges::find(commits_, sha, &FakeCommit::sha);
  if (commit == commits_.end()) return unknown_commit(sha);
  json pulls = json::array();
  for (const auto number : commit->pulls) {
    pulls.push_back({{"number", number}, {"merged_at", "2026-08-16T10:00:00Z"}});
  }
  // A whole one holds its repository twice.
  return {.status = 200, .body = pulls, .headers = {}, .is_partial = true};
}

std::unique_ptr<GithubEndpoint> make_repository_endpoint(FakeRepository& repository) {
  return std::make_unique<RepositoryEndpoint>(repository);
}

}  // namespace torchwatch::test
