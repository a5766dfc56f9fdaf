#include "torchwatch/site/parts.hpp"

#include <algorithm>
#include <ranges>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/documents/study.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/setback.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/setback_store.hpp"
#include "torchwatch/storage/study_store.hpp"

namespace torchwatch::pages {
namespace {

using html::Cell;
using html::Cells;

/// "99.7 % sure, +14.9 % [+13.5, +16.3] %".
std::string evidence_of(const report::CulpritFacts& cause) {
  std::string text;
  if (cause.confidence > 0) text = figures::confidence(cause.confidence) + " sure";
  if (!report::doubt_text(cause.revert).empty()) text = report::kInDoubt;
  if (cause.effects.empty()) return text;
  const auto& largest = *std::ranges::min_element(cause.effects, report::is_larger);
  const auto change = report::change_text(largest);
  if (change.empty()) return text;
  const auto interval = report::interval_text(largest);
  text += (text.empty() ? "" : ", ") + change;
  return interval.empty() ? text : text + " " + interval;
}

/// A link to the pull request that a subject ends with, as GitHub writes it: "... (#123)". Empty
/// without one.
html::Fragment pull_link(const std::string& subject, const View& view) {
  const auto begin = subject.rfind("(#");
  if (begin == std::string::npos || !subject.ends_with(")")) return {};
  const auto number = subject.substr(begin + 2, subject.size() - begin - 3);
  constexpr std::size_t kDigitsMax = 9;
  const bool is_number = !number.empty() && number.size() <= kDigitsMax &&
                         std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  const auto address = view.to_pull(number);
  if (!is_number || address.empty()) return {};
  return html::text(" · ") + html::link(address, "pull request #" + number);
}

/// "ada (ada-l on GitHub), 2026-08-16 10:00 UTC"; empty where nobody is known.
std::string author_of(const report::CommitFacts& commit) {
  if (commit.author.empty()) return "";
  const auto login = commit.login.empty() ? "" : " (" + commit.login + " on GitHub)";
  const auto time = platform::parse_iso_utc(commit.author_date);
  const auto date = time ? platform::date_and_minute(*time) + " UTC" : commit.author_date;
  return commit.author + login + ", " + date;
}

html::Fragment commit_list(const report::CulpritFacts& cause, const View& view) {
  std::vector<html::Fragment> commits;
  for (const auto& commit : cause.commits) {
    auto line = html::link(view.to_commit(commit.sha), commit.sha) +
                html::text(" " + commit.subject) + pull_link(commit.subject, view);
    const auto author = author_of(commit);
    if (!author.empty()) line += html::text(" · by " + author);
    commits.push_back(line);
  }
  return html::list(commits);
}

/// "+15.0 %": the largest of an incident's changes; tables order by the ratio.
Cell worst_change(const storage::IncidentRow& incident) {
  if (incident.kind == IncidentKind::lost) return "no result";
  std::vector<report::EffectFacts> effects;
  for (const auto& row : incident.series) effects.push_back(report::effect_of(row));
  const auto worst = std::ranges::min_element(effects, report::is_larger);
  if (worst == effects.end()) return "";
  Cell cell(report::change_text(*worst));
  if (worst->ratio > 0) cell.order = worst->ratio;
  return cell;
}

/// How long it is open, or was, in whole hours or days: it must not change with each look.
Cell time_open(const storage::IncidentRow& incident, const View& view) {
  constexpr int kHour = 3'600;
  constexpr int kDay = 24;
  const auto until = incident.closed_at == 0 ? view.sources.clock.wall_now() : incident.closed_at;
  const auto hours = static_cast<int>(seconds_between(incident.opened_at, until) / kHour);
  const auto text = hours < 1          ? "less than 1 h"
                    : hours < 2 * kDay ? std::to_string(hours) + " h"
                                       : std::to_string(hours / kDay) + " days";
  return {text, static_cast<double>(hours)};
}

/// The files that a commit changes; many of them folded away.
html::Fragment files_of(const report::CommitFacts& commit) {
  constexpr std::size_t kOpen = 8;
  constexpr std::size_t kMost = 200;
  const auto& paths = commit.changed_paths;
  if (paths.empty()) return {};
  std::vector<html::Fragment> items;
  for (std::size_t i = 0; i < std::min(paths.size(), kMost); ++i) {
    items.push_back(html::code(printable(paths[i])));
  }
  if (paths.size() > kMost) {
    items.push_back(html::text("and " + std::to_string(paths.size() - kMost) + " more"));
  }
  const auto said = short_sha(commit.sha) + " changes " + figures::count(paths.size(), "file");
  if (paths.size() > kOpen) return html::details(said, html::list(items));
  return html::paragraph(html::text(said + ":")) + html::list(items);
}

/// The files of all commits of a cause; or why nothing is known of one, where git is asked.
html::Fragment changes_of(const report::CulpritFacts& cause, const View& view) {
  if (!view.sources.commit_of) return {};
  html::Fragment content;
  std::string missing;
  for (const auto& commit : cause.commits) {
    content += files_of(commit);
    const bool is_known = !commit.author_date.empty();
    if (!is_known) missing += (missing.empty() ? "" : ", ") + short_sha(commit.sha);
  }
  if (missing.empty()) return content;
  return content + html::paragraph(html::text("Author and files of " + missing +
                                              " are not shown: the clone of [source] lacks " +
                                              (cause.commits.size() == 1 ? "it." : "them.")));
}

/// What a cause's probability is of, behind "99.7 % sure".
std::string sure_of(const report::CulpritFacts& cause) {
  if (cause.commits.size() != 1) return " that it is one of these";
  return cause.verified.empty() ? "" : ", its comparison with the commit before it included";
}

}  // namespace

std::string who_has(const storage::IncidentRow& incident) {
  if (incident.state != storage::IncidentState::acknowledged) return "";
  for (const auto& row : incident.decisions | std::views::reverse) {
    if (row.kind == storage::DecisionKind::acknowledged) return row.decision.by;
  }
  return "";
}

std::string name_of(const storage::BuildRow& build, const View& view) {
  const evidence::Context reader{.database = view.sources.database, .is_trusted = view.is_trusted};
  return evidence::name_of(build, reader);
}

Result<std::string> name_of_build(storage::Id id, const View& view) {
  TW_TRY(const auto build, storage::BuildStore(view.sources.database).get(id));
  return name_of(build, view);
}

Result<Pair> pair_of(const std::string& text) {
  constexpr std::string_view kDots = "...";
  const auto dots = text.find(kDots);
  if (dots == std::string::npos || dots == 0 || dots + kDots.size() == text.size()) {
    return fail(ErrorCode::not_found, "invalid pair \"" + text.substr(0, 100) +
                                          "\": must be the names of two builds, A...B");
  }
  return Pair{text.substr(0, dots), text.substr(dots + kDots.size())};
}

Result<std::string> name_of_comparison(const storage::ComparisonRow& row, const View& view) {
  TW_TRY(const auto candidate, name_of_build(row.candidate, view));
  if (!row.baseline) return candidate;
  TW_TRY(const auto study, storage::StudyStore(view.sources.database).find(row.id));
  if (study) return candidate + ", " + comparison::in_words(*study);
  TW_TRY(const auto baseline, name_of_build(*row.baseline, view));
  return candidate + " against " + baseline;
}

Search search_of(const storage::BisectionRow& row, const View& view) {
  Search search{.state = row.state, .causes = report::causes_of(row)};
  if (!view.sources.commit_of) return search;
  for (auto& cause : search.causes) {
    for (auto& commit : cause.commits) commit = view.sources.commit_of(commit.sha);
  }
  return search;
}

Result<Search> search_of(const storage::IncidentRow& incident, const View& view) {
  if (!incident.bisection) return Search{};
  TW_TRY(const auto row, storage::BisectionStore(view.sources.database).get(*incident.bisection));
  return search_of(row, view);
}

Result<std::string> waits_for(storage::ItemKind kind, const std::string& item, const View& view) {
  TW_TRY(const auto setback, storage::SetbackStore(view.sources.database).find({kind, item}));
  if (!setback) return std::string();
  if (view.is_trusted) return report::waiting_text(*setback);
  return "waits since " + platform::date_and_minute(setback->since) + " UTC";
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kCharacters = 160;
  const auto end = byte_of(text, kCharacters);
  return end == text.size() ? text : text.substr(0, end) + "…";
}

html::Fragment reason_table(const std::vector<storage::VerdictRow>& rows, const View& view) {
  html::Rows cells;
  for (const auto& row : rows) {
    cells.push_back({{row.series.benchmark.workload, view.to_series(row.series)},
                     report::configuration_text(row.series.benchmark),
                     to_string(row.series.metric),
                     view.is_trusted ? row.reason : ""});
  }
  return html::table({.columns = {{"workload", Cells::words},
                                  {"configuration", Cells::words},
                                  {"metric", Cells::words},
                                  {"reason"}},
                      .rows = std::move(cells)});
}

Cell cause_cell(const std::vector<report::CulpritFacts>& causes, const View& view) {
  const auto* cause = bisection::leading(causes);
  if (cause == nullptr) return "";
  const auto evidence = evidence_of(*cause);
  auto behind = evidence.empty() ? "" : "(" + evidence + ")";
  if (causes.size() > 1) {
    behind += (behind.empty() ? "and " : " and ") + figures::count(causes.size() - 1, "more cause");
  }
  if (cause->commits.size() != 1) {
    return {report::one_of_text(cause->commits.size()), "", behind};
  }
  const auto& commit = cause->commits.front();
  const auto subject = commit.subject.empty() ? "" : commit.subject + " ";
  return {short_sha(commit.sha), view.to_commit(commit.sha), subject + behind};
}

html::Fragment cause_section(const report::CulpritFacts& cause, const View& view) {
  auto content = commit_list(cause, view);
  if (cause.confidence > 0) {
    content += html::paragraph(html::text("torchwatch is " + figures::confidence(cause.confidence) +
                                          " sure" + sure_of(cause) + "."));
  }
  if (!cause.verified.empty()) {
    content += html::paragraph(html::text("Verified " + cause.verified + "."));
  }
  const auto doubt = report::doubt_text(cause.revert);
  if (!doubt.empty()) content += html::paragraph(html::text(doubt));
  if (!cause.effects.empty()) {
    content += html::paragraph(html::text("Compared with the commit before:")) +
               effect_table(cause.effects, view, report::kBisectionIntervalConfidence);
  }
  return html::section(report::heading_of(report::finding_of(cause)),
                       content + changes_of(cause, view));
}

html::Fragment unread_note(const report::Unread& unread) {
  const auto said = unread.text();
  if (said.empty()) return {};
  return html::paragraph(html::text("Not all of this page is there: " + said + "."), "summary bad");
}

Result<html::Fragment> incident_table(const std::vector<storage::IncidentRow>& incidents,
                                      const View& view) {
  html::Rows rows;
  for (const auto& incident : incidents) {
    report::Unread unread;
    TW_TRY(const auto search, unread.unless_damaged(search_of(incident, view), "its search"));
    const auto said = unread.text();
    const auto& number = incident.issue_number;
    rows.push_back(
        {{std::to_string(incident.id), view.to_incident(incident.id)},
         {incident.title, view.to_incident(incident.id)},
         worst_change(incident),
         said.empty() ? cause_cell(search.causes, view) : html::Cell(said),
         report::state_word(incident),
         who_has(incident),
         {number ? "#" + std::to_string(*number) : "", number ? view.to_issue(*number) : ""},
         platform::date_and_minute(incident.opened_at),
         time_open(incident, view)});
  }
  return html::table({.columns = {{"id", Cells::numbers},
                                  {"what"},
                                  {"worst change", Cells::numbers},
                                  {"culprit"},
                                  {"state", Cells::states},
                                  {"who has it"},
                                  {"issue", Cells::words},
                                  {"opened, UTC", Cells::words},
                                  {"open for", Cells::numbers}},
                      .rows = std::move(rows)});
}

Result<std::string> remark_on(const storage::ComparisonRow& row, const View& view) {
  if (is_end(row.state)) return view.is_trusted ? report::remark_on(row) : std::string();
  TW_TRY(auto waits, waits_for(storage::ItemKind::comparison, std::to_string(row.id), view));
  return waits.empty() && view.is_trusted ? report::remark_on(row) : waits;
}

html::Fragment effect_table(const std::vector<report::EffectFacts>& effects, const View& view,
                            double confidence) {
  html::Rows rows;
  for (const auto& effect : effects) {
    const auto& [benchmark, metric] = effect.series;
    const bool has_values = effect.baseline_value != 0 || effect.candidate_value != 0;
    const auto value = [&](double of) { return has_values ? figures::value(metric, of) : ""; };
    rows.push_back({{benchmark.workload, view.to_series(effect.series)},
                    report::configuration_text(benchmark),
                    to_string(metric),
                    report::change_text(effect),
                    report::interval_text(effect),
                    value(effect.baseline_value),
                    value(effect.candidate_value),
                    effect.runs > 0 ? std::to_string(effect.runs) : ""});
  }
  return html::table({.columns = {{"workload", Cells::words},
                                  {"configuration", Cells::words},
                                  {"metric", Cells::words},
                                  {"change", Cells::numbers},
                                  {report::interval_heading(confidence), Cells::numbers},
                                  {"baseline", Cells::numbers},
                                  {"candidate", Cells::numbers},
                                  {"runs", Cells::numbers}},
                      .rows = std::move(rows)});
}

html::Fragment reading_link(const View& view) {
  return html::paragraph(html::link(view.root + "help#reading", "How to read these figures"),
                         "more");
}

evidence::Context context_of(const View& view) {
  return {.database = view.sources.database,
          .is_trusted = view.is_trusted,
          .confidence = view.confidence,
          .threshold = view.sources.threshold,
          .exact_threshold = view.sources.exact_threshold,
          .threshold_of = view.sources.threshold_of,
          .links = {.series = [&view](const Series& series) { return view.to_series(series); },
                    .comparison = [&view](storage::Id id) { return view.to_comparison(id); },
                    .incident = [&view](storage::Id id) { return view.to_incident(id); },
                    .commit = [&view](const std::string& sha) { return view.to_commit(sha); }}};
}

evidence::Domains domains_of(const View& view) {
  evidence::Domains domains;
  if (!view.sources.suite) return domains;
  const auto suite = view.sources.suite();
  if (!suite) return domains;
  for (const auto& workload : *suite) {
    const auto domain = workload.find("domain");
    if (domain == workload.end() || !domain->is_string()) continue;
    domains[workload.value("name", "")] = domain->get<std::string>();
  }
  return domains;
}

html::Fragment drawn_data(const drawing::Table& data) {
  html::Table table;
  for (const auto& name : data.head) table.columns.push_back({name});
  for (const auto& row : data.rows) table.rows.emplace_back(row.begin(), row.end());
  return html::table(std::move(table));
}

html::Fragment older_than(storage::Id before, const View& view) {
  const auto address = view.with_parameter("before", std::to_string(before));
  return html::paragraph(html::link(address, "Older ones", "prev"), "more");
}

double seconds_between(storage::WallMillis from, storage::WallMillis to) {
  constexpr double kSecond = 1000;
  return static_cast<double>(to - from) / kSecond;
}

std::string age_text(storage::WallMillis at, const View& view) {
  return figures::age(seconds_between(at, view.sources.clock.wall_now()));
}

}  // namespace torchwatch::pages
