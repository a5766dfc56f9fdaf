#include "torchwatch/github/outbox_sender.hpp"

#include "github_api.hpp"
#include "issue_tracker.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/platform/failpoint.hpp"

namespace torchwatch::github {
namespace {

using storage::OutboxKind;
using storage::OutboxRow;
using storage::OutboxState;

/// How often a message is tried that the tracker rejects for its own sake.
constexpr int kTriesMax = 3;
/// GitHub's clock and this machine's may differ by this much.
constexpr platform::WallMillis kClockDoubt = 7LL * 24 * 3600 * 1000;

std::string marker_of(const OutboxRow& message) {
  return report::marker_in(message.body).value_or(report::marker(message.key));
}

std::string with_marker(const OutboxRow& message) {
  if (report::marker_in(message.body)) return message.body;
  return message.body + "\n" + report::marker(message.key) + "\n";
}

/// A failpoint that returns an error stands for a connection that broke there.
Delivered<bool> pass(std::string_view failpoint) {
  if (auto status = platform::failpoint(failpoint); !status) {
    return tl::unexpected(failure_of(status.error()));
  }
  return true;
}

Delivered<std::int64_t> send_open(const OutboxRow& message, platform::WallMillis opened_at,
                                  const IssueTracker& tracker) {
  auto found = tracker.find_issue(marker_of(message), opened_at - kClockDoubt);
  if (!found) return tl::unexpected(std::move(found).error());
  if (*found) return **found;
  if (auto ok = pass("outbox.before_post"); !ok) return tl::unexpected(std::move(ok).error());
  auto number = tracker.open_issue(message.title, with_marker(message));
  if (!number) return number;
  if (auto ok = pass("outbox.after_post"); !ok) return tl::unexpected(std::move(ok).error());
  return number;
}

Delivered<bool> send_comment(const OutboxRow& message, std::int64_t issue,
                             const IssueTracker& tracker) {
  if (message.body.empty()) return true;
  auto is_there = tracker.has_comment(issue, marker_of(message));
  if (!is_there || *is_there) return is_there;
  if (auto ok = pass("outbox.before_post"); !ok) return ok;
  if (auto added = tracker.add_comment(issue, with_marker(message)); !added) return added;
  return pass("outbox.after_post");
}

Delivered<bool> set_state(OutboxKind kind, std::int64_t issue, const IssueTracker& tracker) {
  if (kind == OutboxKind::close) return tracker.close_issue(issue);
  if (kind == OutboxKind::reopen) return tracker.reopen_issue(issue);
  return true;
}

Delivered<std::int64_t> send_follow_up(const OutboxRow& message, std::optional<std::int64_t> issue,
                                       const IssueTracker& tracker) {
  if (!issue) {
    return tl::unexpected(
        DeliveryFailure{.sentence = "there is no issue that could be commented on"});
  }
  if (auto said = send_comment(message, *issue, tracker); !said) {
    return tl::unexpected(std::move(said).error());
  }
  if (auto set = set_state(message.kind, *issue, tracker); !set) {
    return tl::unexpected(std::move(set).error());
  }
  return *issue;
}

std::optional<std::int64_t> issue_of(const std::vector<OutboxRow>& messages) {
  for (const auto& message : messages) {
    if (message.kind == OutboxKind::open) return message.issue_number;
  }
  return std::nullopt;
}

}  // namespace

OutboxSender::OutboxSender(storage::OutboxStore& outbox, platform::HttpClient& http,
                           const platform::Clock& clock, GithubSettings settings,
                           log::Logger logger)
    : outbox_(outbox),
      http_(http),
      clock_(clock),
      settings_(std::move(settings)),
      logger_(std::move(logger)) {}

Result<Delivery> OutboxSender::deliver_due(std::stop_token stop) {
  TW_TRY(const GithubApi api, GithubApi::create(http_, clock_, settings_, stop));
  const IssueTracker tracker(api, settings_);
  Delivery delivery;
  while (!stop.stop_requested() && clock_.monotonic_now() >= quiet_until_) {
    if (delivery.sent > 0) clock_.wait(settings_.write_interval, stop);
    if (stop.stop_requested()) break;
    TW_TRY(auto message, outbox_.next_due(clock_.wall_now()));
    if (!message) break;
    TW_TRY_VOID(deliver(std::move(*message), tracker, stop, delivery));
  }
  return delivery;
}

Status OutboxSender::set_token(std::string token) {
  settings_.token = std::move(token);
  quiet_until_ = std::chrono::nanoseconds{0};
  return outbox_.make_due();
}

Status OutboxSender::deliver(OutboxRow message, const IssueTracker& tracker,
                             const std::stop_token& stop, Delivery& delivery) {
  // A process that died left a message in `sending`: looking up its marker decides.
  if (message.state == OutboxState::pending) {
    TW_TRY(message, outbox_.mark_sending(message.key));
  }
  logger_.debug("delivery started", {{"message", message.key}});
  TW_TRY(const auto subject, outbox_.subject_of(message.key));
  const auto number = message.kind == OutboxKind::open
                          ? send_open(message, subject.since, tracker)
                          : send_follow_up(message, issue_of(subject.messages), tracker);
  // Broken off, it stays in `sending` and is looked up the next time.
  if (!number && stop.stop_requested()) return {};
  if (!number) return postpone(message, number.error(), delivery);
  TW_TRY_VOID(outbox_.mark_sent(message.key, *number, clock_.wall_now()));
  ++delivery.sent;
  logger_.info("message delivered", {{"message", message.key}, {"issue", *number}});
  return platform::failpoint("outbox.after_sent");
}

Status OutboxSender::postpone(const OutboxRow& message, const DeliveryFailure& failure,
                              Delivery& delivery) {
  // What is wrong with the token, the network or the tracker is not the fault of the message.
  const int tries = message.tries + (failure.is_for_all ? 0 : 1);
  const int failures = message.failures + 1;
  const bool give_up = tries >= kTriesMax;
  const auto wait = wait_after(failure, failures);
  if (failure.is_for_all) quiet_until_ = clock_.monotonic_now() + wait;
  ++(give_up ? delivery.dead : delivery.postponed);
  delivery.problem = failure.sentence;
  logger_.write(give_up ? log::Level::error : log::Level::warning,
                (give_up ? "message given up: " : "message postponed: ") + failure.sentence,
                {{"message", message.key}, {"try", tries}, {"wait_s", wait.count()}});
  const auto not_before =
      clock_.wall_now() + std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
  return outbox_.record_failure(message.key, {.error = failure.sentence,
                                              .tries = tries,
                                              .failures = failures,
                                              .not_before = give_up ? 0 : not_before,
                                              .give_up = give_up});
}

}  // namespace torchwatch::github
