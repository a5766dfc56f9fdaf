#pragma once

#include <stop_token>
#include <string>

#include "builder.hpp"
#include "measurer.hpp"
#include "recorded_search.hpp"

namespace torchwatch::bisection {

/// Verifies culprits beyond the search's own measurement against their parents: each is reverted on
/// top of the bad end, and the bad end is measured against that.
class RevertVerifier {
 public:
  RevertVerifier(comparison::Services& services, const BisectionSpec& spec,
                 RecordedSearch& recorded, BisectionBuilder& builder, BisectionMeasurer& measurer)
      : services_(services),
        spec_(spec),
        recorded_(recorded),
        builder_(builder),
        measurer_(measurer) {}

  /// Checks and records every culprit of the answer that is one commit, and not checked yet. A
  /// revert that does not apply or build is recorded with its reason. Errors: those of commits,
  /// builds and measurements that the environment prevents; cancelled; of storage.
  Status verify(const bisect::Answer&, std::stop_token stop);

 private:
  Result<RevertCheck> check(const bisect::Culprit&, std::stop_token);
  Status measure(const std::string& reverted, const bisect::Culprit&, RevertCheck&,
                 std::stop_token);

  Status measure_pairs(const comparison::MeasurableBuild& with,
                       const comparison::MeasurableBuild& without, const bisect::Culprit&,
                       RevertCheck&, std::stop_token);

  comparison::Services& services_;
  const BisectionSpec& spec_;
  RecordedSearch& recorded_;
  BisectionBuilder& builder_;
  BisectionMeasurer& measurer_;
};

}  // namespace torchwatch::bisection
