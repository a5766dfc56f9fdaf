#pragma once

#include <optional>
#include <string>

#include "torchwatch/canvas/canvas.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/drawing/posterior.hpp"
#include "torchwatch/evidence/context.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::evidence {

// What several drawings take from rows alike.

/// The interval of a verdict or an effect; nothing where it is not known.
template <typename Row>
std::optional<drawing::Interval> interval_of(const Row& row) {
  if (!figures::is_known(row.interval_low, row.interval_high)) return std::nullopt;
  return drawing::Interval{row.interval_low, row.interval_high};
}

/// The ratio; nothing where there is none, as of a leak.
template <typename Row>
std::optional<double> ratio_of(const Row& row) {
  return row.ratio > 0 ? std::optional(row.ratio) : std::nullopt;
}

/// The threshold by which a verdict or an effect is judged now.
template <typename Row>
double threshold_of(const Row& row, const Context& context) {
  const bool is_exact = report::is_exact(report::effect_of(row));
  if (context.threshold_of) return context.threshold_of(row.series, is_exact);
  return is_exact ? context.exact_threshold : context.threshold;
}

/// The address that a link makes of something; empty where there is no such link.
template <typename Link, typename What>
std::string address_of(const Link& link, const What& what) {
  return link ? link(what) : std::string();
}

/// What a search came to with a commit; `otherwise` where it is nothing.
drawing::CommitState state_of(const bisection::BisectionResult&, const std::string& sha,
                              drawing::CommitState otherwise);

/// The names of the two builds of a comparison, empty for one that it lacks; of a study its
/// settings.
struct SideNames {
  std::string baseline;
  std::string candidate;
};
Result<SideNames> side_names(const Context&, const storage::ComparisonRow&);

}  // namespace torchwatch::evidence
