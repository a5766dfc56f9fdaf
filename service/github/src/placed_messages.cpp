#include "placed_messages.hpp"

#include "issue_tracker.hpp"
#include "refusals.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::github {
namespace {

using nlohmann::json;
using storage::OutboxKind;
using storage::OutboxRow;

constexpr int kNotFound = 404;

/// "commit/5d1c..." gives "5d1c...".
std::string place_of(const OutboxRow& message) {
  return message.target.substr(message.target.find('/') + 1);
}

tl::unexpected<DeliveryFailure> damaged(const OutboxRow& message) {
  return tl::unexpected(
      DeliveryFailure{.sentence = "message " + message.key + " has no place that it could go to"});
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 12 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

std::string text_of(const json& item, const char* member) {
  const auto found = item.find(member);
  return found != item.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The id that the newest message of that kind and title got, of those before.
std::string answer_to(const std::vector<OutboxRow>& messages, const OutboxRow& message) {
  std::string answer;
  for (const auto& other : messages) {
    const bool is_same = other.kind == message.kind && other.title == message.title;
    if (other.id < message.id && is_same && !other.answer.empty()) answer = other.answer;
  }
  return answer;
}

bool is_gone(const DeliveryFailure& failure) {
  return failure.status == kNotFound;
}

}  // namespace

bool PlacedMessages::takes(OutboxKind kind) {
  return kind == OutboxKind::status || kind == OutboxKind::check ||
         kind == OutboxKind::pull_comment;
}

Delivered<Receipt> PlacedMessages::send(const OutboxRow& message,
                                        const std::vector<OutboxRow>& messages) const {
  const auto earlier = answer_to(messages, message);
  if (message.kind == OutboxKind::pull_comment) return send_comment(message, earlier);
  if (!is_commit(place_of(message))) return damaged(message);
  return message.kind == OutboxKind::status ? send_status(message) : send_check(message, earlier);
}

Delivered<Receipt> PlacedMessages::receipt(Delivered<json> answer, const std::string& right) const {
  if (!answer) return tl::unexpected(refused(std::move(answer).error(), repository_, right));
  if (auto passed = platform::failpoint("outbox.after_post"); !passed) {
    return tl::unexpected(failure_of(passed.error()));
  }
  return Receipt{.answer = id_of(*answer)};
}

Delivered<Receipt> PlacedMessages::send_status(const OutboxRow& message) const {
  const auto body = json::parse(message.body, nullptr, false);
  if (!body.is_object()) return damaged(message);
  // The same status again changes nothing that anybody sees.
  return receipt(api_.write("POST", "/statuses/" + place_of(message), body), kStatuses);
}

Delivered<std::optional<std::string>> PlacedMessages::find_check(const std::string& sha,
                                                                 const json& run) const {
  // The newest one of a name; ours by what only we know of it.
  const auto listed = api_.read("/commits/" + sha + "/check-runs?filter=latest&per_page=100");
  if (!listed) return tl::unexpected(refused(listed.error(), repository_, kChecks));
  const auto runs = listed->value("check_runs", json::array());
  if (!runs.is_array()) return std::nullopt;
  for (const auto& each : runs) {
    if (!each.is_object() || text_of(each, "name") != text_of(run, "name")) continue;
    if (text_of(each, "external_id") == text_of(run, "external_id")) return id_of(each);
  }
  return std::nullopt;
}

Delivered<Receipt> PlacedMessages::send_check(const OutboxRow& message,
                                              const std::string& earlier) const {
  const auto body = json::parse(message.body, nullptr, false);
  if (!body.is_object()) return damaged(message);
  auto known = earlier;
  if (known.empty()) {
    auto found = find_check(place_of(message), body);
    if (!found) return tl::unexpected(std::move(found).error());
    known = found->value_or("");
  }
  if (known.empty()) return receipt(api_.write("POST", "/check-runs", body), kChecks);
  auto change = body;
  change.erase("head_sha");
  return receipt(api_.write("PATCH", "/check-runs/" + known, change), kChecks);
}

Delivered<Receipt> PlacedMessages::send_comment(const OutboxRow& message,
                                                const std::string& earlier) const {
  const auto issue = place_of(message);
  const auto marker = report::marker_in(message.body);
  if (!is_number(issue) || !marker) return damaged(message);
  const json body{{"body", message.body}};
  if (!earlier.empty()) {
    auto edited = api_.write("PATCH", "/issues/comments/" + earlier, body);
    // Somebody deleted it: a new one takes its place.
    if (edited || !is_gone(edited.error())) return receipt(std::move(edited), kComments);
  }
  const auto found = find_comment(api_, std::stoll(issue), *marker);
  if (!found) return tl::unexpected(refused(found.error(), repository_, kComments));
  if (!found->value_or("").empty()) return Receipt{.answer = **found};
  return receipt(api_.write("POST", "/issues/" + issue + "/comments", body), kComments);
}

}  // namespace torchwatch::github
