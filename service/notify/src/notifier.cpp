#include "torchwatch/notify/notifier.hpp"

#include "torchwatch/notify/notices.hpp"
#include "torchwatch/notify/sender.hpp"
#include "torchwatch/outbox/outbox_store.hpp"

namespace torchwatch::notify {

struct Notifier::Parts {
  explicit Parts(NotifierParts given)
      : notices{given.database, given.config,
                [logger = given.log.logger("notify")](const Error& why) {
                  logger.error("an event gets no notice: " + why.text());
                }},
        outbox(given.database),
        http(platform::make_http_client("torchwatch")),
        sender({outbox, *http, given.processes, given.clock, given.config, given.log}) {}

  NoticeParts notices;
  storage::OutboxStore outbox;
  std::unique_ptr<platform::HttpClient> http;
  NoticeSender sender;
};

Notifier::Notifier(NotifierParts parts) : parts_(std::make_unique<Parts>(parts)) {}
Notifier::~Notifier() = default;

Status Notifier::queue() {
  return queue_notices(parts_->notices);
}

Result<std::string> Notifier::deliver(std::stop_token stop) {
  TW_TRY_VOID(parts_->sender.deliver_due(std::move(stop)));
  TW_TRY(const auto unsent, parts_->outbox.unsent());
  std::string why;
  for (const auto& message : unsent) {
    const bool waits = message.state != storage::OutboxState::dead && !message.last_error.empty();
    if (waits && is_notice(message.kind)) why = message.last_error;
  }
  return why;
}

bool is_notice(storage::OutboxKind kind) {
  return kind == storage::OutboxKind::webhook || kind == storage::OutboxKind::mail;
}

}  // namespace torchwatch::notify
