#include "torchwatch/identity/account_check.hpp"

#include <nlohmann/json.hpp>

#include "torchwatch/github/github_api.hpp"
#include "torchwatch/identity/credentials.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/secrets/secrets.hpp"

namespace torchwatch::identity {
namespace {

using nlohmann::json;
using Severity = AccountFact::Severity;

constexpr const char* kWho = "[github] account";
constexpr const char* kRights = "[github] permissions";
constexpr const char* kBudget = "[github] requests left";
constexpr const char* kTokenRemedy =
    "put a token with Issues: read and write into the file that [github] token_file names, "
    "chmod 600";
constexpr std::chrono::seconds kTimeLimit{10};

/// Splits "what happened: what to do (403 to GET /user)".
AccountFact fact_of(const char* what, const github::DeliveryFailure& failure,
                    const std::string& remedy) {
  // Without an answer, or with one that says nothing of us, nothing is known.
  const bool is_about_us = failure.status == 401 || failure.status == 403 || failure.status == 404;
  const bool is_limit = failure.wait.count() > 0;
  const auto severity = is_about_us && !is_limit ? Severity::error : Severity::unknown;
  return {
      .severity = severity,
      .what = what,
      .found = severity == Severity::unknown ? "unknown: " + failure.sentence : failure.sentence,
      .remedy = severity == Severity::unknown ? "" : remedy};
}

/// Asks as [github] says, fact by fact.
class Examination {
 public:
  Examination(const config::Config& config, Credentials& credentials, github::GithubApi api)
      : config_(config), credentials_(credentials), api_(std::move(api)) {}

  std::vector<AccountFact> facts() const {
    std::vector<AccountFact> all{who()};
    if (all.front().severity != Severity::good) return all;
    all.push_back(credentials_.app() != nullptr ? rights_of_app() : rights_of_token());
    all.push_back(budget());
    return all;
  }

 private:
  std::string remedy() const {
    if (credentials_.app() == nullptr) return kTokenRemedy;
    return "check [github] app_id, app_key_file and installation; `torchwatch github setup` makes "
           "an App";
  }

  AccountFact who() const {
    const auto account = api_.account();
    if (!account) return fact_of(kWho, account.error(), remedy());
    if (credentials_.app() != nullptr) {
      return {.what = kWho,
              .found = account->login + ", the App " + std::to_string(config_.github.app_id)};
    }
    if (account->login.empty()) return {.what = kWho, .found = "an App, by a token made elsewhere"};
    return {.what = kWho, .found = report::clean(account->login, 100) + ", by a token"};
  }

  AccountFact rights_of_app() const {
    const auto installed = credentials_.app()->installation({});
    if (!installed) return fact_of(kRights, installed.error(), remedy());
    const auto& rights = installed->permissions;
    const auto has = [&](const char* name) {
      const auto found = rights.find(name);
      return found != rights.end() && found->second == "write";
    };
    AccountFact fact{.what = kRights, .found = listed(rights) + " in " + config_.github.repository};
    const std::string where =
        "add it in the App's settings at GitHub, and accept it where the App is installed";
    if (const auto id = config_.github.installation; id != 0 && id != installed->id) {
      fact.severity = Severity::error;
      fact.found = "installation " + std::to_string(id) + " is not the one of " +
                   config_.github.repository + ", " + std::to_string(installed->id);
      fact.remedy = "take [github] installation out of the configuration";
    } else if (!has("issues")) {
      fact.severity = Severity::error;
      fact.found += ": no issue can be filed";
      fact.remedy = "it needs Issues: read and write: " + where;
    } else if (!has("statuses") || !has("checks")) {
      fact.severity = Severity::warning;
      fact.found += has("statuses") ? ": commits get no check runs" : ": commits get no statuses";
      fact.remedy = std::string("for them it needs ") +
                    (has("statuses") ? "Checks" : "Commit statuses") + ": read and write: " + where;
    }
    return fact;
  }

  static std::string listed(const std::map<std::string, std::string>& rights) {
    std::string text;
    for (const auto& [name, right] : rights) {
      text += (text.empty() ? "" : ", ") + report::clean(name + ": " + right, 100);
    }
    return text.empty() ? "none" : text;
  }

  /// Who may triage may label and close issues. The answer has no word on the rights of a
  /// fine-grained token, which only a write would show.
  AccountFact rights_of_token() const {
    const auto& name = config_.github.repository;
    const auto repository = api_.read("");
    if (!repository) return fact_of(kRights, repository.error(), remedy());
    const auto rights = repository->value("permissions", json::object());
    const auto has = [&](const char* right) {
      return rights.is_object() && rights.contains(right) && rights[right] == true;
    };
    if (!repository->value("has_issues", true)) {
      return {.severity = Severity::error,
              .what = kRights,
              .found = "issues are disabled in " + name,
              .remedy = "enable them in the repository's settings"};
    }
    if (has("triage") || has("push") || has("admin")) {
      return {.what = kRights, .found = "may file and close issues in " + name};
    }
    return {.severity = Severity::warning,
            .what = kRights,
            .found = "may see " + name + ", but perhaps not close its issues",
            .remedy = kTokenRemedy};
  }

  AccountFact budget() const {
    const auto answer = api_.find(api_.root_address("/rate_limit"));
    if (!answer) return fact_of(kBudget, answer.error(), remedy());
    const auto core = answer->body.value(json::json_pointer("/resources/core"), json::object());
    const auto number = [&](const char* member) {
      return core.is_object() && core.contains(member) && core[member].is_number_integer()
                 ? core[member].get<std::int64_t>()
                 : -1;
    };
    const auto limit = number("limit");
    const auto remaining = number("remaining");
    if (limit < 0 || remaining < 0) {
      return {.severity = Severity::unknown, .what = kBudget, .found = "unknown: not said"};
    }
    AccountFact fact{.what = kBudget,
                     .found = std::to_string(remaining) + " of " + std::to_string(limit) +
                              " until " + platform::date_and_minute(number("reset") * 1000) +
                              " UTC"};
    if (remaining * 10 >= limit) return fact;
    fact.severity = Severity::warning;
    fact.remedy = "something else uses the same account: give torchwatch an App of its own";
    return fact;
  }

  const config::Config& config_;
  Credentials& credentials_;
  github::GithubApi api_;
};

AccountFact wrong(const Error& error) {
  return {
      .severity = Severity::error, .what = kWho, .found = error.message, .remedy = error.remedy};
}

}  // namespace

std::vector<AccountFact> check_account(const config::Config& config, platform::HttpClient& http,
                                       const platform::Clock& clock) {
  if (config.github.repository.empty()) {
    return {{.severity = Severity::warning,
             .what = "[github]",
             .found = "not set",
             .remedy = "issues stay in the outbox until it is"}};
  }
  const auto credentials = Credentials::open(config, http, clock, [](const std::string&) {});
  if (!credentials) return {wrong(credentials.error())};
  if (!config.github.token_file.empty()) {
    if (const auto read = secrets::read_secret(config.github.token_file); !read) {
      return {wrong({read.error().code, read.error().text(), kTokenRemedy})};
    }
  }
  github::GithubSettings settings;
  settings.repository = config.github.repository;
  settings.api = config.github.api;
  settings.time_limit = kTimeLimit;
  settings.tokens = (*credentials)->tokens();
  auto api = github::GithubApi::create(http, clock, settings);
  if (!api) return {wrong(api.error())};
  return Examination(config, **credentials, std::move(*api)).facts();
}

}  // namespace torchwatch::identity
