#pragma once

#include "torchwatch/comparison/comparison.hpp"

namespace torchwatch::comparison {

/// Carries out the blocks of one comparison.
class BlockExecutor {
 public:
  BlockExecutor(Services& services, RunRecorder& recorder, const Comparison& comparison,
                const ComparedBuilds& builds, Schedule& schedule)
      : services_(services),
        recorder_(recorder),
        plan_(comparison.plan),
        builds_(builds),
        schedule_(schedule) {}

  /// Makes the runs that the block still needs. `place`: of a lane; null for the one executor.
  /// Errors: those of RunRecorder::run.
  Status run(const Block&, std::stop_token stop, Place* place = nullptr);

 private:
  RunSlot slot(const Block&, int position) const;
  Status run_pair(const Block&, int first, std::stop_token);
  Status run_on_node(const Block&, std::stop_token, Place&);
  Status run_alone(const Block&, int position, std::stop_token, Place*);
  Status require_more_runs() const;
  void add(const MachineRun&);

  Services& services_;
  RunRecorder& recorder_;
  const Plan& plan_;
  const ComparedBuilds& builds_;
  Schedule& schedule_;
};

/// Somebody may cancel a comparison, and make it due again, while it is measured. Errors: conflict.
Status require_unchanged(Services&, const storage::ComparisonRow& measured);

}  // namespace torchwatch::comparison
