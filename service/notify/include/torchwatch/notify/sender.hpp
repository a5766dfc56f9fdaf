#pragma once

#include <stop_token>
#include <string>

#include "torchwatch/config/config.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::notify {

/// What delivering needs; it must outlive the sender.
struct SenderParts {
  storage::OutboxStore& outbox;
  platform::HttpClient& http;
  process::ProcessRunner& processes;
  const platform::Clock& clock;
  const config::Config& config;
  log::Log& log;
};

/// Delivers webhooks and mails of the outbox, each receiver's in their order. What fails is tried
/// again, twice as long later each time up to half an hour, for as long as it takes; what the
/// receiver refuses for the message's own sake (sendmail by EX_DATAERR), three times. Redirects are
/// not followed. A message that may have been delivered before this process died is delivered
/// again: a webhook by the same delivery id, a mail by the same Message-ID. Not thread-safe.
class NoticeSender {
 public:
  explicit NoticeSender(SenderParts);

  /// Delivers what is due until nothing is or `stop` is requested; returns how many were. Errors:
  /// of storage.
  Result<int> deliver_due(std::stop_token stop);

 private:
  struct Failure;
  Result<bool> deliver(storage::OutboxRow, const std::stop_token&);
  Status postpone(const storage::OutboxRow&, const Failure&);
  tl::expected<void, Failure> send(const storage::OutboxRow&, const std::stop_token&);
  tl::expected<void, Failure> post(const config::Config::Notify::Webhook&,
                                   const storage::OutboxRow&, const std::stop_token&);
  tl::expected<void, Failure> mail(const config::Config::Notify::Mail&, const storage::OutboxRow&,
                                   const std::stop_token&);

  SenderParts parts_;
  const log::Logger logger_;
};

}  // namespace torchwatch::notify
