#include "overview.hpp"

#include <algorithm>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/statistics.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::pages {
namespace {

using storage::ComparisonRow;
using storage::IncidentRow;

constexpr int kComparisonsShown = 20;
/// Open incidents are looked for among the newest: older ones that are still open are in the list.
constexpr int kIncidentsRead = 200;
constexpr int kComparisonsRead = 200;  ///< for estimates
constexpr std::size_t kIncidentsShown = 20;
constexpr std::size_t kEstimatedFrom = 5;     ///< comparisons that have ended
constexpr std::size_t kEstimatedFromMin = 3;  ///< fewer are named as what they are

/// What the newest nightly's comparison says, in the page's first sentence, and how it is coloured.
struct State {
  std::string sentence;
  bool is_bad = false;
};

Result<State> state_of_newest(const ComparisonRow& row, const View& view) {
  TW_TRY(const auto verdicts, storage::ComparisonStore(view.sources.database).verdicts_of(row.id));
  TW_TRY(const auto incidents, storage::IncidentStore(view.sources.database).of_comparison(row.id));
  TW_TRY(const auto name, name_of_comparison(row, view));
  const auto sorted = report::sorted(verdicts, incidents);
  const bool is_bad = !sorted.regressed.empty() || !sorted.lost.empty();
  if (verdicts.empty())
    return State{html_prose(name + ": " + std::string(to_string(row.state))), false};
  auto sentence =
      html_link(view.to_comparison(row.id), name) + ": " + html_prose(report::outcome_text(sorted));
  std::vector<std::string> culprits;
  for (const auto& incident : incidents) {
    TW_TRY(const auto search, search_of(incident, view));
    const auto cell = cause_cell(search.causes, view);
    if (cell.text.empty()) continue;
    const auto said = html_link(cell.link, cell.text) + " " + html_prose(cell.more);
    if (std::ranges::find(culprits, said) == culprits.end()) culprits.push_back(said);
  }
  for (const auto& culprit : culprits) {
    sentence += (&culprit == &culprits.front() ? ". Culprit: " : " and ") + culprit;
  }
  if (culprits.empty() && !incidents.empty()) sentence += ", no culprit named";
  return State{sentence + ".", is_bad};
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

/// Items of HTML: what is being done, and what waits until it can be.
struct Work {
  std::vector<std::string> under_way;
  std::vector<std::string> waiting;
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
        .push_back(html_link(view.to_comparison(row.id), name) + ": " + html_prose(said));
  }
  return {};
}

Status add_searches(const View& view, Work& work) {
  TW_TRY(const auto searches, storage::BisectionStore(view.sources.database).unfinished());
  for (const auto& row : searches) {
    const auto what = row.incident ? "incident " + std::to_string(*row.incident) : "a request";
    const auto link = html_link(row.incident ? view.to_incident(*row.incident) : "", what);
    TW_TRY(const auto waits, waits_for(storage::ItemKind::bisection, std::to_string(row.id), view));
    const auto said = waits.empty() ? "begun " + age_text(row.created_at, view) : shortened(waits);
    (waits.empty() ? work.under_way : work.waiting)
        .push_back("search for the culprit of " + link + ", " + html_prose(said));
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
        html_prose("request " + std::to_string(row.id) + ": " + shortened(said)));
  }
  return {};
}

std::string html_list(const std::vector<std::string>& items) {
  std::string list;
  for (const auto& item : items) list += "<li>" + item + "</li>\n";
  return "<ul>\n" + list + "</ul>\n";
}

bool is_at_work(const View& view) {
  return !view.service_now.doing.what.empty();
}

/// "At work: preparing the runner of 2026-08-17, since 40 s." It may name a folder.
std::string at_work(const View& view) {
  const auto& doing = view.service_now.doing;
  if (!is_at_work(view)) return "";
  if (!view.is_trusted) return "<p>The daemon is at work.</p>\n";
  const auto seconds = seconds_between(doing.since, view.sources.clock.wall_now());
  return "<p>At work: " + html_text(doing.what + ", since " + figures::duration(seconds)) +
         ".</p>\n";
}

Result<std::string> work_sections(const View& view) {
  Work work;
  TW_TRY_VOID(add_comparisons(view, work));
  TW_TRY_VOID(add_searches(view, work));
  TW_TRY_VOID(add_requests(view, work));
  auto text = "<h2>Under way</h2>\n" + at_work(view);
  if (!work.under_way.empty()) {
    text += html_list(work.under_way);
  } else if (!is_at_work(view)) {
    text += "<p>Nothing is under way.</p>\n";
  }
  if (work.waiting.empty()) return text;
  return text + "<h2>Waiting</h2>\n" + html_list(work.waiting);
}

std::string health(const View& view) {
  const auto& problems = view.service_now.problems;
  if (problems.empty()) return "";
  std::string list;
  for (const auto& problem : problems) {
    const auto item = problem.item.empty() ? "" : " " + problem.item;
    list += "<li>" + html_prose(problem.source + item + ": " + text_of(problem, view.is_trusted)) +
            "</li>\n";
  }
  return "<div class=\"problems\">\n<p>Not everything works:</p>\n<ul>\n" + list +
         "</ul>\n</div>\n";
}

