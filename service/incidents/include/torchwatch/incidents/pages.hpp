#pragma once

#include <vector>

#include "torchwatch/site/parts.hpp"
#include "torchwatch/tracker/mute_store.hpp"

namespace torchwatch::pages {

// One function per page. Errors: not_found; invalid (a parameter); those of storage.

/// What changed, who did it and how sure that is, with the evidence, what to do, and what was done.
Result<Page> make_incident(const View&);

Result<Page> make_bisections(const View&);

/// How a search went, step by step; `?step=` shows what was known at one of them.
Result<Page> make_bisection(const View&);

/// The series of which no incident is opened for a time, and one such mute.
Result<Page> make_mutes(const View&);
Result<Page> make_mute(const View&);

/// Which mutes hold for what a page shows, each with the form that lifts it; nothing without one.
html::Fragment mutes_section(const std::vector<storage::MuteRow>&, const View&);

}  // namespace torchwatch::pages
