#include "head.hpp"

#include <algorithm>
#include <optional>

#include "torchwatch/github/github_api.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::pulls {
namespace {

using nlohmann::json;

constexpr int kNotFound = 404;
constexpr std::size_t kNameMax = 100;

Error error_of(const github::DeliveryFailure& failure) {
  return {ErrorCode::unavailable, failure.sentence};
}

std::string text_at(const json& object, const json::json_pointer& place) {
  const auto found = object.contains(place) ? object.at(place) : json();
  return found.is_string() ? found.get<std::string>() : "";
}

/// "2026-08-17T01:00:00Z", as GitHub writes times; nothing otherwise.
std::optional<platform::WallMillis> time_at(const json& object, const json::json_pointer& place) {
  return platform::parse_iso_utc(text_at(object, place));
}

/// A push to the branch of a pull request.
struct Push {
  std::string sha;
  std::optional<platform::WallMillis> at;
};

/// Talks to GitHub about one pull request.
class Question {
 public:
  Question(PullParts& parts, github::GithubSettings settings, std::stop_token stop)
      : parts_(parts), settings_(std::move(settings)), stop_(std::move(stop)) {}

  /// Nothing where GitHub knows no such thing.
  Result<std::optional<json>> get(const std::string& path) const {
    TW_TRY(const auto api,
           github::GithubApi::create(parts_.http, parts_.services.clock, settings_, stop_));
    auto answer = api.read(path);
    if (answer) return std::optional(std::move(*answer));
    if (stop_.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
    if (answer.error().status == kNotFound) return std::nullopt;
    return fail(error_of(answer.error()));
  }

  /// The pushes to a branch, which may be a fork's, newest first.
  Result<std::vector<Push>> pushes(const std::string& repository, const std::string& branch) const {
    auto fork = settings_;
    fork.repository = repository;
    TW_TRY(const auto api,
           github::GithubApi::create(parts_.http, parts_.services.clock, fork, stop_));
    const auto page = api.get_page(
        api.address("/activity?per_page=100&ref=" + http::percent_encoded("refs/heads/" + branch)));
    if (!page && page.error().status == kNotFound) return std::vector<Push>{};
    if (!page) return fail(error_of(page.error()));
    std::vector<Push> pushes;
    for (const auto& each : page->items) {
      pushes.push_back(
          {text_at(each, "/after"_json_pointer), time_at(each, "/timestamp"_json_pointer)});
    }
    return pushes;
  }

  const std::string& repository() const { return settings_.repository; }

 private:
  PullParts& parts_;
  github::GithubSettings settings_;
  std::stop_token stop_;
};

Head refused(std::string why) {
  return {.sha = "", .refusal = std::move(why)};
}

/// Empty if who asked may write now; else why nothing is built.
Result<std::string> missing_right(const Question& github, const std::string& login) {
  if (login.empty()) return std::string();
  TW_TRY(const auto answer, github.get("/collaborators/" + login + "/permission"));
  const auto right = answer ? text_at(*answer, "/permission"_json_pointer) : "";
  if (right == "admin" || right == "write") return std::string();
  return report::code(login, kNameMax) + " may not write to " +
         report::code(github.repository(), kNameMax) + ": pull requests are built only for who may";
}

/// What is asked of a pull request: which commit, when, and what GitHub knows of its pushes.
struct Asked {
  const PullSpec& spec;
  const json& pull;
  std::string now;  ///< the head's sha
  platform::WallMillis at = 0;
  std::vector<Push> pushes{};  ///< newest first

  bool is_unchanged_since() const {
    const auto updated = time_at(pull, "/updated_at"_json_pointer);
    return updated && *updated < at;
  }
  bool was_pushed_before(const std::string& sha) const {
    if (sha == now && is_unchanged_since()) return true;
    return std::ranges::any_of(
        pushes, [&](const Push& push) { return push.sha == sha && push.at && *push.at < at; });
  }
};

/// The commits that are or were the head and begin like the name, each once.
std::vector<std::string> named_by(const Asked& asked) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& sha) {
    const bool is_new = std::ranges::find(found, sha) == found.end();
    if (is_new && sha.starts_with(asked.spec.head)) found.push_back(sha);
  };
  add(asked.now);
  for (const auto& push : asked.pushes) {
    if (is_commit(push.sha)) add(push.sha);
  }
  return found;
}

