#include "torchwatch/follow_ups/follow_ups.hpp"

#include "kinds.hpp"

namespace torchwatch::follow_ups {

Status open_follow_ups(comparison::Services& services, const comparison::Comparison& nightly) {
  TW_TRY_VOID(open_rechecks(services, nightly));
  TW_TRY_VOID(open_drift_comparisons(services, nightly));
  return open_tests_of_service(services, nightly);
}

}  // namespace torchwatch::follow_ups
