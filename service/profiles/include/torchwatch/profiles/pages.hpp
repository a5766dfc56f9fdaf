#pragma once

#include <map>
#include <string>
#include <vector>

#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/site/parts.hpp"

namespace torchwatch::pages {

// One function per page. Errors: not_found; invalid (a parameter); those of storage.

/// What a GPU did, model by model.
Result<Page> make_gpu(const View&);

/// Which operators the suite's models call.
Result<Page> make_coverage(const View&);

/// With what the API is asked for the build of these pages: by its id, whether they have that or a
/// name. Errors: not_found.
Result<std::multimap<std::string, std::string>> query_of_build(const View&);

/// What is known of a run's trace, and how it is opened.
Result<Page> make_trace(const View&);

/// The trace itself, compressed, for a browser to save or to hand to Perfetto. Errors: not_found.
Result<http::Reply> get_trace(const http::Request&, const Sources&);

/// A table of those profiles whose traces are kept; empty where none is.
Result<html::Fragment> trace_table(const std::vector<storage::ProfileRun>&, const View&);

/// A section on the traces of a benchmark with these builds, or with any where none is named; where
/// there are none yet, it has the commands that make them.
Result<html::Fragment> traces_section(const Benchmark&, const std::vector<storage::Id>& builds,
                                      const View&);

/// A section on what each operator takes before and after an incident; empty where they were not
/// watched.
Result<html::Fragment> operators_section(const storage::IncidentRow&, const View&);

/// A section on what each operator takes in the newest traces of a benchmark with two builds, the
/// largest difference first; empty where not both have one.
Result<html::Fragment> profile_difference(const Benchmark&, storage::Id before, storage::Id after,
                                          const View&);

}  // namespace torchwatch::pages
