#include "progress_of_commands.hpp"

#include <algorithm>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/nightly/attend.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/pulls/pulls.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/recheck.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::conversation {
namespace {

using storage::CommandRow;
using storage::CommandState;

/// What there is to say, and whether it is the last.
struct News {
  std::string text;
  bool is_last = false;
};

/// " [page](https://...)", where the pages can be reached.
std::string link_to(const config::Config& config, const std::string& path) {
  auto address = config.web.public_address;
  while (address.ends_with('/')) address.pop_back();
  return address.empty() ? "" : " [Page](" + address + path + ")";
}

std::string bisection_link(const config::Config& config, storage::Id id) {
  return link_to(config, "/bisections/" + std::to_string(id));
}

/// "place 2 of 4 in the queue, about 2 h 5 min": where an item stands that has not begun.
Result<std::string> place_of(comparison::Services& services, storage::ItemKind kind,
                             storage::Id id) {
  TW_TRY(const auto queue, evidence::queue_of(services.database));
  const auto item = std::ranges::find_if(
      queue, [&](const evidence::QueuedItem& each) { return each.kind == kind && each.id == id; });
  if (item == queue.end()) return std::string("in the queue");
  auto text = "place " + std::to_string(item - queue.begin() + 1) + " of " +
              std::to_string(queue.size()) + " in the queue";
  if (item->estimate) text += ", takes about " + figures::duration(item->estimate->likely);
  if (item->setback) text += ", put off at present";
  return text;
}

std::string commits_text(const std::vector<std::string>& commits) {
  std::string text;
  for (const auto& commit : commits) {
    text += (text.empty() ? "" : ", ") + report::code(short_sha(commit));
  }
  return text;
}

/// "the culprit is `1a2b3c` (99.7 %)", as far as that is known.
std::string culprit_text(const bisection::NamedCulprit& culprit) {
  std::string text = culprit.commits.size() == 1 ? "the culprit is " : "the culprit is one of ";
  if (report::finding_of(culprit) == report::Finding::likely) text = "most likely the culprit is ";
  text += commits_text(culprit.commits);
  if (!report::doubt_text(culprit.revert).empty()) {
    return text + ", although the change stays when it is taken out";
  }
  if (!(culprit.confidence > 0)) return text;
  return text + " (" + figures::confidence(culprit.confidence) + ")";
}

std::string result_text(const bisection::BisectionResult& result) {
  std::string text;
  for (const auto& culprit : result.culprits) {
    text += (text.empty() ? "" : "; and ") + culprit_text(culprit);
  }
  if (result.culprits.empty() && !result.suspects.empty()) {
    text = "it could not tell, between " + commits_text(result.suspects);
  }
  if (!text.empty()) return text;
  if (result.outcome == bisection::BisectionOutcome::did_not_reproduce) {
    return "the change did not show between these ends";
  }
  return "no commit was named" +
         (result.reason.empty() ? "" : ": " + report::code(result.reason, 300));
}

Result<News> news_of_bisection(comparison::Services& services, storage::Id id,
                               const std::string& before) {
  TW_TRY(const auto row, storage::BisectionStore(services.database).get(id));
  const auto name = "Bisection " + std::to_string(id);
  const auto link = bisection_link(services.config, id);
  if (row.state != storage::BisectionState::ended) {
    TW_TRY(const auto steps, storage::BisectionStore(services.database).events_of(id));
    if (!steps.empty()) return News{before + name + " is being carried out." + link};
    TW_TRY(const auto place, place_of(services, storage::ItemKind::bisection, id));
    return News{before + name + ": " + place + "." + link};
  }
  TW_TRY(const auto result, bisection::parse_bisection_result(row.result_json));
  return News{before + name + " has ended: " + result_text(result) + "." + link, true};
}

Result<News> news_of_comparison(comparison::Services& services, const CommandRow& command) {
  TW_TRY(const auto row, storage::ComparisonStore(services.database).get(*command.comparison));
  const auto name = "Recheck " + std::to_string(row.id) + " of incident " +
                    std::to_string(command.incident.value_or(0));
  const auto link = link_to(services.config, "/comparisons/" + std::to_string(row.id));
  if (!is_end(row.state)) {
    const bool has_begun = row.state != storage::ComparisonState::discovered;
    TW_TRY(const auto place, place_of(services, storage::ItemKind::comparison, row.id));
    return News{name + (has_begun ? " is being carried out." : ": " + place + ".") + link};
  }
  if (!command.incident) return News{name + " has ended." + link, true};
  TW_TRY(const auto incident, storage::IncidentStore(services.database).get(*command.incident));
  TW_TRY(const auto rechecks, report::rechecks_of(services.database, incident));
  for (const auto& recheck : rechecks) {
    if (recheck.comparison.id != row.id) continue;
    return News{
        name + " has ended: " + report::code(report::recheck_text(recheck), 300) + "." + link,
        true};
  }
  return News{name + " has ended." + link, true};
}

/// Why a request ended without doing what it asks for.
std::string reason_of(const nlohmann::json& result) {
  const bool has_reason = result.is_object() && result.contains("error");
  return has_reason ? ": " + report::code(result.at("error").get<std::string>(), 300) : "";
}

/// Whoever carries out the comparison of a pull request says all that follows in the same comment.
bool is_said_elsewhere(const storage::RequestRow& row) {
  return pulls::is_of_pull(row) &&
         (row.state != storage::RequestState::pending || !row.result_json.empty());
}

Result<News> news_of_request(comparison::Services& services, const CommandRow& command) {
  const auto id = *command.request;
  TW_TRY(const auto row, storage::RequestStore(services.database).get(id));
  if (is_said_elsewhere(row)) return News{command.said, storage::is_end(row.state)};
  const auto name = "Request " + std::to_string(id);
  const auto result = report::embedded(row.result_json);
  if (result.is_object() && result.contains("bisection")) {
    return news_of_bisection(services, result.at("bisection").get<storage::Id>(), "");
  }
  switch (row.state) {
    case storage::RequestState::pending: {
      TW_TRY(const auto place, place_of(services, storage::ItemKind::request, id));
      return News{name + ": " + place + "." + link_to(services.config, "/queue")};
    }
    case storage::RequestState::running:
      return News{name + " is being carried out." + link_to(services.config, "/queue")};
    default:
      return News{name + " is " + std::string(to_string(row.state)) + reason_of(result) + ".",
                  true};
  }
}

Result<News> news_of(comparison::Services& services, const CommandRow& command) {
  if (command.request) return news_of_request(services, command);
  if (command.comparison) return news_of_comparison(services, command);
  if (command.bisection) return news_of_bisection(services, *command.bisection, "");
  return News{command.said, true};
}

bool is_same(const CommandRow& one, const CommandRow& other) {
  return one.said == other.said && one.state == other.state;
}

Status update(comparison::Services& services, const CommandRow& before) {
  auto now = before;
  TW_TRY_VOID(bring_up_to_date(services, now));
  if (is_same(now, before)) return {};
  return services.database.transact([&]() -> Status {
    // What was queued meanwhile by who carries it out must not be followed by what was so before.
    TW_TRY_VOID(bring_up_to_date(services, now));
    if (now.said != before.said) return say(services, now);
    return storage::ConversationStore(services.database).update_command(now);
  });
}

/// The comment of a pull request has one text, whoever says something new there.
Result<storage::OutboxRow> message_of(comparison::Services& services, const CommandRow& command) {
  const auto key =
      "reply-" + std::to_string(command.comment) + "-" + std::to_string(command.replies);
  const auto secret = services.random.token();
  if (command.request) {
    TW_TRY(const auto request, storage::RequestStore(services.database).get(*command.request));
    if (pulls::is_of_pull(request))
      return pulls::comment_on(command.issue, key, command.said, secret);
  }
  storage::OutboxRow message;
  message.key = key;
  message.incident = command.incident.value_or(0);
  message.kind = storage::OutboxKind::reply;
  message.target = "comment/" + std::to_string(command.comment);
  message.title = "issue/" + std::to_string(command.issue);
  // What follows goes where the first is.
  if (command.replies == 1) message.repository = services.config.github.repository;
  message.body = report::with_marker(command.said, message.key, secret);
  return message;
}

}  // namespace

Status bring_up_to_date(comparison::Services& services, CommandRow& command) {
  TW_TRY(const auto news, news_of(services, command));
  command.said = news.text;
  if (news.is_last) command.state = CommandState::ended;
  return {};
}

Status say(comparison::Services& services, CommandRow& command) {
  ++command.replies;
  TW_TRY(const auto message, message_of(services, command));
  TW_TRY_VOID(storage::OutboxStore(services.database).queue(message));
  return storage::ConversationStore(services.database).update_command(command);
}

Status update_replies(comparison::Services& services, const log::Logger& logger) {
  TW_TRY(const auto waiting, storage::ConversationStore(services.database).waiting_commands());
  for (const auto& command : waiting) {
    const auto updated = update(services, command);
    if (updated) continue;
    const auto consequence = nightly::consequence_of(updated.error().code);
    if (consequence == nightly::Consequence::stops) return updated;
    logger.warning("a reply is not brought up to date: " + updated.error().text(),
                   {{"comment", command.comment}});
  }
  return {};
}

}  // namespace torchwatch::conversation
