#pragma once

#include "torchwatch/site/parts.hpp"

namespace torchwatch::pages {

// One function per page. Errors: not_found; invalid (a parameter); those of storage.

/// The machines with their classes, and how far to trust what is measured on them.
Result<Page> make_machines(const View&);

/// What a machine is, what its runs state of it, and the self-tests and drills on it.
Result<Page> make_machine(const View&);

/// The times of one build on two machine classes side by side; `?build=&a=&b=` name them by their
/// ids, and a form chooses them.
Result<Page> make_side_by_side(const View&);

}  // namespace torchwatch::pages
