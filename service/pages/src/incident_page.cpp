#include <algorithm>

#include "items.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::pages {
namespace {

using storage::IncidentRow;

std::string commit_list(const report::CulpritFacts& cause, const View& view) {
  std::string list;
  for (const auto& commit : cause.commits) {
    list += "<li>" + html_link(view.to_commit(commit.sha), commit.sha) + " " +
            html_text(commit.subject) + "</li>\n";
  }
  return "<ul>\n" + list + "</ul>\n";
}

std::string cause_section(const report::CulpritFacts& cause, const View& view) {
  const bool is_one = cause.commits.size() == 1;
  std::string text;
  if (cause.confidence > 0) {
    text += "<p>" + html_text(figures::confidence(cause.confidence) + " sure") +
            (is_one ? "" : " that it is one of these") + ".</p>\n";
  }
  text += commit_list(cause, view);
  if (!cause.verified.empty()) text += "<p>Verified " + html_text(cause.verified) + ".</p>\n";
  if (!cause.effects.empty()) {
    text += "<p>Compared with the commit before:</p>\n" +
            effect_table(cause.effects, report::kBisectionIntervalConfidence);
  }
  return html_section(is_one ? "Culprit" : "Could not decide between these", text);
}

std::string causes_sections(const IncidentRow& incident,
                            const std::vector<report::CulpritFacts>& causes, const View& view) {
  std::string text;
  for (const auto& cause : causes) text += cause_section(cause, view);
  if (!causes.empty()) return text;
  const char* why = "No culprit was searched for.";
  if (incident.bisection) {
    const auto row = storage::BisectionStore(view.sources.database).get(*incident.bisection);
    const bool is_searched = row && row->state == storage::BisectionState::open;
    why = is_searched ? "The culprit is being searched." : "No commit is blamed.";
  }
  return html_section("Culprit", std::string("<p>") + why + "</p>\n");
}

/// The commands with which a person answers an incident.
std::string answers(const IncidentRow& incident, bool has_culprit) {
  const auto id = std::to_string(incident.id);
  std::string list;
  const auto add = [&](const char* when, const std::string& command) {
    list += "<li>" + html_text(when) + ": <code>torchwatch incident " + html_text(command) +
            "</code></li>\n";
  };
  if (incident.state == storage::IncidentState::closed) {
    add("It is not over", "reopen " + id);
  } else {
    if (incident.state == storage::IncidentState::open) {
      add("Somebody works on it", "acknowledge " + id);
    }
    add("It is intended", "accept " + id + " --reason \"...\"");
    if (has_culprit) add("The commit is wrong", "dispute " + id + " --reason \"...\"");
    add("Measure it again", "retest " + id);
    add("It is mended", "close " + id);
  }
  return "<ul>\n" + list + "</ul>\n";
}

Result<std::string> issue_text(const IncidentRow& incident, const View& view) {
  TW_TRY(const auto messages, storage::IncidentStore(view.sources.database).outbox_of(incident.id));
  const auto opening =
      std::ranges::find(messages, storage::OutboxKind::open, &storage::OutboxRow::kind);
  if (opening == messages.end()) return std::string();
  // What was measured where stands in the issue, which is for a tracker that may be private.
  if (!view.is_trusted) return std::string();
  return "<details>\n<summary>The text of the issue</summary>\n<pre>" + html_text(opening->body) +
         "</pre>\n</details>\n";
}

std::string effects_section(const IncidentRow& incident, const View& view) {
  std::vector<report::EffectFacts> effects;
  for (const auto& row : incident.series) effects.push_back(report::effect_of(row));
  if (effects.empty()) return "";
  std::ranges::stable_sort(effects, report::is_larger);
  return html_section("What changed", effect_table(effects, view.sources.confidence));
}

Cell issue_cell(const IncidentRow& incident, const View& view) {
  if (!incident.issue_number) return "not filed yet";
  return {"#" + std::to_string(*incident.issue_number), view.to_issue(*incident.issue_number)};
}

Cell acceptance_cell(const IncidentRow& incident) {
  if (!incident.acceptance) return "";
  return "by " + incident.acceptance->by + ": " + incident.acceptance->reason;
}

}  // namespace

Result<http::Reply> get_incident(const http::Request& request, const Sources& sources) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  const auto view = view_of(request, sources, "../");
  TW_TRY(const auto incident, storage::IncidentStore(sources.database).get(id));
  TW_TRY(const auto comparison,
         storage::ComparisonStore(sources.database).get(incident.comparison));
  TW_TRY(const auto name, name_of_comparison(comparison, view));
  TW_TRY(const auto causes, causes_of(incident, view));
  TW_TRY(const auto issue, issue_text(incident, view));
  const auto facts =
      html_facts({{"incident", std::to_string(id) + ", " + std::string(to_string(incident.kind))},
                  {"state", report::state_word(incident)},
                  {"accepted", acceptance_cell(incident)},
                  {"opened", platform::date_and_minute(incident.opened_at) + " UTC, " +
                                 age_text(incident.opened_at, view)},
                  {"found by", {name, view.to_comparison(comparison.id)}},
                  {"issue", issue_cell(incident, view)}});
  return reply_with(view, incident.title + " - torchwatch",
                    "<h1>" + html_text(incident.title) + "</h1>\n" + facts +
                        effects_section(incident, view) + causes_sections(incident, causes, view) +
                        html_section("What to do", answers(incident, !causes.empty())) + issue);
}

}  // namespace torchwatch::pages
