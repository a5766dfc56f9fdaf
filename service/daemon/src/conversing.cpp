#include "conversing.hpp"

#include <utility>

#include "torchwatch/secrets/secrets.hpp"

namespace torchwatch::daemon {
namespace {

conversation::Settings settings_of(const config::Config& config) {
  return {.command_prefix = config.github.command_prefix,
          .poll = config.github.poll,
          .rights = config.commands};
}

/// Reads the token anew each time: somebody who replaces it need not restart the service.
std::function<Result<std::string>()> token_of(GithubAccess& github) {
  return [&github]() -> Result<std::string> {
    TW_TRY(auto* const credentials, github.credentials());
    TW_TRY(const auto tokens_read, credentials->refresh());
    return std::to_string(tokens_read);
  };
}

}  // namespace

std::unique_ptr<Conversing> converse(Application& application, ConversingCalls calls) {
  const auto& github = application.config().github;
  if (github.repository.empty()) return nullptr;
  auto settings = application.github().settings();
  if (!settings) return nullptr;  // whoever sends messages says so
  auto conversing = std::make_unique<Conversing>();
  conversing->correspondent = std::make_unique<conversation::Correspondent>(
      conversation::Parts{.services = application.services(),
                          .http = application.github().http(),
                          .github = *std::move(settings),
                          .settings = settings_of(application.config()),
                          .token = token_of(application.github()),
                          .check_request = std::move(calls.check),
                          .work_arrived = std::move(calls.work_arrived),
                          .logger = application.log().logger("conversation")},
      std::move(calls.note));
  return conversing;
}

Result<webhooks::Intake> webhook_intake(Application& application, std::function<void()> arrived) {
  const auto& github = application.config().github;
  auto& services = application.services();
  webhooks::Intake intake{.database = services.database,
                          .clock = services.clock,
                          .repository = github.repository,
                          .installation = github.app_id == 0 ? 0 : github.installation,
                          .secret = {},
                          .command_prefix = github.command_prefix,
                          .arrived = std::move(arrived),
                          .logger = application.log().logger("webhooks")};
  if (github.webhook_secret_file.empty()) return intake;
  TW_TRY(intake.secret, secrets::read_secret(github.webhook_secret_file));
  application.log().hide(intake.secret);
  return intake;
}

}  // namespace torchwatch::daemon
