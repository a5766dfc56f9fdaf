#include <unistd.h>

#include "torchwatch/checks/checks.hpp"
#include "torchwatch/secrets/secrets.hpp"

namespace torchwatch::checks {
namespace {

CheckResult check_secret(const std::string& what, const std::filesystem::path& file) {
  const auto secret = secrets::read_secret(file);
  if (secret) {
    return {.severity = Severity::good,
            .what = what,
            .found = "its secret is readable by its owner alone",
            .remedy = ""};
  }
  return {.severity = Severity::error,
          .what = what,
          .found = secret.error().text(),
          .remedy = "write the secret that the other side has there, chmod 600"};
}

CheckResult check_sendmail(const std::filesystem::path& program) {
  const std::string what = "[notify] sendmail";
  if (access(program.c_str(), X_OK) == 0) {
    return {.severity = Severity::good, .what = what, .found = program.string(), .remedy = ""};
  }
  return {.severity = Severity::error,
          .what = what,
          .found = program.string() + " is not there or not executable",
          .remedy = "install a mail server that brings it, or correct the path"};
}

}  // namespace

std::vector<CheckResult> check_receivers(const config::Config& config) {
  std::vector<CheckResult> results;
  for (const auto& webhook : config.notify.webhooks) {
    results.push_back(check_secret("[[notify.webhook]] " + webhook.name, webhook.secret_file));
  }
  if (!config.notify.mails.empty()) results.push_back(check_sendmail(config.notify.sendmail));
  const auto& of_github = config.github.webhook_secret_file;
  if (!of_github.empty()) {
    results.push_back(check_secret("[github] webhook_secret_file", of_github));
  }
  return results;
}

}  // namespace torchwatch::checks
