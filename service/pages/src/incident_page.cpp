#include <algorithm>

#include "items.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/recheck.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/outbox_store.hpp"

namespace torchwatch::pages {
namespace {

using storage::IncidentRow;

std::string commit_list(const report::CulpritFacts& cause, const View& view) {
  std::string list;
  for (const auto& commit : cause.commits) {
    list += "<li>" + html_link(view.to_commit(commit.sha), commit.sha) + " " +
            html_prose(commit.subject) + "</li>\n";
  }
  return "<ul>\n" + list + "</ul>\n";
}

std::string cause_section(const report::CulpritFacts& cause, const View& view) {
  const bool is_one = cause.commits.size() == 1;
  std::string text = commit_list(cause, view);
  if (cause.confidence > 0) {
    text += "<p>torchwatch is " + html_text(figures::confidence(cause.confidence) + " sure") +
            (is_one ? "" : " that it is one of these") + ".</p>\n";
  }
  if (!cause.verified.empty()) text += "<p>Verified " + html_prose(cause.verified) + ".</p>\n";
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

std::string causes_sections(const IncidentRow& incident, const Search& search, const View& view) {
  std::string text;
  for (const auto& cause : search.causes) text += cause_section(cause, view);
  if (!search.causes.empty()) return text;
  if (incident.kind == IncidentKind::lost) return "";
  const char* why = "No culprit was searched for: the commits of both builds are not known.";
  if (search.state == storage::BisectionState::ended) why = "No commit is blamed.";
  if (search.state == storage::BisectionState::open) {
    why = is_disputed(incident) ? "The commit that was named is disputed; it is searched again."
                                : "The culprit is being searched.";
  }
  return html_section("Culprit", std::string("<p>") + why + "</p>\n");
}

/// The commands with which a person answers an incident.
std::string answers(const std::vector<report::Advice>& advice) {
  std::string list;
  for (const auto& [when, command] : advice) {
    list += "<li>" + html_text(when) + ": <code>" + html_text(command) + "</code></li>\n";
  }
  return "<ul>\n" + list + "</ul>\n";
}

/// The text of the issue. What was measured where stands in it, and the tracker may be private.
std::string issue_details(const std::vector<storage::OutboxRow>& messages, const View& view) {
  const auto opening =
      std::ranges::find(messages, storage::OutboxKind::open, &storage::OutboxRow::kind);
  if (opening == messages.end() || !view.is_trusted) return "";
  return "<details>\n<summary>The text of the issue</summary>\n<pre>" + html_text(opening->body) +
         "</pre>\n</details>\n";
}

/// The end of what a lost workload printed, which is not for strangers.
Result<std::string> output_of(const IncidentRow& incident, const View& view) {
  if (!view.is_trusted) return std::string();
  TW_TRY(const auto loss, report::loss_of(view.sources.database, incident));
  if (loss.output.empty()) return std::string();
  std::string lines;
  for (const auto& line : loss.output) lines += line + "\n";
  return "<p>What the process printed last:</p>\n<pre>" + html_text(lines) + "</pre>\n";
}

/// What changed, with the figures of the comparison that found it; of what was lost the reason.
Result<std::string> effects_section(const IncidentRow& incident, const View& view) {
  TW_TRY(const auto verdicts,
         storage::ComparisonStore(view.sources.database).verdicts_of(incident.comparison));
  std::vector<report::EffectFacts> effects;
  std::vector<storage::VerdictRow> found;
  for (const auto& row : incident.series) {
    const auto verdict = std::ranges::find(verdicts, row.series, &storage::VerdictRow::series);
    const bool is_known = verdict != verdicts.end();
    if (is_known) found.push_back(*verdict);
    effects.push_back(is_known ? report::effect_of(*verdict) : report::effect_of(row));
  }
  if (effects.empty()) return std::string();
  if (incident.kind == IncidentKind::lost) {
    TW_TRY(const auto output, output_of(incident, view));
    return html_section(report::is_lost_with_both(incident)
                            ? "No result with either build: look at the machine, not at the build"
                            : "What gives no result any more",
                        reason_table(found, view) + output);
  }
  std::ranges::stable_sort(effects, report::is_larger);
  return html_section("What changed", effect_table(effects, view.confidence));
}

/// The newest decision stands beside the state.
std::string decisions_section(const IncidentRow& incident) {
  constexpr std::size_t kFewest = 2;
  if (incident.decisions.size() < kFewest && !is_disputed(incident)) return "";
  std::string list;
  for (const auto& row : incident.decisions) {
    list += "<li>" + html_prose(report::decision_text(row)) + "</li>\n";
  }
  return html_section("What was decided", "<ul>\n" + list + "</ul>\n");
}

/// What came of measuring the incident again. The reason of an end may name paths.
Result<std::string> rechecks_section(const IncidentRow& incident, const View& view) {
  TW_TRY(auto rechecks, report::rechecks_of(view.sources.database, incident));
  if (rechecks.empty()) return std::string();
  std::string list;
  for (auto& recheck : rechecks) {
    TW_TRY(recheck.candidate, name_of_build(recheck.comparison.candidate, view));
    if (!view.is_trusted) recheck.comparison.reason.clear();
    list += "<li>" + html_prose(report::recheck_text(recheck)) + "</li>\n";
  }
  return html_section("Measured again, newest first", "<ul>\n" + list + "</ul>\n");
}

Cell issue_cell(const IncidentRow& incident, const std::vector<storage::OutboxRow>& messages,
                const View& view) {
  if (incident.issue_number) {
    return {"#" + std::to_string(*incident.issue_number), view.to_issue(*incident.issue_number)};
  }
  return view.is_trusted ? report::issue_text(messages) : std::string("not filed yet");
}

/// Users and tokens of this machine are not for strangers.
void hide_askers(IncidentRow& incident) {
  if (incident.acceptance) incident.acceptance->asked_by.clear();
  for (auto& row : incident.decisions) row.decision.asked_by.clear();
}

std::string time_text(storage::WallMillis at, const View& view) {
  return at == 0 ? "" : platform::date_and_minute(at) + " UTC, " + age_text(at, view);
}

/// The command that shows the incident again; empty where its builds cannot be named to a reader.
Result<std::string> reproduce_command(const IncidentRow& incident,
                                      const storage::ComparisonRow& comparison, const View& view) {
  if (!comparison.baseline || !view.is_trusted) return std::string();
  storage::BuildStore builds(view.sources.database);
  TW_TRY(const auto baseline, builds.get(*comparison.baseline));
  TW_TRY(const auto candidate, builds.get(comparison.candidate));
  return report::reproduce_command(incident, baseline.name, candidate.name, comparison.plan_json);
}

}  // namespace

Result<http::Reply> get_incident(const http::Request& request, const Sources& sources) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  auto view = view_of(request, sources, "../");
  TW_TRY(auto incident, storage::IncidentStore(sources.database).get(id));
  if (!view.is_trusted) hide_askers(incident);
  TW_TRY(const auto messages, storage::OutboxStore(sources.database).of_incident(id));
  TW_TRY(const auto comparison,
         storage::ComparisonStore(sources.database).get(incident.comparison));
  view.confidence = comparison.confidence.value_or(sources.confidence);
  TW_TRY(const auto name, name_of_comparison(comparison, view));
  TW_TRY(const auto search, search_of(incident, view));
  TW_TRY(const auto effects, effects_section(incident, view));
  TW_TRY(const auto reproduce, reproduce_command(incident, comparison, view));
  TW_TRY(const auto rechecks, rechecks_section(incident, view));
  const auto facts =
      html_facts({{"incident", std::to_string(id) + ", " + std::string(to_string(incident.kind))},
                  {"state", report::state_text(incident)},
                  {"opened", time_text(incident.opened_at, view)},
                  {"closed", time_text(incident.closed_at, view)},
                  {"found by", {name, view.to_comparison(comparison.id)}},
                  {"issue", issue_cell(incident, messages, view)}});
  const auto* cause = bisection::leading(search.causes);
  const bool names_culprit = cause != nullptr && cause->commits.size() == 1;
  const auto advice = report::advice_on(incident, names_culprit, reproduce);
  return reply_with(view, incident.title + " - torchwatch",
                    "<h1>" + html_prose(incident.title) + "</h1>\n" + facts + effects +
                        causes_sections(incident, search, view) + rechecks +
                        decisions_section(incident) + html_section("What to do", answers(advice)) +
                        issue_details(messages, view));
}

}  // namespace torchwatch::pages
