#pragma once

#include <map>
#include <optional>
#include <vector>

#include "search_record.hpp"

namespace torchwatch::bisect {

/// A culprit that is already found: what it explains is taken out of the readings that span it.
struct ExplainedStep {
  Place at = 0;
  std::map<std::size_t, Estimate> sizes;  ///< by series
};

/// A change that is known to lie in a span and whose culprit is looked for.
struct Change {
  std::size_t series = 0;
  double size = 0;
};
struct Problem {
  Span span;
  std::vector<Change> changes;  ///< the clearest first: it decides, the others support it
  bool trusts_alone = true;     ///< whether runs without a partner count
};

/// Classes that measuring cannot tell apart: some that do not build, or do not run what leads the
/// search, and the next one that does.
struct Group {
  Place first = 0;
  Place last = 0;
  Place parent = kGoodEnd;  ///< the nearest earlier one that is measured
  double mass = 0;
  std::optional<std::size_t> proven_by = {};  ///< once found: the series that verified it
};

/// Logarithms of weights that are added to those of the prior, by class.
using Penalties = std::map<Place, double>;

/// The probability of each class of the problem's span to be its culprit, given everything
/// measured; element 0 is class span.from + 1. All zero if no class is possible.
std::vector<double> posterior_of(const Problem&, const SearchRecord&,
                                 const std::vector<ExplainedStep>&, const Penalties&);

/// The classes of the problem's span as groups, oldest first.
std::vector<Group> groups_of(const Problem&, const SearchRecord&,
                             const std::vector<double>& posterior);

/// Spread of one pair of the series in terms of a change, for the likelihood of exact series too.
double likelihood_scale(const Evidence&, double size);
/// Spread of one run without a partner, in the same terms.
double alone_scale(const Evidence&, double size);

}  // namespace torchwatch::bisect
