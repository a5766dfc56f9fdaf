#include "torchwatch/daemon/github_access.hpp"

namespace torchwatch::daemon {

Result<identity::Credentials*> GithubAccess::credentials() {
  const std::scoped_lock lock(mutex_);
  if (credentials_) return credentials_.get();
  TW_TRY(credentials_,
         identity::Credentials::open(config_, *http_, clock_,
                                     [this](const std::string& token) { log_.hide(token); }));
  return credentials_.get();
}

Result<github::GithubSettings> GithubAccess::settings() {
  TW_TRY(const auto* const who, credentials());
  github::GithubSettings settings;
  settings.repository = config_.github.repository;
  settings.api = config_.github.api;
  settings.labels = config_.github.labels;
  settings.assignees = config_.github.assignees;
  settings.commits = config::commits_repository(config_);
  settings.tokens = who->tokens();
  settings.traffic = traffic_;
  return settings;
}

Result<github::GithubSettings> GithubAccess::settings_of_commits() {
  TW_TRY(auto found, settings());
  if (!found.commits.empty()) found.repository = found.commits;
  return found;
}

}  // namespace torchwatch::daemon
