#include <algorithm>
#include <utility>

#include "items.hpp"
#include "overview_parts.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/statistics.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/site/stages.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::pages {
namespace {

using report::Unread;
using storage::ComparisonRow;
using storage::IncidentRow;

constexpr int kComparisonsShown = 20;
constexpr int kComparisonsRead = 200;  ///< for estimates
constexpr std::size_t kIncidentsShown = 20;
constexpr int kStripLength = 14;
constexpr std::size_t kEstimatedFrom = 5;     ///< comparisons that have ended
constexpr std::size_t kEstimatedFromMin = 3;  ///< fewer are named as what they are

/// What the newest nightly's comparison says, in the page's first sentence, and how it is coloured.
struct State {
  html::Fragment sentence;
  bool is_bad = false;
};

Result<State> state_of_newest(const ComparisonRow& row, const View& view) {
  TW_TRY(const auto verdicts, storage::verdicts_of(view.sources.database, row.id));
  TW_TRY(const auto incidents, storage::IncidentStore(view.sources.database).of_comparison(row.id));
  TW_TRY(const auto name, name_of_comparison(row, view));
  const auto sorted = report::sorted(verdicts, incidents);
  const bool is_bad = !sorted.regressed.empty() || !sorted.lost.empty();
  if (verdicts.empty())
    return State{html::text(name + ": " + std::string(to_string(row.state)) + "."), false};
  auto sentence = html::link(view.to_comparison(row.id), name) +
                  html::text(": " + report::outcome_text(sorted));
  std::vector<html::Fragment> culprits;
  for (const auto& incident : incidents) {
    TW_TRY(const auto search, search_of(incident, view));
    const auto cell = cause_cell(search.causes, view);
    if (cell.text.empty()) continue;
    const auto said = html::link(cell.link, cell.text) + html::text(" " + cell.more);
    const bool is_known =
        std::ranges::find(culprits, said.html, &html::Fragment::html) != culprits.end();
    if (!is_known) culprits.push_back(said);
  }
  for (const auto& culprit : culprits) {
    sentence += html::text(&culprit == &culprits.front() ? ". Culprit: " : " and ") + culprit;
  }
  if (culprits.empty() && !incidents.empty()) sentence += html::text(", no culprit named");
  return State{sentence + html::text("."), is_bad};
}

/// "; such comparisons took 11 min 4 s lately": the median of those before for the same purpose.
std::string estimate_for(const ComparisonRow& row, const std::vector<ComparisonRow>& newest) {
  std::vector<double> durations;
  for (const auto& earlier : newest) {
    const bool is_like = earlier.id < row.id && earlier.purpose == row.purpose &&
                         earlier.state == storage::ComparisonState::reported;
    if (is_like) durations.push_back(seconds_between(earlier.created_at, earlier.ended_at));
    if (durations.size() == kEstimatedFrom) break;
  }
  if (durations.empty()) return "";
  if (durations.size() < kEstimatedFromMin) {
    return "; the one before took " + figures::duration(durations.front());
  }
  return "; such comparisons took " + figures::duration(median(durations)) + " lately";
}

/// "2 open incidents, the oldest since 2026-11-17; ada has it."; empty without one.
std::string open_incidents_text(const std::vector<IncidentRow>& open) {
  if (open.empty()) return "";
  const auto& oldest = *std::ranges::min_element(
      open, {}, [](const IncidentRow& row) { return std::pair(row.opened_at, row.id); });
  const auto since = platform::date_and_minute(oldest.opened_at);
  const auto by = who_has(oldest);
  return figures::count(open.size(), "open incident") +
         (open.size() == 1 ? ", since " : ", the oldest since ") +
         since.substr(0, since.find(' ')) + "; " +
         (by.empty() ? "nobody has it yet." : by + " has it.");
}

/// What is being done, and what waits until it can be.
struct Work {
  std::vector<html::Fragment> under_way;
  std::vector<html::Fragment> waiting;
  html::Fragment stages;  ///< of the searches under way
};

Status add_comparisons(const View& view, Work& work) {
  storage::ComparisonStore store(view.sources.database);
  TW_TRY(const auto comparisons, store.unfinished());
  TW_TRY(const auto newest, store.list(kComparisonsRead));
  for (const auto& row : comparisons) {
    TW_TRY(const auto name, name_of_comparison(row, view));
    TW_TRY(const auto state,
           report::result_word(view.sources.database, row, view.service_now.doing.comparison));
    TW_TRY(const auto waits,
           waits_for(storage::ItemKind::comparison, std::to_string(row.id), view));
    const bool is_waiting = !waits.empty() || state == "waiting";
    const auto said = waits.empty() ? state + ", asked for " + age_text(row.created_at, view) +
                                          (is_waiting ? "" : estimate_for(row, newest))
                                    : shortened(waits);
    (is_waiting ? work.waiting : work.under_way)
        .push_back(html::link(view.to_comparison(row.id), name) + html::text(": " + said));
  }
  return {};
}

/// How long a search takes, as the queue has it.
std::optional<evidence::Estimate> whole_search(storage::Id search,
                                               const std::vector<evidence::QueuedItem>& queue) {
  for (const auto& item : queue) {
    if (item.kind == storage::ItemKind::bisection && item.id == search) return item.estimate;
  }
  return std::nullopt;
}

Status add_searches(const View& view, Work& work) {
  TW_TRY(const auto searches, storage::BisectionStore(view.sources.database).unfinished());
  if (searches.empty()) return {};
  TW_TRY(const auto queue, evidence::queue_of(view.sources.database));
  for (const auto& row : searches) {
    const auto what = row.incident ? "incident " + std::to_string(*row.incident) : "a request";
    const auto link = html::link(row.incident ? view.to_incident(*row.incident) : "", what);
    TW_TRY(const auto waits, waits_for(storage::ItemKind::bisection, std::to_string(row.id), view));
    const auto said = waits.empty() ? "begun " + age_text(row.created_at, view) : shortened(waits);
    auto item = html::link(view.to_bisection(row.id), "search") +
                html::text(" for the culprit of ") + link + html::text(", " + said);
    if (!waits.empty()) {
      work.waiting.push_back(item);
      continue;
    }
    work.under_way.push_back(item);
    work.stages += stages_of(row, whole_search(row.id, queue), view);
  }
  return {};
}

Status add_requests(const View& view, Work& work) {
  storage::RequestStore store(view.sources.database);
  TW_TRY(const auto requests, store.with_state(storage::RequestState::pending));
  for (const auto& row : requests) {
    TW_TRY(const auto waits, waits_for(storage::ItemKind::request, std::to_string(row.id), view));
    const auto said = waits.empty() ? "asked for " + age_text(row.created_at, view) : waits;
    work.waiting.push_back(
        html::text("request " + std::to_string(row.id) + ": " + shortened(said)));
  }
  return {};
}

bool is_at_work(const View& view) {
  return !view.service_now.doing.what.empty();
}

/// "At work: preparing the runner of 2026-08-17, since 40 s." It may name a folder.
html::Fragment at_work(const View& view) {
  const auto& doing = view.service_now.doing;
  if (!is_at_work(view)) return {};
  if (!view.is_trusted) return html::paragraph(html::text("The daemon is at work."));
  const auto seconds = seconds_between(doing.since, view.sources.clock.wall_now());
  return html::paragraph(
      html::text("At work: " + doing.what + ", since " + figures::duration(seconds) + "."));
}

Result<html::Fragment> work_sections(const View& view) {
  Work work;
  TW_TRY_VOID(add_comparisons(view, work));
  TW_TRY_VOID(add_searches(view, work));
  TW_TRY_VOID(add_requests(view, work));
  auto under_way = at_work(view);
  if (!work.under_way.empty()) {
    under_way += html::list(work.under_way) + work.stages;
  } else if (!is_at_work(view)) {
    under_way += html::paragraph(html::text("Nothing is under way."));
  }
  under_way += html::paragraph(html::link(view.root + "queue", "The whole queue"), "more");
  const auto text = html::section("Under way", under_way);
  return work.waiting.empty() ? text : text + html::section("Waiting", html::list(work.waiting));
}

/// The newest nightlies that are not compared, with why; their reasons may name paths.
Result<html::Fragment> left_out_section(const View& view) {
  TW_TRY(const auto builds, report::left_out_nightlies(view.sources.database));
  if (builds.empty()) return html::Fragment();
  std::vector<html::Fragment> items;
  for (const auto& build : builds) {
    const auto reason = view.is_trusted ? report::reason_of(build) : "see `torchwatch status`";
    items.push_back(html::text(build.name + ": " + reason));
  }
  return html::block("problems",
                     html::paragraph(html::text("Nightlies left out:")) + html::list(items));
}

/// What the newest nightly is at or came to, unless that is a verdict: "2026-08-17 against
/// 2026-08-16: preparing".
Result<html::Fragment> without_verdict(const ComparisonRow& row, const View& view) {
  TW_TRY(const auto name, name_of_comparison(row, view));
  TW_TRY(const auto word,
         report::result_word(view.sources.database, row, view.service_now.doing.comparison));
  return html::paragraph(html::text("The newest nightly, ") +
                         html::link(view.to_comparison(row.id), name) +
                         html::text(", has no verdict: " + word + "."));
}

/// Says what is at work and until when, from how long its like took.
Result<html::Fragment> what_happens_next(const storage::DataTimes& times, const View& view) {
  TW_TRY(const auto current,
         evidence::current_comparison(view.sources.database, view.service_now.doing.comparison));
  if (!current) {
    TW_TRY(const auto when, expectation_of_nightly(times, view));
    return html::paragraph(
        html::text("Next: the comparison of the next nightly, once its build is there.") + when);
  }
  TW_TRY(const auto progress,
         evidence::progress_of(view.sources.database, *current, view.sources.clock.wall_now()));
  TW_TRY(const auto name, name_of_comparison(*current, view));
  return html::paragraph(html::text("Next: ") + html::link(view.to_comparison(current->id), name) +
                         html::text(".")) +
         stages_of(progress, view);
}

std::string age_of_verdicts(const ComparisonRow& row, const View& view) {
  if (!is_end(row.state)) return "The comparison has not ended yet";
  return "The newest verdicts came " + age_text(row.ended_at, view);
}

/// What the newest nightly came to, or is at, and whether incidents are open.
Result<html::Fragment> newest_nightly(const View& view, const std::vector<IncidentRow>& open) {
  TW_TRY(const auto newest, report::newest_nightly(view.sources.database));
  const auto incidents = open_incidents_text(open);
  const auto behind = html::text(incidents.empty() ? "" : " " + incidents);
  html::Fragment said;
  if (newest.judged) {
    TW_TRY(const auto state, state_of_newest(*newest.judged, view));
    const bool is_bad = state.is_bad || !open.empty();
    said = html::paragraph(state.sentence + behind, is_bad ? "summary bad" : "summary good") +
           html::paragraph(html::text(age_of_verdicts(*newest.judged, view) + "."), "age");
  } else {
    said = html::paragraph(html::text("No nightly has a verdict yet.") + behind,
                           open.empty() ? "summary" : "summary bad");
  }
  if (newest.known && (!newest.judged || newest.known->id != newest.judged->id)) {
    TW_TRY(const auto state, without_verdict(*newest.known, view));
    said += state;
  }
  return said;
}

Result<html::Fragment> now_section(const View& view, const std::vector<IncidentRow>& open,
                                   Unread& unread) {
  TW_TRY(const auto times, unread.unless_damaged(storage::AlarmStore(view.sources.database).times(),
                                                 "when data came last"));
  TW_TRY(const auto newest,
         unread.unless_damaged(newest_nightly(view, open), "what the newest nightly came to"));
  TW_TRY(const auto health, health_of_service(times, view, unread));
  TW_TRY(const auto next,
         unread.unless_damaged(what_happens_next(times, view), "what happens next"));
  TW_TRY(const auto work, unread.unless_damaged(work_sections(view), "what is under way"));
  TW_TRY(const auto left_out,
         unread.unless_damaged(left_out_section(view), "which nightlies are left out"));
  return newest + health + next + left_out + work;
}

/// The last nightlies as a row of words, the oldest left: a link and a result each.
Result<html::Fragment> nightlies_strip(const View& view) {
  storage::ComparisonStore comparisons(view.sources.database);
  TW_TRY(const auto newest, comparisons.nightlies_before(INT64_MAX, kStripLength));
  html::Fragment strip{"<ol class=\"strip\">\n", "", {}};
  for (auto i = newest.size(); i-- > 0;) {
    const auto& row = newest[i];
    const auto word =
        report::result_word(view.sources.database, row, view.service_now.doing.comparison);
    const auto name =
        name_of_build(row.candidate, view).value_or("comparison " + std::to_string(row.id));
    const auto link = html::link(view.to_comparison(row.id), name);
    // One that cannot be read keeps back no other; the table below says more.
    const auto said = word ? html::state(*word) : html::text("cannot be read");
    strip += {"<li>" + link.html + " " + said.html + "</li>\n",
              "- " + link.markdown + ": " + said.markdown + "\n",
              {}};
  }
  if (newest.empty()) return html::Fragment();
  return strip + html::Fragment{"</ol>\n", "\n", {}};
}

/// Shows how often the service is wrong: the tally of builds compared with themselves, and of
/// planted slowdowns.
Result<html::Fragment> self_tests(const View& view) {
  TW_TRY(const auto tallies, storage::ComparisonStore(view.sources.database).self_tests());
  TW_TRY(const auto drills, storage::drills(view.sources.database));
  const auto misses = html::paragraph(html::text(report::drills_text(drills)));
  const auto all = storage::sum_of(tallies);
  if (all.series == 0) {
    return html::paragraph(html::text("No build has been compared with itself yet.")) + misses;
  }
  html::Rows rows;
  for (const auto& tally : tallies) {
    rows.push_back({to_string(tally.metric), std::to_string(tally.series),
                    std::to_string(tally.regressed), std::to_string(tally.improved),
                    std::to_string(tally.inconclusive), report::false_alarms_bound_text(tally)});
  }
  using html::Cells;
  auto table = html::table({.columns = {{"metric", Cells::words},
                                        {"series", Cells::numbers},
                                        {"called slower", Cells::numbers},
                                        {"called faster", Cells::numbers},
                                        {"inconclusive", Cells::numbers},
                                        {"false-alarm rate, 95 % upper bound", Cells::numbers}},
                            .rows = std::move(rows)});
  return html::paragraph(html::text(report::self_tests_text(all))) +
         html::details("By metric", table) + misses;
}

html::Fragment more(const View& view, const char* address, const char* text) {
  return html::paragraph(html::link(view.root + address, text), "more");
}

}  // namespace

