#include "torchwatch/github/outbox_sender.hpp"

#include <algorithm>
#include <array>

#include "refusals.hpp"
#include "replies.hpp"
#include "senders.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/outbox/outbox_waits.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::github {
namespace {

using storage::OutboxKind;
using storage::OutboxRow;
using storage::OutboxState;

/// What this sender delivers; other services get the rest from others.
const std::vector<OutboxKind> kKinds{
    OutboxKind::open,  OutboxKind::comment,  OutboxKind::close,       OutboxKind::reopen,
    OutboxKind::edit,  OutboxKind::umbrella, OutboxKind::digest,      OutboxKind::status,
    OutboxKind::check, OutboxKind::reply,    OutboxKind::pull_comment};

/// How often a message is tried that the tracker rejects for its own sake.
constexpr int kTriesMax = 3;
/// Begins the stored error of a message that GitHub may have got.
constexpr std::string_view kUnknown = "GitHub may have got it, that is looked up: ";
constexpr std::chrono::seconds kQuietAfterRefusal{60};
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
  auto status = platform::failpoint(failpoint);
  if (status) return true;
  auto failure = failure_of(status.error());
  failure.may_be_done = true;
  return tl::unexpected(std::move(failure));
}

Sent send_open(const OutboxRow& message, const Sending& sending) {
  const auto& tracker = sending.tracker;
  auto found = tracker.find_issue(marker_of(message), sending.subject.since - kClockDoubt);
  if (!found) return found;
  if (*found) return assign_all(**found, sending);
  if (auto ok = pass("outbox.before_post"); !ok) return tl::unexpected(std::move(ok).error());
  const auto number = tracker.open_issue(message.title, with_marker(message));
  if (!number) return tl::unexpected(number.error());
  if (auto ok = pass("outbox.after_post"); !ok) return tl::unexpected(std::move(ok).error());
  return assign_all(*number, sending);
}

Delivered<bool> send_comment(const OutboxRow& message, std::int64_t issue, const Sending& sending) {
  if (message.body.empty()) return true;
  const auto found = find_comment(sending.api, issue, marker_of(message));
  if (!found) return tl::unexpected(found.error());
  if (*found) return true;
  if (auto ok = pass("outbox.before_post"); !ok) return ok;
  const auto added = sending.tracker.add_comment(issue, with_marker(message));
  if (!added && added.error().is_locked) {
    // What is done to the issue does not depend on what is said.
    sending.logger.warning("a comment is left out: " + added.error().sentence, {{"issue", issue}});
    return true;
  }
  if (!added) return tl::unexpected(missing_issue(added.error(), sending.api));
  return pass("outbox.after_post");
}

Delivered<bool> set_state(OutboxKind kind, std::int64_t issue, const IssueTracker& tracker) {
  if (kind == OutboxKind::close) return tracker.close_issue(issue);
  if (kind == OutboxKind::reopen) return tracker.reopen_issue(issue);
  return true;
}

std::optional<std::int64_t> issue_of(const std::vector<OutboxRow>& messages) {
  for (const auto& message : messages) {
    if (message.kind == OutboxKind::open) return message.issue_number;
  }
  return std::nullopt;
}

Sent send_follow_up(const OutboxRow& message, const Sending& sending) {
  const auto issue = issue_of(sending.subject.messages);
  if (!issue) {
    return tl::unexpected(
        DeliveryFailure{.sentence = "there is no issue that could be commented on"});
  }
  if (auto said = send_comment(message, *issue, sending); !said) {
    return tl::unexpected(std::move(said).error());
  }
  if (auto set = set_state(message.kind, *issue, sending.tracker); !set) {
    return tl::unexpected(missing_issue(std::move(set).error(), sending.api));
  }
  return issue;
}

/// The name that a repository has now; empty where GitHub does not say it.
std::string name_of(const nlohmann::json& repository) {
  const bool has_name = repository.is_object() && repository.contains("full_name") &&
                        repository.at("full_name").is_string();
  return has_name ? repository.at("full_name").get<std::string>() : "";
}

/// A comment about an incident is said once; one about a comparison is edited.
bool is_placed(const OutboxRow& message) {
  const bool is_about_incident = message.incident > 0;
  return PlacedMessages::takes(message.kind) && !is_about_incident;
}

struct Sender {
  OutboxKind kind;
  Sent (*send)(const OutboxRow&, const Sending&);
  bool opens_issue = false;
};
constexpr std::array kSenders{Sender{OutboxKind::open, send_open, true},
                              Sender{OutboxKind::comment, send_follow_up},
                              Sender{OutboxKind::close, send_follow_up},
                              Sender{OutboxKind::reopen, send_follow_up},
                              Sender{OutboxKind::edit, send_edit},
                              Sender{OutboxKind::umbrella, send_own_issue, true},
                              Sender{OutboxKind::digest, send_own_issue, true},
                              Sender{OutboxKind::pull_comment, send_pull_comment}};

}  // namespace

