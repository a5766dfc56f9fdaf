#pragma once

#include <optional>

#include "torchwatch/evidence/work.hpp"
#include "torchwatch/site/view.hpp"

namespace torchwatch::pages {

/// A comparison at work as a bar of its stages; above it which stage that is, how far it is and
/// when it will probably end. Nothing where it has ended.
html::Fragment stages_of(const evidence::Progress&, const View&);

/// The same for a search, by what its newest step did; `whole` is how long such searches take.
html::Fragment stages_of(const storage::BisectionRow&,
                         const std::optional<evidence::Estimate>& whole, const View&);

}  // namespace torchwatch::pages
