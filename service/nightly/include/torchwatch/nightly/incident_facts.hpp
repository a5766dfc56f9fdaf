#pragma once

#include "torchwatch/nightly/search_result.hpp"
#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Everything known of an incident, as the report wants it; `night` is the one whose builds and
/// verdicts are told.
Result<report::IncidentFacts> incident_facts(Workshop&, const storage::IncidentRow&,
                                             const storage::NightRow& night);

/// The same of a search: commits by their subjects, authors and files where [source] knows them.
report::SearchFacts search_facts(const Workshop&, const storage::BisectionRow&,
                                 const SearchResult&);

}  // namespace torchwatch::nightly
