#include "polling.hpp"

#include <algorithm>
#include <functional>

#include "torchwatch/conversation/command.hpp"
#include "torchwatch/tracker/conversation_store.hpp"
#include "torchwatch/tracker/received_store.hpp"

namespace torchwatch::conversation {
namespace {

using nlohmann::json;
using storage::ReceivedRow;

constexpr platform::WallMillis kDay = 86'400'000;

/// Receives one item of a list.
using Receive = std::function<Status(const json&)>;

Status receive(comparison::Services& services, ReceivedRow row) {
  row.received_at = services.clock.wall_now();
  TW_TRY(const bool is_new, storage::ReceivedStore(services.database).receive(row));
  static_cast<void>(is_new);
  return {};
}

ReceivedRow look_at(std::int64_t issue, const std::string& when) {
  return {.delivery = "poll:issue/" + std::to_string(issue) + "/" + when,
          .kind = storage::ReceivedKind::issue,
          .action = "seen",
          .issue = issue,
          .body_json = "{}"};
}

Status receive_issue(comparison::Services& services, const json& item) {
  const auto number = number_of(item, "number");
  TW_TRY(const auto incident, storage::ConversationStore(services.database)
                                  .incident_of_issue(number, services.config.github.repository));
  if (!incident) return {};
  return receive(services, look_at(number, text_of(item, "updated_at")));
}

/// What was edited before it was seen may not be what was written, so it does not count.
Status receive_comment(comparison::Services& services, const std::string& prefix,
                       const json& item) {
  const auto comment = comment_of(item);
  const bool is_complete = comment.id > 0 && comment.issue > 0 && !comment.author.login.empty();
  if (!is_complete || comment.author.is_program || comment.updated_at != comment.created_at) {
    return {};
  }
  if (std::holds_alternative<std::monostate>(parse_command(comment.text, prefix))) return {};
  return receive(services,
                 {.delivery = "poll:comment/" + std::to_string(comment.id),
                  .kind = storage::ReceivedKind::comment,
                  .action = "created",
                  .issue = comment.issue,
                  .body_json = json{{"repository", services.config.github.repository},
                                    {"comment", comment.id},
                                    {"text", comment.text},
                                    {"at", comment.created_at},
                                    {"login", comment.author.login},
                                    {"login_id", comment.author.id}}
                                   .dump(-1, ' ', false, json::error_handler_t::replace)});
}

Status read_list(comparison::Services& services, const TrackerReader& reader,
                 const std::string& name, const std::string& path, const Receive& receive_item) {
  storage::ConversationStore store(services.database);
  TW_TRY(const auto before, store.poll_of(name));
  if (!before) return store.set_poll(name, {.since = services.clock.wall_now()});
  TW_TRY(const auto look, reader.changed(path, before->since, before->etag));
  if (!look.is_news) return {};
  auto newest = before->since;
  for (const auto& item : look.items) {
    TW_TRY_VOID(receive_item(item));
    newest =
        std::max(newest, platform::parse_iso_utc(text_of(item, "updated_at")).value_or(newest));
  }
  // The tag belongs to the address, which has the date.
  return store.set_poll(name, {.since = newest, .etag = newest == before->since ? look.etag : ""});
}

}  // namespace

Status look_for_changes(comparison::Services& services, const TrackerReader& reader,
                        const std::string& command_prefix) {
  TW_TRY_VOID(read_list(services, reader, "issues", "/issues",
                        [&](const json& item) { return receive_issue(services, item); }));
  TW_TRY_VOID(read_list(services, reader, "comments", "/issues/comments", [&](const json& item) {
    return receive_comment(services, command_prefix, item);
  }));
  TW_TRY(
      const auto open,
      storage::ConversationStore(services.database).open_issues(services.config.github.repository));
  const auto day = "day-" + std::to_string(services.clock.wall_now() / kDay);
  for (const auto issue : open) TW_TRY_VOID(receive(services, look_at(issue, day)));
  return {};
}

}  // namespace torchwatch::conversation
