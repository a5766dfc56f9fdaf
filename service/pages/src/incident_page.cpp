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

bool is_disputed(const IncidentRow& incident) {
  return std::ranges::any_of(incident.decisions, [](const auto& row) {
    return row.kind == storage::DecisionKind::disputed;
  });
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
    const auto* searched = is_disputed(incident)
                               ? "The commit that was named is disputed; it is searched again."
                               : "The culprit is being searched.";
    why = is_searched ? searched : "No commit is blamed.";
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
    if (!report::is_lost_with_both(incident)) {
      add("It is intended", "accept " + id + " --reason \"...\"");
    }
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

/// What gave no result has no values, and is said with the reason instead, which may quote the
/// output of a run: strangers do not see it.
std::string lost_section(const IncidentRow& incident, const std::string& reason, const View& view) {
  std::string list;
  for (const auto& lost : incident.series) {
    list += "<li>" + html_text(to_string(lost.series)) + "</li>\n";
  }
  auto text = "<ul>\n" + list + "</ul>\n";
  if (!reason.empty() && view.is_trusted) text += "<p>Reason: " + html_text(reason) + ".</p>\n";
  return html_section(report::is_lost_with_both(incident)
                          ? "No result with either build: look at the machine, not at the build"
                          : "No result any more",
                      text);
}

Result<std::string> effects_section(const IncidentRow& incident, const View& view) {
  if (incident.series.empty()) return std::string();
  if (incident.kind == IncidentKind::lost) {
    TW_TRY(const auto reason, report::reason_of_loss(view.sources.database, incident));
    return lost_section(incident, reason, view);
  }
  std::vector<report::EffectFacts> effects;
  for (const auto& row : incident.series) effects.push_back(report::effect_of(row));
  std::ranges::stable_sort(effects, report::is_larger);
  return html_section("What changed", effect_table(effects, view.sources.confidence));
}

/// The newest decision stands beside the state.
std::string decisions_section(const IncidentRow& incident) {
  constexpr std::size_t kFewest = 2;
  if (incident.decisions.size() < kFewest && !is_disputed(incident)) return "";
  std::string list;
  for (const auto& row : incident.decisions) {
    list += "<li>" + html_text(report::decision_text(row)) + "</li>\n";
  }
  return html_section("What was decided", "<ul>\n" + list + "</ul>\n");
}

Cell issue_cell(const IncidentRow& incident, const View& view) {
  if (!incident.issue_number) return "not filed yet";
  return {"#" + std::to_string(*incident.issue_number), view.to_issue(*incident.issue_number)};
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
  TW_TRY(const auto effects, effects_section(incident, view));
  const auto facts =
      html_facts({{"incident", std::to_string(id) + ", " + std::string(to_string(incident.kind))},
                  {"state", report::state_text(incident)},
                  {"opened", platform::date_and_minute(incident.opened_at) + " UTC, " +
                                 age_text(incident.opened_at, view)},
                  {"found by", {name, view.to_comparison(comparison.id)}},
                  {"issue", issue_cell(incident, view)}});
  return reply_with(view, incident.title + " - torchwatch",
                    "<h1>" + html_text(incident.title) + "</h1>\n" + facts + effects +
                        causes_sections(incident, causes, view) + decisions_section(incident) +
                        html_section("What to do", answers(incident, !causes.empty())) + issue);
}

}  // namespace torchwatch::pages
