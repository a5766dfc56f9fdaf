#pragma once

#include <string>
#include <vector>

#include "torchwatch/report/outcome.hpp"
#include "torchwatch/site/parts.hpp"

namespace torchwatch::pages {

/// The choices of `?only=`.
inline const std::vector<std::string> kOnly{"all",    "regressed", "improved",
                                            "unsure", "failed",    "unchanged"};

/// What of a comparison its page shows.
struct Shown {
  Metric metric = Metric::time;
  std::string only;           ///< one of `kOnly`
  std::string configuration;  ///< whose small pictures are shown; empty: the first
  evidence::HeatOrder order = evidence::HeatOrder::effect;
};

/// Reads it from the page's parameters. Errors: invalid (a parameter).
Result<Shown> shown_of(const View&);

/// Makes the sections "All models", a heat map of those models that `only` asks for, and "The past
/// of each model"; nothing of a comparison without verdicts. `sorted` has the same verdicts.
/// Errors: invalid (a configuration that the comparison has not); those of storage.
Result<html::Fragment> heat_map_section(const storage::ComparisonRow&, const Shown&,
                                        const std::vector<storage::VerdictRow>& verdicts,
                                        const report::SortedVerdicts& sorted, const View&);

}  // namespace torchwatch::pages
