#pragma once

#include <vector>

#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/site/view.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::pages {

/// Says how many commits are between the ends, and how many of them cannot change the library.
/// Empty where nobody knows.
std::string count_text(const storage::BisectionRow&, const report::SearchedRange&);

/// Makes the list of a range's commits, folded away: what became of each, its build, what was
/// believed of it after the last step; and, for trusted readers, the ends of logs of builds that
/// failed. Without the range it lists what was tried. Errors: of storage.
Result<html::Fragment> range_section(const storage::BisectionRow&, const report::SearchedRange&,
                                     const std::vector<report::TraceStep>&, const View&);

}  // namespace torchwatch::pages
