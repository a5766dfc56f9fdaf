#include "range_section.hpp"

#include <algorithm>
#include <map>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/report/wording.hpp"
#include "torchwatch/site/parts.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::pages {
namespace {

using bisection::EventKind;
using html::Cells;
using report::RangeCommit;
using Steps = std::vector<report::TraceStep>;

/// What became of a commit that was tried, from what came last.
struct Tried {
  bool is_built = false;
  bool is_measured = false;
  bool is_unbuildable = false;
  std::string reason = {};  ///< why it does not build
  std::optional<std::size_t> place = {};
};
using AllTried = std::map<std::string, Tried>;

void note(const report::TraceStep& step, AllTried& all) {
  if (step.commit.empty()) return;
  auto& tried = all[step.commit];
  if (step.place) tried.place = step.place;
  if (step.kind == EventKind::built) tried.is_built = true;
  if (step.kind == EventKind::measured || step.kind == EventKind::measured_alone) {
    tried.is_measured = true;
    if (!step.against.empty()) all[step.against].is_measured = true;
  }
  if (step.kind != EventKind::unbuildable) return;
  tried.is_unbuildable = true;
  tried.reason = step.reason;
}

AllTried tried_in(const Steps& steps) {
  AllTried all;
  for (const auto& step : steps) note(step, all);
  return all;
}

/// The commits that were tried, in the place of a range that cannot be read.
std::vector<RangeCommit> listed(const AllTried& all, const std::string& good) {
  std::vector<RangeCommit> commits;
  for (const auto& [sha, tried] : all) {
    if (sha != good && tried.place) commits.push_back({.sha = sha, .place = tried.place});
  }
  std::ranges::sort(commits, {}, &RangeCommit::place);
  return commits;
}

/// What is believed of each class after the last step that moved a belief.
std::vector<double> last_belief(const Steps& steps) {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const auto& masses = step->posterior;
    if (std::ranges::any_of(masses, [](double mass) { return mass > 0; })) return masses;
  }
  return {};
}

/// What is said of a commit that a search found, behind what was done to it.
std::string_view words_of(report::Finding finding) {
  if (finding == report::Finding::named) return ", the culprit";
  return finding == report::Finding::likely ? ", most likely the culprit" : ", perhaps the culprit";
}

/// The commits that a search found, each with the words for it.
std::map<std::string, std::string_view> culprits_of(const storage::BisectionRow& row) {
  std::map<std::string, std::string_view> found;
  const auto result = bisection::parse_bisection_result(row.result_json);
  if (!result) return found;
  for (const auto& culprit : result->culprits) {
    for (const auto& commit : culprit.commits) {
      found.emplace(commit, words_of(report::finding_of(culprit)));
    }
  }
  return found;
}

/// The newest build of each commit.
Result<std::map<std::string, storage::Id>> builds_of(const View& view) {
  TW_TRY(const auto rows, storage::BuildStore(view.sources.database).list());
  std::map<std::string, storage::Id> builds;
  for (const auto& row : rows) {
    if (row.origin != storage::BuildOrigin::commit) continue;
    auto& known = builds[row.name];
    known = std::max(known, row.id);
  }
  return builds;
}

std::string state_of(const RangeCommit& commit, const Tried& tried) {
  if (tried.is_unbuildable) return "does not build";
  if (tried.is_measured) return "measured";
  if (tried.is_built) return "built";
  return commit.place ? "not tried" : "cannot change the library";
}

/// What makes the rows of the list.
struct Listing {
  AllTried tried;
  std::vector<double> belief;
  std::map<std::string, std::string_view> culprits;
  std::map<std::string, storage::Id> builds;
  const View& view;
};

html::Cell build_cell(const std::string& sha, const Listing& listing) {
  const auto build = listing.builds.find(sha);
  if (build == listing.builds.end()) return "";
  return {std::to_string(build->second), listing.view.to_build(build->second)};
}

html::Cell belief_cell(const RangeCommit& commit, const std::vector<double>& belief) {
  if (!commit.place || *commit.place >= belief.size()) return "";
  const auto mass = belief[*commit.place];
  if (!(mass > 0)) return "";
  return {figures::confidence(mass), mass};
}

