#include "torchwatch/health/problem.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "alarm_text.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/nodes/node_report.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/outbox/outbox_waits.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/report/setback.hpp"
#include "torchwatch/storage/setback_store.hpp"

namespace torchwatch::health {
namespace {

/// What a stranger sees: details may hold paths and the output of compilers.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kSentences{{
    {"storage", "the database cannot be written"},
    {"database_disk", "the disk of the database cannot be written"},
    {"web", "some clients cannot be answered"},
    {"oidc", "workflows cannot sign in: the keys of their issuer cannot be fetched"},
    {"channel", "the channel cannot be listed"},
    {"source", "the clone of [source] cannot be brought up to date"},
    {"database", "stored rows break rules; `torchwatch database check` lists them"},
    {"cache", "the caches cannot be brought to their limit"},
    {"disk", "the disk is nearly full, so no work is begun"},
    {"alarms", "missing data cannot be looked for"},
    {"housekeeping", "old rows and logs cannot be removed"},
    {"machine_lock", "somebody else keeps the machine from measuring"},
    {"nodes", "nodes of the cluster differ from others of their class"},
    {"service", "a fault of torchwatch itself; the log says which, please report it"},
    {"outbox", "messages cannot be delivered; `torchwatch outbox list` has them"},
    {"notices", "webhooks or mails cannot be delivered; `torchwatch outbox list` has them"},
    {"conversation", "GitHub cannot be read: what people say and do there is looked at later"},
    {"alarm", "data that should have come did not"},
}};
/// The kinds of items of which each waits by itself; the others are parts of the service.
constexpr std::array kItemKinds{storage::ItemKind::build, storage::ItemKind::comparison,
                                storage::ItemKind::bisection, storage::ItemKind::request};
constexpr std::string_view kPutOff = "put off, and tried again later; `torchwatch status` says why";

Problem problem_of(const storage::SetbackRow& row) {
  const std::string source(to_string(row.key.kind));
  return {.source = source,
          .item = is_of_service(row.key.kind) ? "" : row.key.item,
          .since = row.since,
          .sentence = sentence_on(source),
          .detail = report::setback_text(row)};
}

Problem problem_of(const storage::AlarmRow& row) {
  return {.source = "alarm",
          .item = std::string(to_string(row.cause)),
          .since = row.since,
          .sentence = alarm_sentence(row)};
}

/// A message that the tracker rejected until it was given up: somebody has to look at it.
Problem problem_of(const storage::OutboxRow& message) {
  return {.source = "outbox",
          .item = std::to_string(message.id),
          .since = message.not_before,
          .sentence = sentence_on("outbox"),
          .detail = message.key + " was given up: " + message.last_error +
                    "; `torchwatch outbox retry " + message.key + "` sends it again"};
}

/// Messages of one kind that wait for a right of the token, the oldest first: others are sent.
Problem problem_of(const std::vector<const storage::OutboxRow*>& alike, storage::WallMillis since) {
  const auto& first = *alike.front();
  const auto others = alike.size() == 1 ? "" : " and " + std::to_string(alike.size() - 1) + " more";
  return {.source = "outbox",
          .item = std::to_string(first.id),
          .since = since,
          .sentence = sentence_on("outbox"),
          .detail =
              first.key + others + " wait" + (alike.size() == 1 ? "s: " : ": ") + first.last_error};
}

std::vector<Problem> problems_of(const std::vector<storage::OutboxRow>& unsent,
                                 const std::map<storage::Id, storage::WallMillis>& since) {
  std::vector<Problem> problems;
  std::map<storage::OutboxKind, std::vector<const storage::OutboxRow*>> alone;
  for (const auto& row : unsent) {
    const bool is_dead = row.state == storage::OutboxState::dead;
    if (is_dead) problems.push_back(problem_of(row));
    if (storage::waits_alone(row)) alone[row.kind].push_back(&row);
  }
  for (const auto& [kind, alike] : alone) {
    const auto first = since.find(alike.front()->id);
    problems.push_back(problem_of(alike, first == since.end() ? 0 : first->second));
  }
  return problems;
}

