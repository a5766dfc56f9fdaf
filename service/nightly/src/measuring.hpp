#pragma once

#include <stop_token>

#include "torchwatch/nightly/comparison.hpp"
#include "torchwatch/nightly/run_maker.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// The two builds of a night, ready to be measured.
struct Sides {
  Plan plan;
  Subject baseline;
  Subject candidate;

  static Result<Sides> of(Workshop&, const storage::NightRow&, std::stop_token stop);
};

/// The night's comparison as far as its stored runs go.
Result<Comparison> replay(Workshop&, const storage::NightRow&);

/// Makes all runs that the night's comparison still wants.
Status measure_night(Workshop&, const storage::NightRow&, const Sides&, std::stop_token stop);

}  // namespace torchwatch::nightly
