#include <algorithm>

#include "endpoint.hpp"

namespace torchwatch::test {
namespace {

using nlohmann::json;

/// Comments of an issue, of the repository, and single ones.
class CommentEndpoint final : public GithubEndpoint {
 public:
  std::optional<GithubAnswer> answer(const GithubRequest& request, const GithubCaller& caller,
                                     GithubWorld& world) override {
    const std::string issues = world.base() + "/issues";
    if (request.path == issues + "/comments" && request.method == "GET") {
      return list_all(request, world);
    }
    if (fits(request.path, issues + "/comments/*")) {
      return single(request, parts_of(request.path, issues + "/comments/*").front(), world);
    }
    if (!fits(request.path, issues + "/*/comments")) return {};
    const auto number = parts_of(request.path, issues + "/*/comments").front();
    if (world.was_deleted(number)) return refusal(410, "This issue was deleted");
    GithubIssue* const issue = world.find(number);
    if (issue == nullptr) return refusal(404, "Not Found");
    if (request.method == "GET") return list(request, *issue, world);
    if (request.method == "POST") return add(request, caller, *issue, world);
    return {};
  }

 private:
  static bool is_since(const GithubComment& comment, const GithubRequest& request) {
    return comment.updated_at >= request.parameter("since");
  }

  static GithubAnswer list(const GithubRequest& request, const GithubIssue& issue,
                           const GithubWorld& world) {
    json all = json::array();
    for (const auto& comment : issue.comments) {
      if (is_since(comment, request)) all.push_back(world.shape(comment, issue));
    }
    return page_of(all, request, "/issues/" + std::to_string(issue.number) + "/comments",
                   world.origin);
  }

  static GithubAnswer list_all(const GithubRequest& request, const GithubWorld& world) {
    json all = json::array();
    for (const auto& issue : world.issues) {
      for (const auto& comment : issue.comments) {
        if (!issue.is_deleted && is_since(comment, request)) {
          all.push_back(world.shape(comment, issue));
        }
      }
    }
    return page_of(all, request, "/issues/comments", world.origin);
  }

  static GithubAnswer add(const GithubRequest& request, const GithubCaller& caller,
                          GithubIssue& issue, GithubWorld& world) {
    const json content = request.content();
    if (!content.is_object() || content.value("body", "").empty()) {
      return refusal(422, "Validation Failed");
    }
    issue.comments.push_back({.body = content["body"],
                              .id = world.next_id(),
                              .author = caller.user,
                              .created_at = world.now(),
                              .updated_at = world.now()});
    issue.updated_at = world.now();
    return {.status = 201, .body = world.shape(issue.comments.back(), issue)};
  }

  static std::optional<GithubAnswer> single(const GithubRequest& request, const std::string& id,
                                            GithubWorld& world) {
    GithubIssue* issue = nullptr;
    GithubComment* const comment = world.find_comment(id, &issue);
    if (comment == nullptr) return refusal(404, "Not Found");
    if (request.method == "PATCH") {
      comment->body = request.content().value("body", comment->body);
      comment->updated_at = world.now();
    } else if (request.method == "DELETE") {
      std::erase_if(issue->comments,
                    [&](const auto& each) { return std::to_string(each.id) == id; });
      return GithubAnswer{.status = 204};
    } else if (request.method != "GET") {
      return {};
    }
    return GithubAnswer{.status = 200, .body = world.shape(*comment, *issue)};
  }
};

}  // namespace

std::unique_ptr<GithubEndpoint> make_comment_endpoint() {
  return std::make_unique<CommentEndpoint>();
}

}  // namespace torchwatch::test
