#include "quota.hpp"

#include <algorithm>

namespace torchwatch::test {
namespace {

using nlohmann::json;

constexpr platform::WallMillis kHour = 3'600'000;

/// What makes content: issues, comments, but no changes of them.
bool makes_content(const GithubRequest& request) {
  return request.method == "POST" &&
         (request.path.ends_with("/issues") || request.path.ends_with("/comments"));
}

}  // namespace

void GithubQuota::begin_hour() {
  const auto now = clock_.wall_now();
  if (now < reset_at_) return;
  reset_at_ = now + kHour;
  used_ = 0;
}

int GithubQuota::made_since(std::chrono::seconds ago) const {
  const auto since = clock_.wall_now() - std::chrono::milliseconds(ago).count();
  return static_cast<int>(
      std::count_if(made_.begin(), made_.end(), [&](auto when) { return when > since; }));
}

std::optional<GithubAnswer> GithubQuota::refuse(const GithubRequest& request) {
  begin_hour();
  if (request.path == "/rate_limit") return {};
  if (used_ >= limits_.requests_per_hour) {
    ++refusals_;
    return refusal(403, "API rate limit exceeded");
  }
  if (!makes_content(request)) return {};
  if (made_since(std::chrono::minutes(1)) < limits_.content_per_minute &&
      made_since(std::chrono::hours(1)) < limits_.content_per_hour) {
    return {};
  }
  ++refusals_;
  auto answer = refusal(403,
                        "You have exceeded a secondary rate limit and have been temporarily "
                        "blocked from content creation. Please retry your request again later.");
  answer.headers.emplace("Retry-After", "60");
  return answer;
}

void GithubQuota::count(const GithubRequest& request, const GithubAnswer& answer) {
  if (answer.status != 304 && request.path != "/rate_limit") ++used_;
  if (makes_content(request) && answer.status == 201) made_.push_back(clock_.wall_now());
  while (!made_.empty() && made_.front() < clock_.wall_now() - kHour) made_.pop_front();
}

std::multimap<std::string, std::string> GithubQuota::headers() const {
  return {{"X-RateLimit-Limit", std::to_string(limits_.requests_per_hour)},
          {"X-RateLimit-Remaining", std::to_string(std::max(0, limits_.requests_per_hour - used_))},
          {"X-RateLimit-Used", std::to_string(used_)},
          {"X-RateLimit-Reset", std::to_string(reset_at_ / 1000)},
          {"X-RateLimit-Resource", "core"}};
}

json GithubQuota::shape() const {
  const json core{{"limit", limits_.requests_per_hour},
                  {"remaining", std::max(0, limits_.requests_per_hour - used_)},
                  {"used", used_},
                  {"reset", reset_at_ / 1000}};
  const json search{{"limit", 30}, {"remaining", 30}, {"used", 0}, {"reset", reset_at_ / 1000}};
  return {{"resources", {{"core", core}, {"search", search}}}, {"rate", core}};
}

}  // namespace torchwatch::test
