#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/canvas/canvas.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/evidence/context.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/report/unread.hpp"
#include "torchwatch/site/view.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::pages {

// What several pages show alike.

/// Returns a build's name for the reader.
std::string name_of(const storage::BuildRow&, const View&);
Result<std::string> name_of_build(storage::Id, const View&);

/// Two builds by their names.
struct Pair {
  std::string baseline;
  std::string candidate;
};
/// Reads "A...B". Errors: not_found, for what names no two builds.
Result<Pair> pair_of(const std::string&);

/// "2026-08-17 against 2026-08-16".
Result<std::string> name_of_comparison(const storage::ComparisonRow&, const View&);

/// The search for an incident's culprit, as it is stored.
struct Search {
  std::optional<storage::BisectionState> state = {};  ///< nothing: there was no search
  std::vector<report::CulpritFacts> causes = {};      ///< that it named
};
Result<Search> search_of(const storage::IncidentRow&, const View&);
Search search_of(const storage::BisectionRow&, const View&);

/// The trunk commits of a comparison's builds, "aaaa to bbbb", and how many commits that are; empty
/// where they are not known.
Result<html::Cell> range_cell(const storage::ComparisonRow&, const View&);

/// Says since when an item waits, and what for; empty if it does not wait.
/// Strangers get no reason: it may name paths.
Result<std::string> waits_for(storage::ItemKind, const std::string& item, const View&);

/// Returns the remark on a comparison: what it waits for, how it ended, or what it goes back to.
Result<std::string> remark_on(const storage::ComparisonRow&, const View&);

/// Returns a text's beginning where it is too long for a table; its page has the whole.
std::string shortened(const std::string& text);

/// Series without figures, with the reason for it, which names paths at times.
html::Fragment reason_table(const std::vector<storage::VerdictRow>&, const View&);

/// The leading cause as a cell: its sha, linked, with subject, confidence and measured change.
html::Cell cause_cell(const std::vector<report::CulpritFacts>&, const View&);

/// A section on a cause: its commits, how sure that is, how it was verified, what it changed.
html::Fragment cause_section(const report::CulpritFacts&, const View&);

/// Returns who acknowledged an incident, as they say; empty where nobody did.
std::string who_has(const storage::IncidentRow&);

/// Tables of incidents and comparisons, for lists and for other pages. What of a comparison cannot
/// be read is empty, and its remark names it.
Result<html::Fragment> incident_table(const std::vector<storage::IncidentRow>&, const View&);
html::Fragment comparison_table(const std::vector<storage::ListedComparison>&, const View&);

/// The table of comparisons with what stands beside their verdicts: how long each took, how many
/// benchmarks it lost, what the self-test near it gave.
html::Fragment comparison_list(const std::vector<storage::ListedComparison>&, const View&);

/// A table of effects: change, interval of that confidence, baseline, candidate.
html::Fragment effect_table(const std::vector<report::EffectFacts>&, const View&,
                            double confidence);

/// Says what of a page cannot be read; nothing where all was.
html::Fragment unread_note(const report::Unread&);

/// Leads to how changes, intervals and verdicts are read.
html::Fragment reading_link(const View&);

/// What evidence is read from, for the page's reader; it leads to the pages of what it shows.
evidence::Context context_of(const View&);

/// The domains of the suite's models; nothing where they cannot be read.
evidence::Domains domains_of(const View&);

/// What a drawing shows, as a table.
html::Fragment drawn_data(const drawing::Table&);

/// A drawing for screens of any width, with its text and its data. `sentence` says what it shows.
template <typename Drawing>
html::Fragment figure_of(const Drawing& drawing, std::string_view sentence) {
  constexpr int kColumns = 100;
  return html::figure(drawing::responsive(drawing), text_of(drawing, kColumns), sentence,
                      drawn_data(table_of(drawing)));
}

/// A link to the part of a list before that id.
html::Fragment older_than(storage::Id before, const View&);

/// Cuts the rows to one page, of which one more was read; returns a link to those after it.
template <typename Row>
html::Fragment cut_to(const http::Page& page, const View& view, std::vector<Row>& rows) {
  if (static_cast<int>(rows.size()) <= page.limit) return {};
  rows.resize(static_cast<std::size_t>(page.limit));
  return older_than(rows.back().id, view);
}

double seconds_between(storage::WallMillis from, storage::WallMillis to);

/// "5 h 12 min ago"; from two days on "3 days ago".
std::string age_text(storage::WallMillis at, const View&);

}  // namespace torchwatch::pages
