#pragma once

#include "torchwatch/site/parts.hpp"

namespace torchwatch::pages {

// One function per page. Errors: not_found; invalid (a parameter); those of storage.

/// Makes `/`: what is wrong, how old the data is, what is under way, then the open incidents, the
/// newest comparisons, and how often the service itself is wrong.
Result<Page> make_overview(const View&);

Result<Page> make_comparisons(const View&);
Result<Page> make_incidents(const View&);
Result<Page> make_builds(const View&);
Result<Page> make_models(const View&);

/// The verdicts of a comparison, what matters first, its heat map and its incidents.
Result<Page> make_comparison(const View&);

/// The same for the comparison of a nightly, by the nightly's name.
Result<Page> make_nightly(const View&);

/// The comparisons of two builds, by their names: "/compare/A...B".
Result<Page> make_pair(const View&);
/// With what the API lists the same comparisons.
Result<std::multimap<std::string, std::string>> query_of_pair(const View&);

/// The heat map of the first of these comparisons that has verdicts; nothing where none has.
Result<html::Fragment> newest_matrix(const std::vector<storage::ComparisonRow>&, const View&);

/// The past of one series, which the path or the query names; without one all series.
Result<Page> make_series(const View&);

/// What is known of a build. Its folder is for trusted readers.
Result<Page> make_build(const View&);

Result<Page> make_model(const View&);
Result<Page> make_queue(const View&);

/// What was asked for, and what became of it.
Result<Page> make_request(const View&);

/// The messages that are not sent yet.
Result<Page> make_outbox(const View&);
Result<Page> make_search(const View&);

/// How a verdict is read, and the words of the glossary.
Result<Page> make_help(const View&);

}  // namespace torchwatch::pages