/// The newest nightlies that are not compared, with why; their reasons may name paths.
Result<std::string> left_out_section(const View& view) {
  TW_TRY(const auto builds, report::left_out_nightlies(view.sources.database));
  if (builds.empty()) return "";
  std::string list;
  for (const auto& build : builds) {
    const auto reason = view.is_trusted ? report::reason_of(build) : "see `torchwatch status`";
    list += "<li>" + html_prose(build.name + ": " + reason) + "</li>\n";
  }
  return "<div class=\"problems\">\n<p>Nightlies left out:</p>\n<ul>\n" + list + "</ul>\n</div>\n";
}

/// What the newest nightly is at or came to, unless that is a verdict: "2026-08-17 against
/// 2026-08-16: preparing".
Result<std::string> without_verdict(const ComparisonRow& row, const View& view) {
  TW_TRY(const auto name, name_of_comparison(row, view));
  TW_TRY(const auto word,
         report::result_word(view.sources.database, row, view.service_now.doing.comparison));
  return "<p>The newest nightly, " + html_link(view.to_comparison(row.id), name) +
         ", has no verdict: " + html_text(word) + ".</p>\n";
}

std::string age_of_verdicts(const ComparisonRow& row, const View& view) {
  if (!is_end(row.state)) return "The comparison has not ended yet";
  return "The newest verdicts came " + age_text(row.ended_at, view);
}

Result<std::string> now_section(const View& view, std::size_t open_incidents) {
  TW_TRY(const auto newest, report::newest_nightly(view.sources.database));
  std::string text;
  if (newest.judged) {
    TW_TRY(const auto state, state_of_newest(*newest.judged, view));
    text = "<p class=\"summary " + std::string(state.is_bad ? "bad" : "good") + "\">" +
           state.sentence + "</p>\n<p class=\"age\">" +
           html_text(age_of_verdicts(*newest.judged, view)) + "; " +
           figures::count(open_incidents, "open incident") + ".</p>\n";
  } else {
    text = "<p class=\"summary\">No nightly has a verdict yet.</p>\n";
  }
  if (newest.known && (!newest.judged || newest.known->id != newest.judged->id)) {
    TW_TRY(const auto said, without_verdict(*newest.known, view));
    text += said;
  }
  TW_TRY(const auto work, work_sections(view));
  TW_TRY(const auto left_out, left_out_section(view));
  return "<section>\n<h1>Newest nightly</h1>\n" + text + health(view) + left_out + work +
         "</section>\n";
}

/// Shows how often the service is wrong: the tally of builds compared with themselves.
Result<std::string> self_tests(const View& view) {
  TW_TRY(const auto tallies, storage::ComparisonStore(view.sources.database).self_tests());
  const auto all = storage::sum_of(tallies);
  if (all.series == 0) return "<p>No build has been compared with itself yet.</p>\n";
  Rows rows;
  for (const auto& tally : tallies) {
    rows.push_back({to_string(tally.metric), std::to_string(tally.series),
                    std::to_string(tally.regressed), std::to_string(tally.improved),
                    std::to_string(tally.inconclusive), report::false_alarms_bound_text(tally)});
  }
  return "<p>" + html_text(report::self_tests_text(all)) +
         "</p>\n<details>\n<summary>By metric</summary>\n" +
         html_table({{"metric", Cells::words},
                     {"series", Cells::numbers},
                     {"called slower", Cells::numbers},
                     {"called faster", Cells::numbers},
                     {"inconclusive", Cells::numbers},
                     {"false-alarm rate, 95 % upper bound", Cells::numbers}},
                    rows) +
         "</details>\n";
}

}  // namespace

Result<http::Reply> get_overview(const http::Request& request, const Sources& sources) {
  TW_TRY_VOID(http::refuse_parameters(request));
  const auto view = view_of(request, sources, "");
  TW_TRY(auto open, storage::IncidentStore(sources.database).list(kIncidentsRead));
  std::erase_if(open,
                [](const IncidentRow& row) { return row.state == storage::IncidentState::closed; });
  TW_TRY(const auto now, now_section(view, open.size()));
  if (open.size() > kIncidentsShown) open.resize(kIncidentsShown);
  TW_TRY(const auto incidents, incident_table(open, view));
  TW_TRY(const auto newest, storage::ComparisonStore(sources.database).list(kComparisonsShown));
  TW_TRY(const auto comparisons, comparison_table(newest, view));
  TW_TRY(const auto accuracy, self_tests(view));
  const auto more = [](const char* address, const char* text) {
    return "<p class=\"more\">" + html_link(address, text) + "</p>\n";
  };
  return reply_with(
      view, "torchwatch",
      now + html_section("Open incidents", incidents + more("incidents", "All incidents")) +
          html_section("Newest comparisons", comparisons + more("comparisons", "All comparisons")) +
          html_section("How far to trust it", accuracy));
}

}  // namespace torchwatch::pages
