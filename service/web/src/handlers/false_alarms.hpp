#pragma once

#include "torchwatch/detect/binomial_share.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::web::handlers {

/// The share of unchanged series that are called changed, either way, lies below it with 95 %.
inline double false_alarms_bound(const storage::SelfTestTally& tally) {
  return detect::share_of(tally.regressed + tally.improved, tally.series).bound;
}

}  // namespace torchwatch::web::handlers
