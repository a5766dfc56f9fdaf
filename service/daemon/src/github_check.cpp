#include <nlohmann/json.hpp>

#include "torchwatch/daemon/checks.hpp"
#include "torchwatch/github/outbox_sender.hpp"

namespace torchwatch::daemon {
namespace {

constexpr std::chrono::seconds kTimeLimit{10};
constexpr const char* kRemedy = "put a token with Issues: read and write there, chmod 600";

CheckResult result(Severity severity, std::string found, std::string remedy = "") {
  return {.severity = severity,
          .what = "[github] token",
          .found = std::move(found),
          .remedy = std::move(remedy)};
}

/// What GitHub's answer to a GET of the repository says. Who may triage may label and close issues;
/// the answer has no word on fine-grained rights, which only a write would show.
CheckResult judge(const platform::HttpResponse& response, const std::string& repository) {
  if (response.status == 401) {
    return result(Severity::error, "GitHub rejected it (expired or revoked?)", kRemedy);
  }
  if (response.status == 403) {
    return result(Severity::error, "it may not see " + repository, kRemedy);
  }
  if (response.status == 404) {
    return result(Severity::error, "no such repository, or no right to see it: " + repository,
                  std::string("check [github] repository; ") + kRemedy);
  }
  if (response.status != 200) {
    return result(Severity::unknown, "unknown: GitHub answered " + std::to_string(response.status));
  }
  const auto answer = nlohmann::json::parse(response.body, nullptr, false);
  const auto has = [&](const char* right) {
    const bool states =
        answer.is_object() && answer.contains("permissions") && answer["permissions"].is_object();
    return states && answer["permissions"].value(right, false);
  };
  if (has("triage") || has("push") || has("admin")) {
    return result(Severity::good, "may file and close issues in " + repository);
  }
  return result(Severity::warning, "may see " + repository + ", but perhaps not close its issues",
                kRemedy);
}

}  // namespace

CheckResult check_github(const config::Config& config, platform::HttpClient& client) {
  const auto& repository = config.github.repository;
  if (repository.empty()) {
    return {.severity = Severity::warning,
            .what = "[github]",
            .found = "not set",
            .remedy = "issues stay in the outbox until it is"};
  }
  const auto token = config::read_secret(config.github.token_file);
  if (!token) return result(Severity::error, token.error().text(), kRemedy);
  platform::HttpRequest request;
  request.url = config.github.api + "/repos/" + repository;
  request.headers = github::request_headers(*token);
  request.time_limit = kTimeLimit;
  const auto response = client.send(request);
  if (response) return judge(*response, repository);
  return result(Severity::unknown, "unknown: " + response.error().text());
}

}  // namespace torchwatch::daemon
