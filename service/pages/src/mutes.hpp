#pragma once

#include <vector>

#include "torchwatch/site/parts.hpp"
#include "torchwatch/tracker/mute_store.hpp"

namespace torchwatch::pages {

/// Which mutes hold for what a page shows, each with the form that lifts it; nothing without one.
html::Fragment mutes_section(const std::vector<storage::MuteRow>&, const View&);

}  // namespace torchwatch::pages