Result<Page> make_overview(const View& view) {
  TW_TRY_VOID(http::refuse_parameters(view.request));
  auto& database = view.sources.database;
  Unread unread;
  TW_TRY(auto open,
         unread.unless_damaged(storage::IncidentStore(database).unclosed(), "the open incidents"));
  TW_TRY(const auto now, now_section(view, open, unread));
  if (open.size() > kIncidentsShown) open.resize(kIncidentsShown);
  TW_TRY(const auto incidents, incident_table(open, view));
  TW_TRY(const auto newest, storage::ComparisonStore(database).list_each(kComparisonsShown));
  const auto comparisons = comparison_table(newest, view);
  TW_TRY(const auto strip, unread.unless_damaged(nightlies_strip(view), "the last nightlies"));
  TW_TRY(const auto accuracy, unread.unless_damaged(self_tests(view), "how far to trust it"));
  auto content = html::title("Newest nightly") + unread_note(unread) + now;
  content += html::section("Open incidents", incidents + more(view, "incidents", "All incidents"));
  content += html::section("Newest comparisons",
                           strip + comparisons + more(view, "comparisons", "All comparisons"));
  content += html::section("How far to trust it", accuracy);
  return Page{.title = "", .content = content, .section = "Tonight"};
}

}  // namespace torchwatch::pages
