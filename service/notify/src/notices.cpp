#include "torchwatch/notify/notices.hpp"

#include <algorithm>
#include <functional>

#include "facts.hpp"
#include "statuses.hpp"
#include "torchwatch/outbox/notice_store.hpp"
#include "torchwatch/outbox/outbox_store.hpp"

namespace torchwatch::notify {
namespace {

using nlohmann::json;
using storage::EventRow;
using storage::OutboxRow;

constexpr int kEventsAtOnce = 200;

/// Who gets notices, and what is made of an event for it.
struct Receiver {
  std::string name;
  std::function<Result<std::vector<OutboxRow>>(const EventRow&)> messages_of;
};

bool is_wanted(const std::vector<std::string>& events, const std::string& event) {
  return events.empty() || std::ranges::find(events, event) != events.end();
}

OutboxRow webhook_row(const config::Config::Notify::Webhook& webhook, const Notice& notice) {
  auto body = notice.facts;
  body["event"] = notice.event;
  body["title"] = notice.title;
  OutboxRow row;
  row.key = "webhook-" + webhook.name + "-" + notice.key;
  row.kind = storage::OutboxKind::webhook;
  row.target = "webhook/" + webhook.name;
  row.title = notice.event;
  row.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  return row;
}

OutboxRow mail_row(const config::Config::Notify::Mail& mail, const Notice& notice) {
  OutboxRow row;
  row.key = "mail-" + mail.name + "-" + notice.key;
  row.kind = storage::OutboxKind::mail;
  row.target = "mail/" + mail.name;
  row.title = notice.event + ": " + notice.title;
  row.body = notice.text;
  return row;
}

/// What `make` makes of the notices of an event that the receiver wants.
template <typename Settings, typename Make>
Receiver receiver(const NoticeParts& parts, const std::string& name, const Settings& settings,
                  Make make) {
  return {name + settings.name,
          [&parts, &settings, make](const EventRow& event) -> Result<std::vector<OutboxRow>> {
            TW_TRY(const auto notices, notices_of(parts, event));
            std::vector<OutboxRow> rows;
            for (const auto& notice : notices) {
              if (is_wanted(settings.events, notice.event)) rows.push_back(make(settings, notice));
            }
            return rows;
          }};
}

std::vector<Receiver> receivers_of(const NoticeParts& parts) {
  std::vector<Receiver> receivers;
  const auto& config = parts.config;
  if (config.github.statuses && !config.github.repository.empty()) {
    receivers.push_back(
        {"statuses", [&parts](const EventRow& event) { return marks_of(parts, event); }});
  }
  for (const auto& each : config.notify.webhooks) {
    receivers.push_back(receiver(parts, "webhook/", each, webhook_row));
  }
  for (const auto& each : config.notify.mails) {
    receivers.push_back(receiver(parts, "mail/", each, mail_row));
  }
  return receivers;
}

/// Whether the error is about what the event is about, not about the database as a whole.
bool is_of_event(ErrorCode code) {
  return code == ErrorCode::corrupt || code == ErrorCode::invalid || code == ErrorCode::not_found;
}

/// Returns how many events there were.
Result<std::size_t> tell_some(const NoticeParts& parts, const Receiver& receiver) {
  storage::NoticeStore cursors(parts.database);
  storage::OutboxStore outbox(parts.database);
  TW_TRY(const auto told, cursors.told(receiver.name));
  TW_TRY(const auto events, storage::EventStore(parts.database).after(told, kEventsAtOnce));
  if (events.empty()) return 0;
  TW_TRY_VOID(parts.database.transact([&]() -> Status {
    for (const auto& event : events) {
      const auto rows = receiver.messages_of(event);
      if (!rows && is_of_event(rows.error().code)) {
        if (parts.on_left_out) parts.on_left_out(rows.error());
        continue;
      }
      if (!rows) return fail(rows.error());
      for (const auto& row : *rows) TW_TRY_VOID(outbox.queue(row));
    }
    return cursors.note(receiver.name, events.back().id);
  }));
  return events.size();
}

}  // namespace

Status queue_notices(const NoticeParts& parts) {
  for (const auto& receiver : receivers_of(parts)) {
    // What is queued is an event, too, so the last batch is never quite empty.
    for (std::size_t events = kEventsAtOnce; events == kEventsAtOnce;) {
      TW_TRY(events, tell_some(parts, receiver));
    }
  }
  return {};
}

}  // namespace torchwatch::notify
