#include <utility>

#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/notify/notifier.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/outbox/outbox_waits.hpp"

namespace torchwatch::daemon {

struct Outbox::Parts {
  Parts(Application& application, identity::Credentials& who, github::GithubSettings settings)
      : messages(application.services().database),
        waits(application.services().database),
        clock(application.services().clock),
        credentials(who),
        tokens_read(who.refresh().value_or(0)),
        sender(messages, application.github().http(), application.services().clock,
               std::move(settings), application.log().logger("github")) {}

  storage::OutboxStore messages;
  storage::OutboxWaits waits;
  const platform::Clock& clock;
  identity::Credentials& credentials;
  int tokens_read;  ///< of which the sender knows
  github::OutboxSender sender;
};

void Outbox::Remove::operator()(Parts* parts) const {
  delete parts;
}

Result<Outbox> Outbox::open(Application& application) {
  Outbox outbox;
  if (application.config().github.repository.empty()) return outbox;
  TW_TRY(auto* const credentials, application.github().credentials());
  TW_TRY(auto settings, application.github().settings());
  outbox.parts_.reset(new Parts(application, *credentials, std::move(settings)));
  return outbox;
}

Result<std::string> Outbox::deliver(std::stop_token stop) {
  if (!parts_) return std::string();
  const auto tokens_read = parts_->credentials.refresh();
  if (!tokens_read) {
    TW_TRY_VOID(parts_->waits.note(parts_->clock.wall_now(), false));
    return tokens_read.error().text();
  }
  if (std::exchange(parts_->tokens_read, *tokens_read) != *tokens_read) {
    TW_TRY_VOID(parts_->sender.retry_now());
  }
  TW_TRY_VOID(parts_->sender.deliver_due(stop));
  TW_TRY_VOID(parts_->waits.note(parts_->clock.wall_now()));
  TW_TRY(auto unsent, parts_->messages.unsent());
  std::erase_if(unsent, [](const auto& message) { return notify::is_notice(message.kind); });
  return health::why_messages_wait(unsent);
}

}  // namespace torchwatch::daemon
