#pragma once

#include <stop_token>

#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::bisection {

/// Carries an open bisection to its end: builds commits, measures pairs, applies what happened,
/// stores every step, and ends with a result in the database. Resuming after a kill repeats no
/// build and no run. Without [source] or [build] recipe the result says so.
/// Errors: unavailable (disk, network: the bisection stays open and is resumed later), cancelled,
/// of storage.
Result<storage::BisectionRow> carry_out_bisection(comparison::Services&,
                                                  const storage::BisectionRow&,
                                                  std::stop_token stop);

}  // namespace torchwatch::bisection