/// Whoever may push can make a commit that begins like the one that was looked at, so a short name
/// counts only for what was there when it was written.
Head head_by_name(const Asked& asked) {
  const auto found = named_by(asked);
  const auto name = "commit " + report::code(asked.spec.head);
  if (found.empty()) {
    return refused(name + " neither is nor was the head of this pull request, which is " +
                   report::code(short_sha(asked.now)) + " now");
  }
  if (is_commit(asked.spec.head)) return {.sha = found.front(), .refusal = ""};
  const std::string name_it = "; ask again, and name the commit that is meant by all its 40 digits";
  if (found.size() > 1) return refused("several commits begin like " + name + name_it);
  if (asked.was_pushed_before(found.front())) return {.sha = found.front(), .refusal = ""};
  return refused(name + " was not there when this was asked for, as far as GitHub says" + name_it);
}

/// In doubt nothing is built: a push may hide behind a request that was made for another commit.
/// A list whose newest push is not the head lags behind it, and may have the same commit from an
/// earlier time.
Head head_by_time(const Asked& asked) {
  if (asked.is_unchanged_since()) return {.sha = asked.now, .refusal = ""};
  const auto head = "the head " + report::code(short_sha(asked.now));
  const auto name_it = "; ask again, and name the commit that is meant: " + report::code(asked.now);
  const bool is_listed = !asked.pushes.empty() && asked.pushes.front().sha == asked.now;
  if (!is_listed || !asked.pushes.front().at) {
    return refused("GitHub does not say when " + head +
                   " was pushed, so it may be later than what was asked for" + name_it);
  }
  if (*asked.pushes.front().at < asked.at) return {.sha = asked.now, .refusal = ""};
  return refused(head + " was pushed after this was asked for" + name_it);
}

/// What of a pull request keeps it from being compared; empty: nothing.
std::string unfit(const json& pull, const std::string& branch) {
  if (text_at(pull, "/state"_json_pointer) != "open") return "this pull request is not open";
  const auto base = text_at(pull, "/base/ref"_json_pointer);
  if (base == branch) return "";
  return "this pull request is against " + report::code(base, kNameMax) + ": only those against " +
         report::code(branch, kNameMax) + " are compared";
}

}  // namespace

Result<Head> head_of(PullParts& parts, const PullSpec& spec, platform::WallMillis asked_at,
                     const std::string& begun, std::stop_token stop) {
  // What is wrong with the token is not the fault of this request, which waits for another one.
  auto settings = parts.github();
  if (!settings) return fail(settings.error().as(ErrorCode::unavailable));
  const Question github(parts, *std::move(settings), std::move(stop));
  TW_TRY(auto why, missing_right(github, spec.login));
  if (!why.empty()) return refused(std::move(why));
  if (!begun.empty()) return Head{.sha = begun, .refusal = ""};
  TW_TRY(const auto pull, github.get("/pulls/" + std::to_string(spec.pull)));
  if (!pull)
    return refused("there is no such pull request in " + report::code(github.repository()));
  why = unfit(*pull, parts.services.config.source.branch);
  if (!why.empty()) return refused(std::move(why));
  const auto now = text_at(*pull, "/head/sha"_json_pointer);
  if (!is_commit(now)) return fail(ErrorCode::corrupt, "GitHub names no head of the pull request");
  // A fork that was deleted has no list of pushes.
  const auto fork = text_at(*pull, "/head/repo/full_name"_json_pointer);
  Asked asked{.spec = spec, .pull = *pull, .now = now, .at = asked_at};
  if (!fork.empty()) {
    TW_TRY(asked.pushes, github.pushes(fork, text_at(*pull, "/head/ref"_json_pointer)));
  }
  return spec.head.empty() ? head_by_time(asked) : head_by_name(asked);
}

}  // namespace torchwatch::pulls
