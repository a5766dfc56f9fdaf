#pragma once

#include <optional>
#include <string>
#include <vector>

#include "html.hpp"
#include "torchwatch/http/exchange.hpp"
#include "torchwatch/pages/pages.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::pages {

// What several pages show alike.

/// The page that is made: what it reads, and who sees it. Strangers do not see folders of builds
/// and reasons with paths.
struct View {
  const Sources& sources;
  bool is_trusted = false;
  std::string root;                 ///< the way to the overview: "" or "../"
  health::Report service_now = {};  ///< as it was when the page was asked for
  double confidence = 0.99;         ///< of the intervals on this page

  std::string to_incident(storage::Id) const;
  std::string to_comparison(storage::Id) const;
  std::string to_build(storage::Id) const;
  std::string to_commit(const std::string& sha) const;  ///< empty: commits are not linked
  std::string to_issue(std::int64_t number) const;      ///< empty: issues are not linked
};

/// Returns the page that a request asks for, `root` being the way from it to the overview.
View view_of(const http::Request&, const Sources&, std::string root);

/// Wraps content in the frame of all pages and makes the reply.
http::Reply reply_with(const View&, std::string_view title, const std::string& content,
                       int status = 200);

/// Returns a build's name for the reader.
std::string name_of(const storage::BuildRow&, const View&);
Result<std::string> name_of_build(storage::Id, const View&);

/// "2026-08-17 against 2026-08-16".
Result<std::string> name_of_comparison(const storage::ComparisonRow&, const View&);

/// The search for an incident's culprit, as it is stored.
struct Search {
  std::optional<storage::BisectionState> state = {};  ///< nothing: there was no search
  std::vector<report::CulpritFacts> causes = {};      ///< that it named
};
Result<Search> search_of(const storage::IncidentRow&, const View&);

/// Says since when an item waits, and what for; empty if it does not wait.
/// Strangers get no reason: it may name paths.
Result<std::string> waits_for(storage::ItemKind, const std::string& item, const View&);

/// Returns the remark on a comparison: what it waits for, how it ended, or what it goes back to.
Result<std::string> remark_on(const storage::ComparisonRow&, const View&);

/// Returns a text's beginning where it is too long for a table; its page has the whole.
std::string shortened(const std::string& text);

/// Series without figures, with the reason for it, which names paths at times.
std::string reason_table(const std::vector<storage::VerdictRow>&, const View&);

/// The leading cause as a cell: its sha, linked, with subject, confidence and measured change.
Cell cause_cell(const std::vector<report::CulpritFacts>&, const View&);

/// Tables of incidents and comparisons, for lists and for other pages.
Result<std::string> incident_table(const std::vector<storage::IncidentRow>&, const View&);
Result<std::string> comparison_table(const std::vector<storage::ComparisonRow>&, const View&);

/// A table of effects: baseline, candidate, change, interval.
std::string effect_table(const std::vector<report::EffectFacts>&, double confidence);

double seconds_between(storage::WallMillis from, storage::WallMillis to);

/// "5 h 12 min ago"; from two days on "3 days ago".
std::string age_text(storage::WallMillis at, const View&);

}  // namespace torchwatch::pages
