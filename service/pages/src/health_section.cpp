#include "overview_parts.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/runs/drills.hpp"
#include "torchwatch/site/parts.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::pages {
namespace {

using report::Unread;
using storage::Purpose;

html::Fragment state_of_service(const View& view) {
  const auto& problems = view.service_now.problems;
  if (problems.empty()) {
    return html::paragraph(html::text("The service itself is well."), "age");
  }
  std::vector<html::Fragment> items;
  for (const auto& problem : problems) {
    const auto item = problem.item.empty() ? "" : " " + problem.item;
    items.push_back(html::text(problem.source + item + ": " + text_of(problem, view.is_trusted)));
  }
  return html::block("problems",
                     html::paragraph(html::text("Not everything works:")) + html::list(items));
}

using storage::ComparisonRow;
using storage::ComparisonStore;

Result<std::string> result_of_self_test(storage::Database& database, const ComparisonRow& row) {
  auto counted = ComparisonStore(database).verdict_counts({row.id});
  TW_TRY(auto counts, std::move(counted[row.id]));
  const auto changed = counts[Verdict::regressed] + counts[Verdict::improved];
  const auto judged = changed + counts[Verdict::unchanged] + counts[Verdict::inconclusive];
  return "of " + figures::grouped(judged) + " series " + std::to_string(changed) +
         " called changed";
}

Result<std::string> result_of_drill(storage::Database& database, const ComparisonRow& row) {
  TW_TRY(const auto word, report::result_word(database, row));
  if (word == "inconclusive") return "no verdict on the planted slowdown";
  return "the planted slowdown was " + word;
}

/// "2026-11-20 03:12 UTC (6 days ago): of 336 series 0 called changed".
template <typename ResultOf>
Result<std::optional<html::Cell>> newest_of(Purpose purpose, const View& view, ResultOf result_of) {
  auto& database = view.sources.database;
  TW_TRY(const auto id, storage::newest_reported(database, purpose));
  if (!id) return html::Cell("none yet");
  TW_TRY(const auto row, ComparisonStore(database).get(*id));
  TW_TRY(const auto result, result_of(database, row));
  return html::Cell(platform::date_and_minute(row.ended_at) + " UTC", view.to_comparison(*id),
                    "(" + age_text(row.ended_at, view) + "): " + result);
}

/// Only those learn of the disk who see paths, too.
std::string free_disk(const View& view) {
  const auto& free = view.service_now.free_cache_bytes;
  return free && view.is_trusted ? figures::bytes(*free) + " on the disk of [build] cache" : "";
}

std::string last_delivery(const storage::DataTimes& times, const View& view) {
  if (view.sources.issues_address.empty()) return "";
  if (!times.last_delivery) return "none yet";
  return platform::date_and_minute(*times.last_delivery) + " UTC (" +
         age_text(*times.last_delivery, view) + ")";
}

}  // namespace

Result<html::Fragment> health_of_service(const storage::DataTimes& times, const View& view,
                                         Unread& unread) {
  const auto state = state_of_service(view);
  TW_TRY(const auto self_test,
         unread.unless_damaged(newest_of(Purpose::self_test, view, result_of_self_test),
                               "the newest self-test"));
  TW_TRY(const auto drill, unread.unless_damaged(newest_of(Purpose::drill, view, result_of_drill),
                                                 "the newest drill"));
  return state + html::facts({{"free disk", free_disk(view)},
                              {"last self-test", self_test.value_or("")},
                              {"last drill", drill.value_or("")},
                              {"last delivery to GitHub", last_delivery(times, view)}});
}

}  // namespace torchwatch::pages