/// A folder that is not there yet will be on the disk of the one that it is to be made in.
Status require_free(const std::filesystem::path& named, std::int64_t reserve) {
  auto folder = named;
  std::error_code error;
  while (folder.has_relative_path() && !std::filesystem::exists(folder, error)) {
    folder = folder.parent_path();
  }
  const auto space = std::filesystem::space(folder.empty() ? "." : folder, error);
  const auto available = static_cast<std::int64_t>(space.available);
  if (error || available >= reserve) return {};
  return fail(ErrorCode::unavailable,
              "the disk of " + named.string() + " has " + figures::bytes(available) +
                  " free, less than [build] disk_reserve (" + figures::bytes(reserve) +
                  "): free some space, or set a smaller reserve");
}

}  // namespace

bool is_of_item(const Problem& problem) {
  const bool is_message = problem.source == "outbox" && !problem.item.empty();
  return is_message || std::ranges::any_of(kItemKinds, [&](auto kind) {
           return problem.source == to_string(kind);
         });
}

const std::string& text_of(const Problem& problem, bool is_trusted) {
  return is_trusted && !problem.detail.empty() ? problem.detail : problem.sentence;
}

std::vector<std::string> sources() {
  std::vector<std::string> all;
  for (const auto& [source, sentence] : kSentences) all.emplace_back(source);
  for (const auto kind : kItemKinds) all.emplace_back(to_string(kind));
  return all;
}

std::string sentence_on(const std::string& source) {
  const auto found =
      std::ranges::find(kSentences, source, &decltype(kSentences)::value_type::first);
  return std::string(found == kSentences.end() ? kPutOff : found->second);
}

Result<std::vector<Problem>> stored_problems(storage::Database& database) {
  std::vector<Problem> problems;
  TW_TRY(const auto alarms, storage::AlarmStore(database).open());
  for (const auto& row : alarms) problems.push_back(problem_of(row));
  TW_TRY(const auto setbacks, storage::SetbackStore(database).list());
  for (const auto& row : setbacks) problems.push_back(problem_of(row));
  // A damaged message hides no other problem; the daemon tells of it when it delivers.
  const auto unsent = storage::OutboxStore(database).unsent();
  TW_TRY(const auto since, storage::OutboxWaits(database).since());
  if (unsent) std::ranges::move(problems_of(*unsent, since), std::back_inserter(problems));
  return problems;
}

std::string why_messages_wait(const std::vector<storage::OutboxRow>& unsent) {
  std::string why;
  for (const auto& message : unsent) {
    const bool waits = message.state != storage::OutboxState::dead &&
                       !storage::waits_alone(message) && !message.last_error.empty();
    if (waits) why = message.last_error;
  }
  return why;
}

Result<std::string> nodes_that_differ(storage::Database& database) {
  TW_TRY(const auto reports, nodes::compare_nodes(database));
  std::string all;
  for (const auto& report : reports) {
    for (const auto& complaint : nodes::complaints_about(report)) {
      all += (all.empty() ? "" : "; ") + complaint;
    }
  }
  return all;
}

Result<std::vector<Problem>> standing_problems(storage::Database& database,
                                               const config::Config& config) {
  TW_TRY(auto problems, stored_problems(database));
  TW_TRY(auto differing, nodes_that_differ(database));
  if (!differing.empty()) {
    problems.push_back({.source = "nodes",
                        .item = "",
                        .since = 0,
                        .sentence = sentence_on("nodes"),
                        .detail = std::move(differing)});
  }
  if (const auto reserved = require_disk_reserve(config); !reserved) {
    problems.insert(problems.begin(), {.source = "disk",
                                       .item = "",
                                       .since = 0,
                                       .sentence = sentence_on("disk"),
                                       .detail = reserved.error().text()});
  }
  return problems;
}

Status require_disk_reserve(const config::Config& config) {
  const auto reserve = config.build.disk_reserve_bytes;
  TW_TRY_VOID(require_free(config.build.cache, reserve));
  return require_free(config.storage.path.parent_path(), reserve);
}

Status require_writable_disk(const config::Config& config) {
  constexpr std::size_t kBlockBytes = 4096;  // less may be stored without a block of the disk
  const std::filesystem::path probe = config.storage.path.string() + ".probe";
  TW_TRY_VOID(platform::publish_file(probe, std::string(kBlockBytes, '\n')));
  std::error_code error;
  std::filesystem::remove(probe, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable, "cannot remove " + probe.string() + ": " + error.message());
}

}  // namespace torchwatch::health
