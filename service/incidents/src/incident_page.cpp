#include <algorithm>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/evidence/series.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/forms/actions.hpp"
#include "torchwatch/heard/heard.hpp"
#include "torchwatch/incidents/pages.hpp"
#include "torchwatch/operators/attribution.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/pictures/incident_drawings.hpp"
#include "torchwatch/profiles/pages.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/recheck.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::pages {
namespace {

using storage::IncidentRow;

bool is_disputed(const IncidentRow& incident) {
  return std::ranges::any_of(incident.decisions, [](const auto& row) {
    return row.kind == storage::DecisionKind::disputed;
  });
}

/// What is said of a search that has not ended. Who cancelled its comparison is not for strangers.
std::string open_search_text(const IncidentRow& incident, const storage::ComparisonRow& comparison,
                             const View& view) {
  if (is_disputed(incident)) return "The commit that was named is disputed; it is searched again.";
  if (comparison.state != storage::ComparisonState::cancelled) {
    return "The culprit is being searched.";
  }
  const auto id = std::to_string(comparison.id);
  const bool says_why = view.is_trusted && !comparison.reason.empty();
  return "The search for the culprit was cancelled with comparison " + id +
         (says_why ? ", " + comparison.reason : "") + ". `torchwatch comparison retry " + id +
         "` starts it again.";
}

html::Fragment causes_sections(const IncidentRow& incident,
                               const storage::ComparisonRow& comparison, const Search& search,
                               const View& view) {
  html::Fragment text;
  for (const auto& cause : search.causes) text += cause_section(cause, view);
  const auto steps = incident.bisection
                         ? html::paragraph(html::link(view.to_bisection(*incident.bisection),
                                                      "How it was searched, step by step"))
                         : html::Fragment();
  if (!search.causes.empty()) return text + steps;
  if (incident.kind == IncidentKind::lost) return {};
  std::string why = "No culprit was searched for: the commits of both builds are not known.";
  if (search.state == storage::BisectionState::ended) why = "No commit is blamed.";
  if (search.state == storage::BisectionState::open) {
    why = open_search_text(incident, comparison, view);
  }
  return html::section("Culprit", html::paragraph(html::text(why)) + steps);
}

/// The commands with which a person answers an incident.
html::Fragment answers(const std::vector<report::Advice>& advice) {
  std::vector<html::Fragment> items;
  for (const auto& [when, command] : advice) {
    items.push_back(html::text(when + ": ") + html::code(command));
  }
  return html::list(items);
}

/// The text of the issue, for trusted readers: what was measured where stands in it, and the
/// tracker may be private. Empty where there is none.
std::string issue_body(const std::vector<storage::OutboxRow>& messages, const View& view) {
  const auto issue = report::issue_in(messages);
  return issue && view.is_trusted ? issue->body : "";
}

/// The address of a benchmark's runs in a comparison, with their samples.
std::string runs_of(const storage::ComparisonRow& comparison, const Series& series,
                    const View& view) {
  return view.root + "api/v1/comparisons/" + std::to_string(comparison.id) +
         "/runs?workload=" + http::percent_encoded(series.benchmark.workload) +
         "&configuration=" + to_string(series.benchmark.configuration);
}

/// A drawing, and behind it what leads to its figures.
html::Fragment shown(const pictures::Drawn& drawn, const storage::ComparisonRow& comparison,
                     const View& view) {
  constexpr int kColumns = 100;
  auto content = html::figure(drawn.responsive(), drawn.text(kColumns), drawn.sentence,
                              drawn_data(drawn.table));
  if (drawn.what != pictures::Shown::samples || !drawn.series) return content;
  return content +
         html::paragraph(html::link(view.to_series(*drawn.series), "The past of this series") +
                         html::text(" · ") +
                         html::link(runs_of(comparison, *drawn.series, view), "its runs"));
}

/// What an incident rests on, as its issue shows it.
Result<html::Fragment> evidence_section(const IncidentRow& incident,
                                        const storage::ComparisonRow& comparison,
                                        const View& view) {
  pictures::StepsOf steps_of;
  if (view.sources.replay_of) {
    // What cannot be read of a search keeps nobody from the incident; the search's page says it.
    steps_of = [&view](const auto& row) -> Result<std::vector<report::TraceStep>> {
      return view.sources.replay_of(row).steps;
    };
  }
  TW_TRY(const auto drawn, pictures::drawings_of(context_of(view), incident, steps_of));
  if (drawn.empty()) return html::Fragment();
  html::Fragment content;
  for (const auto& each : drawn) content += shown(each, comparison, view);
  const auto picture = view.to_incident(incident.id) + "/evidence.svg";
  const auto figures = view.root + "api/v1/incidents/" + std::to_string(incident.id) + "/evidence";
  return html::section(
      "Evidence",
      content + html::paragraph(html::link(picture, "The same as a picture file") +
                                html::text(" · ") + html::link(figures, "its figures as JSON")),
      "evidence");
}

/// The end of what a lost workload printed, which is not for strangers.
Result<html::Fragment> output_of(const IncidentRow& incident, const View& view) {
  if (!view.is_trusted) return html::Fragment();
  TW_TRY(const auto loss, report::loss_of(view.sources.database, incident));
  if (loss.output.empty()) return html::Fragment();
  std::string lines;
  for (const auto& line : loss.output) lines += line + "\n";
  return html::paragraph(html::text("What the process printed last:")) + html::code_block(lines);
}

/// What changed, with the figures of the comparison that found it; of what was lost the reason.
struct Found {
  std::vector<report::EffectFacts> effects = {};  ///< the largest first
  html::Fragment section = {};
};

Result<Found> effects_of(const IncidentRow& incident, const View& view) {
  TW_TRY(auto effects, pictures::effects_of(view.sources.database, incident));
  Found found{.effects = std::move(effects)};
  std::vector<storage::VerdictRow> rows;
  for (const auto& row : incident.series) {
    TW_TRY(const auto verdict,
           storage::verdict_on(view.sources.database, incident.comparison, row.series));
    if (verdict) rows.push_back(*verdict);
  }
  if (found.effects.empty()) return found;
  if (incident.kind == IncidentKind::lost) {
    TW_TRY(const auto output, output_of(incident, view));
    found.section =
        html::section(report::is_lost_with_both(incident)
                          ? "No result with either build: look at the machine, not at the build"
                          : "What gives no result any more",
                      reason_table(rows, view) + output);
    return found;
  }
  found.section = html::section(
      "What changed", effect_table(found.effects, view, view.confidence) + reading_link(view));
  return found;
}

/// What people did to the issue. Titles and reasons are of a tracker that may be private.
Result<html::Fragment> events_section(storage::Id incident, const View& view) {
  TW_TRY(auto events, storage::ConversationStore(view.sources.database).events_of(incident));
  std::vector<html::Fragment> items;
  for (auto& event : events) {
    if (!view.is_trusted) event.detail.clear();
    items.push_back(html::text(printable(heard::event_text(event))));
  }
  return items.empty() ? html::Fragment()
                       : html::section("What was done to the issue", html::list(items));
}

/// What people decided, and what came of measuring it again, newest first. The reason of an end may
/// name paths.
Result<html::Fragment> log_section(const IncidentRow& incident, const View& view) {
  html::Fragment content;
  constexpr std::size_t kFewest = 2;
  if (incident.decisions.size() >= kFewest || is_disputed(incident)) {
    std::vector<html::Fragment> decisions;
    for (const auto& row : incident.decisions) {
      decisions.push_back(html::text(report::decision_text(row)));
    }
    content += html::section("What was decided", html::list(decisions));
  }
  TW_TRY(auto rechecks, report::rechecks_of(view.sources.database, incident));
  if (rechecks.empty()) return content;
  std::vector<html::Fragment> items;
  for (auto& recheck : rechecks) {
    TW_TRY(recheck.candidate, name_of_build(recheck.comparison.candidate, view));
    if (!view.is_trusted) recheck.comparison.reason.clear();
    items.push_back(html::text(report::recheck_text(recheck)));
  }
  return html::section("Measured again, newest first", html::list(items)) + content;
}

/// What is known in a sentence: how much, of what, by whom, and how sure that is.
html::Fragment verdict_sentence(const IncidentRow& incident, const Found& found,
                                const Search& search, const View& view) {
  if (found.effects.empty() || incident.kind == IncidentKind::lost) return {};
  const auto& worst = found.effects.front();
  auto said = html::text(to_string(worst.series) + " " + report::change_text(worst));
  const auto interval = report::interval_text(worst);
  if (!interval.empty()) said += html::text(" " + interval);
  if (found.effects.size() > 1) {
    said += html::text(", the worst of " + report::series_text(found.effects.size()));
  }
  const auto cause = cause_cell(search.causes, view);
  if (!cause.text.empty()) {
    const bool is_likely = report::finding_of(search.causes.front()) == report::Finding::likely;
    said += html::text(is_likely ? "; most likely culprit " : "; culprit ") +
            html::link(cause.link, cause.text) + html::text(" " + cause.more);
  }
  const bool is_over = incident.state == storage::IncidentState::closed;
  return html::paragraph(said + html::text(". More is worse."),
                         is_over ? "summary good" : "summary bad");
}

html::Cell issue_cell(const IncidentRow& incident, const std::vector<storage::OutboxRow>& messages,
                      const View& view) {
  if (incident.issue_number) {
    return {"#" + std::to_string(*incident.issue_number), view.to_issue(*incident.issue_number)};
  }
  return view.is_trusted ? html::Cell(report::issue_text(messages, incident.unfiled))
                         : "not filed yet";
}

/// Users and tokens of this machine are not for strangers.
void hide_askers(IncidentRow& incident) {
  if (incident.acceptance) incident.acceptance->asked_by.clear();
  for (auto& row : incident.decisions) row.decision.asked_by.clear();
}

std::string time_text(storage::WallMillis at, const View& view) {
  return at == 0 ? "" : platform::date_and_minute(at) + " UTC, " + age_text(at, view);
}

/// Traces of what changed most, before and after; compared only where its operators were not
/// watched, as on a GPU.
Result<html::Fragment> traces_of(const Found& found, const storage::ComparisonRow& comparison,
                                 bool is_watched, const View& view) {
  if (found.effects.empty() || !comparison.baseline) return html::Fragment();
  const auto& benchmark = found.effects.front().series.benchmark;
  html::Fragment difference;
  if (!is_watched) {
    TW_TRY(difference,
           profile_difference(benchmark, *comparison.baseline, comparison.candidate, view));
  }
  TW_TRY(const auto traces,
         traces_section(benchmark, {*comparison.baseline, comparison.candidate}, view));
  return difference + traces;
}

/// Whether the operators are those of what changed most.
bool watches_worst(const IncidentRow& incident, const Found& found) {
  return !found.effects.empty() &&
         operators::watched_benchmark(incident) == found.effects.front().series.benchmark;
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

/// What needs the comparison that found an incident.
struct Around {
  std::string found_by = {};
  html::Fragment evidence = {};
  html::Fragment operators = {};
  html::Fragment traces = {};
  std::string reproduce = {};
};

Result<Around> around_of(const IncidentRow& incident,
                         const std::optional<storage::ComparisonRow>& comparison,
                         const Found& found, const View& view, report::Unread& unread) {
  Around around{.found_by = "comparison " + std::to_string(incident.comparison)};
  if (!comparison) return around;
  TW_TRY(auto name, unread.unless_damaged(name_of_comparison(*comparison, view), "its builds"));
  if (!name.empty()) around.found_by = std::move(name);
  TW_TRY(around.evidence,
         unread.unless_damaged(evidence_section(incident, *comparison, view), "its evidence"));
  TW_TRY(around.operators,
         unread.unless_damaged(operators_section(incident, view), "its operators"));
  const bool is_watched = !around.operators.empty() && watches_worst(incident, found);
  TW_TRY(around.traces,
         unread.unless_damaged(traces_of(found, *comparison, is_watched, view), "its traces"));
  TW_TRY(around.reproduce,
         unread.unless_damaged(reproduce_command(incident, *comparison, view), "its builds"));
  return around;
}

Result<std::optional<storage::ComparisonRow>> comparison_of(const IncidentRow& incident,
                                                            storage::Database& database) {
  return storage::ComparisonStore(database).get(incident.comparison).map([](auto row) {
    return std::optional(std::move(row));
  });
}

}  // namespace

Result<Page> make_incident(const View& given) {
  auto view = given;
  TW_TRY_VOID(http::refuse_parameters(view.request));
  TW_TRY(const auto id, http::id_of(view.request));
  auto& database = view.sources.database;
  TW_TRY(auto incident, storage::IncidentStore(database).get(id));
  if (!view.is_trusted) hide_askers(incident);
  report::Unread unread;
  TW_TRY(const auto messages,
         unread.unless_damaged(storage::OutboxStore(database).of_incident(id), "its issue"));
  TW_TRY(const auto known,
         unread.unless_damaged(comparison_of(incident, database), "its comparison"));
  auto comparison = known.value_or(storage::ComparisonRow());
  comparison.id = incident.comparison;
  view.confidence = comparison.confidence.value_or(view.sources.confidence);
  TW_TRY(const auto search, unread.unless_damaged(search_of(incident, view), "its search"));
  TW_TRY(const auto found, unread.unless_damaged(effects_of(incident, view), "what changed"));
  TW_TRY(const auto around, around_of(incident, known, found, view, unread));
  TW_TRY(const auto log, unread.unless_damaged(log_section(incident, view), "what followed"));
  TW_TRY(const auto events,
         unread.unless_damaged(events_section(id, view), "what was done to its issue"));
  TW_TRY(const auto mutes,
         unread.unless_damaged(heard::mutes_of(database, incident, view.sources.clock.wall_now()),
                               "its mutes"));
  const auto facts =
      html::facts({{"incident", std::to_string(id) + ", " + std::string(to_string(incident.kind))},
                   {"state", report::state_text(incident)},
                   {"opened", time_text(incident.opened_at, view)},
                   {"closed", time_text(incident.closed_at, view)},
                   {"found by", {around.found_by, view.to_comparison(comparison.id)}},
                   {"issue", issue_cell(incident, messages, view)}});
  const bool names_culprit = std::ranges::any_of(
      search.causes, [](const auto& cause) { return cause.commits.size() == 1; });
  const auto advice = report::advice_on(incident, names_culprit, around.reproduce);
  const auto form = forms::for_incident(incident, !search.causes.empty(), view);
  const auto issue = issue_body(messages, view);
  auto content = html::title(incident.title) + unread_note(unread) +
                 verdict_sentence(incident, found, search, view) + facts + found.section +
                 around.evidence + around.operators +
                 causes_sections(incident, comparison, search, view) +
                 html::section("What to do", answers(advice) + form, "repeat") + around.traces +
                 mutes_section(mutes, view) + log + events;
  if (!issue.empty()) content += html::details("The text of the issue", html::code_block(issue));
  return Page{.title = incident.title,
              .content = content,
              .section = "Incidents",
              .way = {{view.root + "incidents", "Incidents"}},
              .markdown = issue.empty() ? "" : report::issue_markdown(messages)};
}

}  // namespace torchwatch::pages
