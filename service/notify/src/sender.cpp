#include "torchwatch/notify/sender.hpp"

#include <algorithm>
#include <array>

#include "mail.hpp"
#include "torchwatch/digest/hmac.hpp"
#include "torchwatch/github/delivery_failure.hpp"
#include "torchwatch/github/web_address.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/secrets/secrets.hpp"

namespace torchwatch::notify {
namespace {

using storage::OutboxKind;
using storage::OutboxRow;

const std::vector<OutboxKind> kKinds{OutboxKind::webhook, OutboxKind::mail};

constexpr int kTriesMax = 3;  ///< of a message that the receiver refuses
/// The statuses of sysexits.h. All but one say that sendmail will not take this mail.
constexpr int kFirstRefusal = 64;  ///< EX_USAGE
constexpr int kLastRefusal = 78;   ///< EX_CONFIG
constexpr int kTryAgain = 75;      ///< EX_TEMPFAIL
constexpr std::chrono::seconds kPostLimit{10};
constexpr std::chrono::seconds kMailLimit{60};
constexpr std::size_t kAnswerBytesMax = 64U << 10U;
/// Answers by which a receiver refuses this message: it is not what it takes. All others are about
/// its address, its secret or its health, which somebody may mend.
constexpr std::array kRefusals{400, 409, 411, 413, 415, 422};

bool is_taken(int status) {
  return status >= 200 && status < 300;
}

/// Whether sendmail will say the same of this mail the next time.
bool is_refused(const process::ProcessEnd& end) {
  const auto* exited = std::get_if<process::Exited>(&end);
  if (exited == nullptr || exited->code == kTryAgain) return false;
  return exited->code >= kFirstRefusal && exited->code <= kLastRefusal;
}

/// Whether the receiver will say the same of this message the next time.
bool is_refused(int status) {
  return std::ranges::find(kRefusals, status) != kRefusals.end();
}

template <typename Settings>
const Settings* find(const std::vector<Settings>& all, const std::string& target) {
  const auto at = std::ranges::find(all, target.substr(target.find('/') + 1), &Settings::name);
  return at == all.end() ? nullptr : &*at;
}

}  // namespace

struct NoticeSender::Failure {
  std::string sentence;
  bool is_of_message = false;  ///< it is the message's, not of the way to the receiver
};

NoticeSender::NoticeSender(SenderParts parts)
    : parts_(parts), logger_(parts.log.logger("notify")) {}

Result<int> NoticeSender::deliver_due(std::stop_token stop) {
  int delivered = 0;
  while (!stop.stop_requested()) {
    TW_TRY(auto message, parts_.outbox.next_due(parts_.clock.wall_now(), kKinds));
    if (!message) break;
    TW_TRY(const bool was_delivered, deliver(std::move(*message), stop));
    if (was_delivered) ++delivered;
  }
  return delivered;
}

Result<bool> NoticeSender::deliver(OutboxRow message, const std::stop_token& stop) {
  if (message.state == storage::OutboxState::pending) {
    TW_TRY(message, parts_.outbox.mark_sending(message.key));
  }
  const auto sent = send(message, stop);
  // Broken off, it stays in `sending` and is sent again.
  if (!sent && stop.stop_requested()) return false;
  if (!sent) {
    TW_TRY_VOID(postpone(message, sent.error()));
    return false;
  }
  TW_TRY_VOID(platform::failpoint("outbox.after_post"));
  TW_TRY_VOID(parts_.outbox.mark_sent(message.key, std::nullopt, parts_.clock.wall_now()));
  logger_.info("notice delivered", {{"message", message.key}});
  return true;
}

tl::expected<void, NoticeSender::Failure> NoticeSender::send(const OutboxRow& message,
                                                             const std::stop_token& stop) {
  const auto& notify = parts_.config.notify;
  if (message.kind == OutboxKind::webhook) {
    if (const auto* webhook = find(notify.webhooks, message.target)) {
      return post(*webhook, message, stop);
    }
  } else if (const auto* to = find(notify.mails, message.target)) {
    return mail(*to, message, stop);
  }
  return tl::unexpected(
      Failure{"the configuration has no receiver " + report::clean(message.target, 100), true});
}

tl::expected<void, NoticeSender::Failure> NoticeSender::post(
    const config::Config::Notify::Webhook& webhook, const OutboxRow& message,
    const std::stop_token& stop) {
  // The secret is read anew: one that was exchanged needs no restart.
  const auto secret = secrets::read_secret(webhook.secret_file);
  if (!secret)
    return tl::unexpected(Failure{"webhook " + webhook.name + ": " + secret.error().text()});
  parts_.log.hide(*secret);
  if (const auto address = github::parse_address(webhook.url); !address) {
    return tl::unexpected(Failure{"webhook " + webhook.name + ": " + address.error().text()});
  }
  platform::HttpRequest request;
  request.method = "POST";
  request.url = webhook.url;
  request.headers = {
      {"Content-Type", "application/json"},
      {"X-Torchwatch-Event", message.title},
      {"X-Torchwatch-Delivery", message.key},
      {"X-Torchwatch-Signature-256", "sha256=" + digest::hmac_sha256_hex(*secret, message.body)}};
  request.body = message.body;
  request.time_limit = kPostLimit;
  request.response_bytes_max = kAnswerBytesMax;
  request.stop = stop;
  const auto answer = parts_.http.send(request);
  // The error of a client names the address, in which a secret may stand.
  if (!answer) {
    return tl::unexpected(Failure{"webhook " + webhook.name + " cannot be reached (" +
                                  std::string(to_string(answer.error().code)) + ")"});
  }
  if (is_taken(answer->status)) return {};
  return tl::unexpected(
      Failure{"webhook " + webhook.name + " answered " + std::to_string(answer->status),
              is_refused(answer->status)});
}

tl::expected<void, NoticeSender::Failure> NoticeSender::mail(const config::Config::Notify::Mail& to,
                                                             const OutboxRow& message,
                                                             const std::stop_token& stop) {
  process::ProcessSpec spec{};
  spec.program = parts_.config.notify.sendmail;
  spec.arguments = {"-i", "-f", to.from, "--"};
  spec.arguments.insert(spec.arguments.end(), to.to.begin(), to.to.end());
  spec.environment = {{"PATH", process::kDefaultSearchPath}, {"LC_ALL", "C.UTF-8"}};
  spec.working_folder = "/";
  spec.time_limit = kMailLimit;
  spec.output_limit_bytes = kAnswerBytesMax;
  spec.label = "mail";
  spec.input = make_mail(to, message, parts_.clock.wall_now());
  const auto outcome = parts_.processes.run(spec, stop);
  if (process::succeeded(outcome)) return {};
  return tl::unexpected(Failure{"mail " + to.name + ": " + spec.program.string() + " " +
                                    process::describe(outcome.end) + ": " +
                                    report::clean(outcome.output, 200),
                                is_refused(outcome.end)});
}

Status NoticeSender::postpone(const OutboxRow& message, const Failure& failure) {
  const int tries = message.tries + (failure.is_of_message ? 1 : 0);
  const int failures = message.failures + 1;
  const bool give_up = tries >= kTriesMax;
  const auto wait = github::wait_after({}, failures);
  const auto now = parts_.clock.wall_now();
  const auto later = now + std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
  logger_.write(give_up ? log::Level::error : log::Level::warning,
                (give_up ? "notice given up: " : "notice postponed: ") + failure.sentence,
                {{"message", message.key}});
  return parts_.outbox.record_failure(message.key, {.error = failure.sentence,
                                                    .tries = tries,
                                                    .failures = failures,
                                                    .not_before = give_up ? now : later,
                                                    .give_up = give_up});
}

}  // namespace torchwatch::notify