OutboxSender::OutboxSender(storage::OutboxStore& outbox, platform::HttpClient& http,
                           const platform::Clock& clock, GithubSettings settings,
                           log::Logger logger)
    : outbox_(outbox),
      http_(http),
      clock_(clock),
      settings_(std::move(settings)),
      logger_(std::move(logger)) {
  if (settings_.tokens) return;
  settings_.tokens = std::make_shared<GivenToken>(http_, clock_, settings_.api, settings_.token);
}

Result<Delivery> OutboxSender::deliver_due(std::stop_token stop) {
  TW_TRY(const GithubApi api, GithubApi::create(http_, clock_, settings_, stop));
  auto place = settings_;
  if (!place.commits.empty()) place.repository = place.commits;
  TW_TRY(const GithubApi commits, GithubApi::create(http_, clock_, place, stop));
  const IssueTracker tracker(api, settings_, logger_);
  const PlacedMessages placed(commits, place.repository);
  TW_TRY_VOID(find_own_issues(api));
  Delivery delivery;
  auto kinds = kKinds;
  std::string problem;
  while (!stop.stop_requested() && clock_.monotonic_now() >= quiet_until_) {
    TW_TRY(auto message, outbox_.next_due(clock_.wall_now(), kinds, settings_.repository));
    if (!message) break;
    TW_TRY(const auto subject, outbox_.subject_of(message->key));
    const Sending sending{subject,   outbox_, tracker, placed, api,
                          settings_, http_,   clock_,  stop,   logger_};
    const auto kind = message->kind;
    delivery.problem.clear();
    TW_TRY_VOID(deliver(std::move(*message), sending, delivery));
    problem = delivery.problem.empty() ? problem : delivery.problem;
    // One message tells for all that need the right; each would cost a request.
    if (PlacedMessages::takes(kind) && delivery.problem.starts_with(storage::kWaitsAlone)) {
      std::erase(kinds, kind);
    }
  }
  delivery.problem = problem;
  return delivery;
}

Status OutboxSender::find_own_issues(const GithubApi& api) {
  if (knows_own_issues_) return {};
  const auto& own = settings_.repository;
  TW_TRY_VOID(outbox_.leave_out_ended(clock_.wall_now()));
  TW_TRY_VOID(outbox_.move_issues("", own));
  TW_TRY(const auto places, outbox_.filed_in());
  for (const auto& place : places) {
    if (lower(place.repository) == lower(own)) continue;
    const auto found = api.find(api.root_address("/repos/" + place.repository));
    if (!found && !found.error().is_refusal) return {};  // it is asked for again
    const auto name = found ? name_of(found->body) : std::string();
    if (lower(name) == lower(own)) {
      TW_TRY_VOID(outbox_.move_issues(place.repository, own));
      continue;
    }
    logger_.warning("[github] repository is " + own + ": what follows the issues in " +
                        place.repository + " waits until it is that one again",
                    {{"issues", place.issues}});
  }
  knows_own_issues_ = true;
  return {};
}

Status OutboxSender::retry_now() {
  has_labels_ = false;
  quiet_until_ = std::chrono::nanoseconds{0};
  settings_.traffic->end_pause();
  TW_TRY(const auto waiting, outbox_.unsent());
  TW_TRY_VOID(outbox_.make_due());
  // What GitHub may have got must not be looked up before its lists show that.
  for (const auto& message : waiting) {
    const bool is_unknown = message.last_error.starts_with(kUnknown);
    if (message.state != OutboxState::pending || !is_unknown) continue;
    TW_TRY_VOID(outbox_.mark_sending(message.key));
    TW_TRY_VOID(put_off(message, message.last_error, message.not_before));
  }
  return {};
}

Delivered<Receipt> OutboxSender::send(const OutboxRow& message, const Sending& sending) {
  if (is_placed(message)) return sending.placed.send(message, sending.subject.messages);
  if (message.kind == OutboxKind::reply) {
    const auto& of_target = sending.subject.messages;
    auto replied = send_reply(message, marker_of(message), of_target, sending.api);
    if (!replied) return tl::unexpected(std::move(replied).error());
    return Receipt{.number = replied->issue, .answer = std::move(replied->answer)};
  }
  const auto sender = std::ranges::find(kSenders, message.kind, &Sender::kind);
  if (sender == kSenders.end()) {
    return tl::unexpected(DeliveryFailure{.sentence = "GitHub gets no message of the kind " +
                                                      std::string(to_string(message.kind))});
  }
  if (sender->opens_issue && !has_labels_) {
    auto made = make_labels(sending.api, settings_);
    if (!made) return tl::unexpected(std::move(made).error());
    if (!*made) logger_.warning("the token may not make the labels that the repository lacks");
    has_labels_ = true;
  }
  const auto number = sender->send(message, sending);
  if (!number) return tl::unexpected(number.error());
  return Receipt{.number = *number};
}

