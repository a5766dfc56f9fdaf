
#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/storage/outbox_store.hpp"

namespace torchwatch::daemon {

struct Outbox::Parts {
  Parts(Application& application, github::GithubSettings settings)
      : messages(application.services().database),
        http(platform::make_http_client("torchwatch")),
        sender(messages, *http, application.services().clock, std::move(settings),
               application.log().logger("github")),
        log(application.log()),
        token_file(application.config().github.token_file) {}

  /// Somebody who replaces an expired token need not restart the service.
  Status refresh_token() {
    TW_TRY(auto now, config::read_secret(token_file));
    if (now == token) return {};
    log.hide(now);
    token = now;
    return sender.set_token(std::move(now));
  }

  storage::OutboxStore messages;
  std::unique_ptr<platform::HttpClient> http;
  github::OutboxSender sender;
  log::Log& log;
  std::filesystem::path token_file;
  std::string token;
};

void Outbox::Remove::operator()(Parts* parts) const {
  delete parts;
}

Result<Outbox> Outbox::open(Application& application) {
  const auto& github = application.config().github;
  Outbox outbox;
  if (github.repository.empty()) return outbox;
  if (github.token_file.empty()) {
    return fail(
        ErrorCode::invalid,
        "[github] repository is set but [github] token_file is not: it names a file with a "
        "token that may write issues; without [github] repository issues stay in the outbox");
  }
  // A token that cannot be read now is waited for, like one that GitHub refuses.
  const auto token = config::read_secret(github.token_file).value_or("");
  if (!token.empty()) application.log().hide(token);
  github::GithubSettings settings;
  settings.repository = github.repository;
  settings.token = token;
  settings.api = github.api;
  settings.labels = github.labels;
  settings.assignees = github.assignees;
  outbox.parts_.reset(new Parts(application, std::move(settings)));
  outbox.parts_->token = token;
  return outbox;
}

Result<std::string> Outbox::deliver(std::stop_token stop) {
  if (!parts_) return std::string();
  if (const auto read = parts_->refresh_token(); !read) return read.error().text();
  TW_TRY_VOID(parts_->sender.deliver_due(stop));
  TW_TRY(const auto unsent, parts_->messages.unsent());
  return health::why_messages_wait(unsent);
}

}  // namespace torchwatch::daemon
