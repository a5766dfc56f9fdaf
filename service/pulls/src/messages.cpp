#include "messages.hpp"

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::pulls {
namespace {

using nlohmann::json;

constexpr const char* kName = "torchwatch/pull";
constexpr std::size_t kRowsMax = 30;
constexpr std::size_t kSentenceMax = 140;  ///< GitHub's limit of a status
constexpr std::size_t kWhyMax = 2000;

std::string pair_of(const Saying& saying) {
  return report::code(short_sha(saying.head)) + " against " + report::code(short_sha(saying.base)) +
         ", which it branched from";
}

std::string asked_by(const Saying& saying) {
  return saying.spec.login.empty() ? "" : " Asked for by " + report::code(saying.spec.login) + ".";
}

std::string table_of(const Came& came) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& verdict : came.changed) {
    const auto effect = report::effect_of(verdict);
    rows.push_back({report::code_cell(to_string(verdict.series)),
                    std::string(to_string(verdict.verdict)), report::change_text(effect),
                    report::interval_text(effect)});
  }
  if (rows.empty()) return "";
  return "\n" +
         report::table({"series", "verdict", "change", report::interval_heading(came.confidence)},
                       rows, kRowsMax, 2);
}

std::string key_of(const Saying& saying, const std::string& what, const std::string& step) {
  return "pull-" + std::to_string(saying.spec.pull) + "-request-" + std::to_string(saying.request) +
         "-" + what + step;
}

/// Ends in one sentence what both a status and a check run say.
std::string sentence_of(const std::optional<Came>& came) {
  return came ? report::clean(came->sentence, kSentenceMax) : "being compared";
}

json status_body(const std::optional<Came>& came) {
  json body{{"state", came ? "success" : "pending"},
            {"context", kName},
            {"description", sentence_of(came)}};
  if (came && !came->page.empty()) body["target_url"] = came->page;
  return body;
}

json check_body(const Saying& saying, const std::optional<Came>& came, bool is_neutral) {
  json body{{"name", kName},
            {"head_sha", saying.head},
            {"external_id", "request-" + std::to_string(saying.request)},
            {"status", came ? "completed" : "in_progress"}};
  body["output"] = {{"title", sentence_of(came)},
                    {"summary", came ? came_comment(saying, *came) : begun_comment(saying)}};
  if (came) body["conclusion"] = is_neutral ? "neutral" : "success";
  if (came && !came->page.empty()) body["details_url"] = came->page;
  return body;
}

}  // namespace

std::string begun_comment(const Saying& saying) {
  return "torchwatch compares " + pair_of(saying) + ". This comment will say what came of it." +
         asked_by(saying) + "\n";
}

std::string came_comment(const Saying& saying, const Came& came) {
  std::string text = "torchwatch compared " + pair_of(saying) + ": " + came.sentence + ".\n";
  text += table_of(came);
  if (!came.unit_of_plan.empty()) text += "\nMeasured: " + came.unit_of_plan + ".";
  text += asked_by(saying) + "\n";
  text +=
      "\nA change is listed only if it showed again in fresh processes. No incident is opened "
      "for it.\n";
  if (!came.page.empty()) text += "\n[All verdicts](" + came.page + ")\n";
  return text;
}

std::string refused_comment(const Saying& saying, const std::string& why) {
  // The sentence is the service's own; names in it are quoted where they come in.
  return "torchwatch did not compare this pull request: " + why.substr(0, kWhyMax) + "." +
         asked_by(saying) + "\n";
}

storage::OutboxRow comment_on(std::int64_t pull, const std::string& key, const std::string& text,
                              const std::string& secret) {
  storage::OutboxRow row;
  row.key = key;
  row.kind = storage::OutboxKind::pull_comment;
  row.target = "pull/" + std::to_string(pull);
  row.body = report::with_marker(text, row.key, secret);
  return row;
}

storage::OutboxRow comment_message(const Saying& saying, const std::string& step,
                                   const std::string& text, const std::string& secret) {
  return comment_on(saying.spec.pull, key_of(saying, "", step), text, secret);
}

storage::OutboxRow mark_message(const Saying& saying, bool has_app, const std::string& step,
                                const std::optional<Came>& came, bool is_neutral) {
  storage::OutboxRow row;
  row.key = key_of(saying, has_app ? "check-" : "status-", step);
  row.kind = has_app ? storage::OutboxKind::check : storage::OutboxKind::status;
  row.target = "commit/" + saying.head;
  // Messages of one title edit the same check run.
  row.title = std::string(kName) + " " + std::to_string(saying.request);
  const auto body = has_app ? check_body(saying, came, is_neutral) : status_body(came);
  row.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  return row;
}

}  // namespace torchwatch::pulls