Status OutboxSender::deliver(OutboxRow message, const Sending& sending, Delivery& delivery) {
  // A process that died left a message in `sending`: looking up its marker decides.
  const auto rest = unsettled(message);
  if (message.state == OutboxState::pending) {
    TW_TRY(message, outbox_.mark_sending(message.key));
  }
  if (rest.count() > 0) return let_settle(message, rest, delivery);
  logger_.debug("delivery started", {{"message", message.key}});
  const auto sent = send(message, sending);
  // Broken off, it stays in `sending` and is looked up the next time.
  if (!sent && sending.stop.stop_requested()) return {};
  if (!sent) return postpone(message, sent.error(), delivery);
  // Pull requests and commits are those of another repository.
  const bool is_issue = !PlacedMessages::takes(message.kind);
  TW_TRY_VOID(outbox_.mark_sent(message.key, sent->number, clock_.wall_now(), sent->answer,
                                is_issue ? settings_.repository : std::string()));
  settled_at_.erase(message.key);
  ++delivery.sent;
  logger_.info("message delivered",
               {{"message", message.key}, {"issue", sent->number.value_or(0)}});
  return platform::failpoint("outbox.after_sent");
}

Status OutboxSender::postpone(const OutboxRow& message, const DeliveryFailure& failure,
                              Delivery& delivery) {
  // What is wrong with the token, the network or the tracker is not the fault of the message.
  const bool is_of_message = !failure.is_for_all && !waits_alone(failure);
  const int tries = message.tries + (is_of_message ? 1 : 0);
  const int failures = message.failures + 1;
  const bool give_up = tries >= kTriesMax;
  auto wait = wait_after(failure, failures);
  if (failure.may_be_done) {
    wait = std::max(wait, std::chrono::ceil<std::chrono::seconds>(settings_.settling));
    settled_at_[message.key] = clock_.monotonic_now() + settings_.settling;
  }
  if (failure.is_for_all) {
    // What GitHub refuses as if for all may be of this message alone: others soon have their turn.
    const auto quiet = failure.is_refusal ? std::min(wait, kQuietAfterRefusal) : wait;
    quiet_until_ = clock_.monotonic_now() + quiet;
  }
  ++(give_up ? delivery.dead : delivery.postponed);
  delivery.problem = failure.sentence;
  logger_.write(give_up ? log::Level::error : log::Level::warning,
                (give_up ? "message given up: " : "message postponed: ") + failure.sentence,
                {{"message", message.key}, {"try", tries}, {"wait_s", wait.count()}});
  const auto now = clock_.wall_now();
  const auto not_before = now + std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
  const auto unknown = std::string(failure.may_be_done ? kUnknown : "");
  return outbox_.record_failure(message.key, {.error = unknown + failure.sentence,
                                              .tries = tries,
                                              .failures = failures,
                                              .not_before = give_up ? now : not_before,
                                              .give_up = give_up});
}

/// Whoever makes a message due at once must not have it looked up too early.
std::chrono::milliseconds OutboxSender::unsettled(const OutboxRow& message) const {
  if (message.state == OutboxState::sending) return settings_.settling;
  const auto found = settled_at_.find(message.key);
  if (found == settled_at_.end()) return std::chrono::milliseconds(0);
  return std::chrono::ceil<std::chrono::milliseconds>(found->second - clock_.monotonic_now());
}

Status OutboxSender::let_settle(const OutboxRow& message, std::chrono::milliseconds rest,
                                Delivery& delivery) {
  ++delivery.postponed;
  settled_at_[message.key] = clock_.monotonic_now() + rest;
  logger_.info("message may have been sent: it is looked up later", {{"message", message.key}});
  const bool says_so = message.last_error.starts_with(kUnknown);
  const auto error = says_so ? message.last_error : std::string(kUnknown) + "the service ended";
  return put_off(message, error, clock_.wall_now() + rest.count());
}

Status OutboxSender::put_off(const OutboxRow& message, const std::string& error,
                             platform::WallMillis not_before) {
  return outbox_.record_failure(message.key, {.error = error,
                                              .tries = message.tries,
                                              .failures = message.failures,
                                              .not_before = not_before,
                                              .give_up = false});
}

}  // namespace torchwatch::github