std::vector<html::Cell> row_of(const RangeCommit& commit, const Listing& listing) {
  const auto found = listing.tried.find(commit.sha);
  const auto tried = found == listing.tried.end() ? Tried() : found->second;
  const auto culprit = listing.culprits.find(commit.sha);
  auto state = state_of(commit, tried);
  if (culprit != listing.culprits.end()) state += culprit->second;
  return {{short_sha(commit.sha), listing.view.to_commit(commit.sha)},
          shortened(printable(commit.subject)),
          state,
          build_cell(commit.sha, listing),
          belief_cell(commit, listing.belief),
          listing.view.is_trusted ? shortened(printable(tried.reason)) : ""};
}

/// The ends of the logs of builds that failed, the newest commits first. They are read whole, so
/// no more than a few are shown.
html::Fragment logs_of(const std::vector<RangeCommit>& commits, const Listing& listing) {
  constexpr std::size_t kLogsShown = 3;
  html::Fragment content;
  const auto& view = listing.view;
  if (!view.is_trusted || !view.sources.build_log_of) return content;
  std::size_t shown = 0;
  for (auto commit = commits.rbegin(); commit != commits.rend(); ++commit) {
    const auto tried = listing.tried.find(commit->sha);
    if (tried == listing.tried.end() || !tried->second.is_unbuildable) continue;
    if (++shown > kLogsShown) break;
    std::string text;
    for (const auto& line : view.sources.build_log_of(commit->sha)) text += printable(line) + "\n";
    if (text.empty()) continue;
    content += html::details("The end of the build log of " + short_sha(commit->sha),
                             html::code_block(text));
  }
  return content;
}

/// Why the commits that were not tried are not listed; where git said it may name paths.
html::Fragment missing_of(const report::SearchedRange& range, const View& view) {
  if (!range.missing) return {};
  const auto why = view.is_trusted ? ": " + printable(range.missing->message) : std::string();
  return html::paragraph(html::text(
      "The commits that were not tried are not listed here, as the clone of [source] cannot tell "
      "them" +
      why + "."));
}

}  // namespace

std::string count_text(const storage::BisectionRow& row, const report::SearchedRange& range) {
  const auto& commits = range.commits;
  auto all = commits.size();
  auto folded = static_cast<std::size_t>(
      std::ranges::count_if(commits, [](const auto& commit) { return !commit.place; }));
  if (commits.empty()) {
    const auto result = bisection::parse_bisection_result(row.result_json);
    if (!result || result->commits <= 0) return "";
    all = static_cast<std::size_t>(result->commits);
    folded = static_cast<std::size_t>(std::max(result->folded, 0));
  }
  const auto said = figures::count(all, "commit") + " up to the first bad one, of which ";
  if (folded == 0) return said + "each can change the library.";
  return said + figures::grouped(static_cast<std::int64_t>(folded)) +
         " cannot change the library and " + (folded == 1 ? "has" : "have") +
         " no column: only documents, tests and the like differ.";
}

Result<html::Fragment> range_section(const storage::BisectionRow& row,
                                     const report::SearchedRange& range, const Steps& steps,
                                     const View& view) {
  Listing listing{.tried = tried_in(steps),
                  .belief = last_belief(steps),
                  .culprits = culprits_of(row),
                  .builds = {},
                  .view = view};
  const bool is_whole = !range.commits.empty();
  const auto commits = is_whole ? range.commits : listed(listing.tried, row.good);
  const auto missing = missing_of(range, view);
  if (commits.empty()) return missing;
  TW_TRY(listing.builds, builds_of(view));
  html::Rows rows;
  if (listing.tried.contains(row.good)) {
    rows.push_back(row_of({.sha = row.good, .place = std::nullopt}, listing));
    rows.back()[2].text += ", the last good one";
  }
  for (const auto& commit : commits) rows.push_back(row_of(commit, listing));
  const auto table = html::table({.columns = {{"commit", Cells::words},
                                              {"subject"},
                                              {"state"},
                                              {"build", Cells::numbers},
                                              {"believed at the end", Cells::numbers},
                                              {"why it does not build"}},
                                  .rows = std::move(rows)});
  const auto all = figures::count(commits.size(), "commit");
  return html::details(is_whole ? "All " + all + ", oldest first"
                                : all + " that " + (commits.size() == 1 ? "was" : "were") +
                                      " tried, oldest first",
                       table + missing) +
         logs_of(commits, listing);
}

}  // namespace torchwatch::pages
