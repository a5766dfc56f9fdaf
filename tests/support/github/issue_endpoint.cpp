#include <algorithm>

#include "endpoint.hpp"

namespace torchwatch::test {
namespace {

using nlohmann::json;

constexpr std::size_t kBodyCharactersMax = 65'536;

/// Lists, opens, shows and changes issues.
class IssueEndpoint final : public GithubEndpoint {
 public:
  std::optional<GithubAnswer> answer(const GithubRequest& request, const GithubCaller& caller,
                                     GithubWorld& world) override {
    const std::string base = world.base() + "/issues";
    if (request.path == base && request.method == "GET") return list(request, world);
    if (request.path == base && request.method == "POST") return open(request, caller, world);
    const auto assigned = parts_of(request.path, base + "/*/assignees");
    if (!assigned.empty() && request.method == "POST") return assign(request, assigned, world);
    if (!fits(request.path, base + "/*") || request.path == base + "/comments") return {};
    const auto number = parts_of(request.path, base + "/*").front();
    if (world.was_deleted(number)) return refusal(410, "This issue was deleted");
    GithubIssue* const issue = world.find(number);
    if (issue == nullptr) return refusal(404, "Not Found");
    if (request.method == "PATCH") return change(request, *issue, world);
    if (request.method != "GET") return {};
    return GithubAnswer{.status = 200, .body = world.shape(*issue)};
  }

 private:
  /// Adds people to those who are assigned. Who cannot be is left out; without push access all are.
  static GithubAnswer assign(const GithubRequest& request, const std::vector<std::string>& parts,
                             GithubWorld& world) {
    GithubIssue* const issue = world.find(parts.front());
    if (issue == nullptr) return refusal(404, "Not Found");
    const auto asked = request.content().value("assignees", std::vector<std::string>{});
    for (const auto& login : asked) {
      const auto contains = [&](const std::vector<std::string>& list) {
        return std::ranges::find(list, login) != list.end();
      };
      const bool is_left_out = world.drops_labels || contains(world.cannot_be_assigned);
      if (!is_left_out && !contains(issue->assignees)) issue->assignees.push_back(login);
    }
    return {.status = 201, .body = world.shape(*issue)};
  }

  static bool is_listed(const GithubIssue& issue, const GithubRequest& request,
                        const GithubWorld& world) {
    const auto state = request.parameter("state", "open");
    const auto creator = request.parameter("creator");
    return !issue.is_deleted && issue.listed_from <= world.clock().wall_now() &&
           (state == "all" || issue.state == state) &&
           (creator.empty() || creator == issue.author.login);
  }

  static GithubAnswer list(const GithubRequest& request, const GithubWorld& world) {
    json all = json::array();
    for (auto issue = world.issues.rbegin(); issue != world.issues.rend(); ++issue) {
      if (is_listed(*issue, request, world)) all.push_back(world.shape(*issue));
    }
    return page_of(all, request, "/issues", world.origin);
  }

  static std::optional<GithubAnswer> refuse(const json& content) {
    if (!content.is_object()) return refusal(400, "Problems parsing JSON");
    if (content.contains("body") && content["body"].is_string() &&
        content["body"].get_ref<const std::string&>().size() > kBodyCharactersMax) {
      return refusal(422, "body is too long (maximum is 65536 characters)");
    }
    return {};
  }

  static GithubAnswer open(const GithubRequest& request, const GithubCaller& caller,
                           GithubWorld& world) {
    const json content = request.content();
    if (auto refused = refuse(content)) return *refused;
    if (content.value("title", "").empty()) return refusal(422, "Validation Failed");
    GithubIssue issue;
    issue.title = content.value("title", "");
    issue.body = content.value("body", "");
    issue.author = caller.user;
    issue.created_at = issue.updated_at = world.now();
    issue.listed_from =
        world.clock().wall_now() + std::chrono::milliseconds(world.list_lag).count();
    if (!world.drops_labels) issue.labels = content.value("labels", std::vector<std::string>{});
    return {.status = 201, .body = world.shape(world.add(std::move(issue)))};
  }

  static GithubAnswer change(const GithubRequest& request, GithubIssue& issue,
                             const GithubWorld& world) {
    const json content = request.content();
    if (auto refused = refuse(content)) return *refused;
    issue.state = content.value("state", issue.state);
    if (content.contains("state_reason") && content["state_reason"].is_string()) {
      issue.state_reason = content["state_reason"];
    }
    issue.title = content.value("title", issue.title);
    issue.body = content.value("body", issue.body);
    issue.labels = content.value("labels", issue.labels);
    issue.updated_at = world.now();
    return {.status = 200, .body = world.shape(issue)};
  }
};

}  // namespace

std::unique_ptr<GithubEndpoint> make_issue_endpoint() {
  return std::make_unique<IssueEndpoint>();
}

}  // namespace torchwatch::test
