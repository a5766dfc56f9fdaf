#include <algorithm>

#include "torchwatch/documents/vocabulary_json.hpp"
#include "torchwatch/pulls/pulls.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/source/clone.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::pulls {
namespace {

using nlohmann::json;

constexpr std::int64_t kPullMax = 1'000'000'000;

bool is_login(const std::string& text) {
  constexpr std::size_t kLoginMax = 100;
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  return text.size() <= kLoginMax && text.find_first_not_of(kAllowed) == std::string::npos;
}

Status check_members(const PullSpec& spec) {
  if (spec.pull < 1 || spec.pull > kPullMax) {
    return fail(ErrorCode::invalid, "invalid pull: must be the number of a pull request");
  }
  if (!spec.head.empty() && !source::is_commit_name(spec.head)) {
    return fail(ErrorCode::invalid,
                "invalid head: must be a commit's sha, 7 to 40 digits of 0-9 and a-f");
  }
  if (is_login(spec.login)) return {};
  return fail(ErrorCode::invalid, "invalid login: must be a name on GitHub");
}

}  // namespace

bool is_pull_spec(const json& body) {
  return body.is_object() && body.contains("pull");
}

bool is_of_pull(const storage::RequestRow& request) {
  return request.kind == storage::RequestKind::nightly &&
         is_pull_spec(report::embedded(request.body_json));
}

json to_json(const PullSpec& spec) {
  auto body = comparison::to_json(spec.selection);
  body["pull"] = spec.pull;
  if (!spec.head.empty()) body["head"] = spec.head;
  if (!spec.login.empty()) body["login"] = spec.login;
  if (spec.asked_at != 0) body["asked_at"] = spec.asked_at;
  return body;
}

Result<PullSpec> parse_pull_spec(const json& body) {
  try {
    PullSpec spec{.pull = body.at("pull").get<std::int64_t>(),
                  .head = body.value("head", ""),
                  .login = body.value("login", ""),
                  .asked_at = body.value("asked_at", platform::WallMillis{0})};
    if (!body.at("pull").is_number_integer()) spec.pull = 0;
    TW_TRY(spec.selection, comparison::parse_selection(body));
    TW_TRY_VOID(check_members(spec));
    return spec;
  } catch (const json::exception&) {
    return fail(ErrorCode::invalid,
                "invalid pull request: pull must be a number, head a commit's sha");
  }
}

Status check(const config::Config& config, bool is_confined, const json& body) {
  const auto spec = parse_pull_spec(body);
  if (!spec) return fail(spec.error());
  if (config.source.repository.empty() || config.build.recipe.empty()) {
    return fail(ErrorCode::invalid,
                "pull requests cannot be built: set [source] repository and [build] recipe");
  }
  if (config.github.repository.empty()) {
    return fail(ErrorCode::invalid, "pull requests are not known: set [github] repository");
  }
  if (is_confined) return {};
  return fail(ErrorCode::invalid,
              "pull requests are built in the sandbox only, and there is none here: what nobody "
              "has reviewed could do all that the service may",
              "`torchwatch check` says why there is none");
}

Result<storage::RequestRow> request_pull_comparison(storage::Database& database,
                                                    const config::Config& config,
                                                    const PullSpec& spec,
                                                    const Received& received) {
  const auto body = to_json(spec);
  // Whether there is a sandbox is found when its turn comes, and said on the pull request.
  TW_TRY_VOID(check(config, true, body));
  TW_TRY(auto stored,
         storage::RequestStore(database).receive(received.delivery, storage::RequestKind::nightly,
                                                 body.dump(), received.at, received.asked_by));
  return std::move(stored.first);
}

}  // namespace torchwatch::pulls
