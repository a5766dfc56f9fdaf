#pragma once

#include <stop_token>
#include <vector>

#include "torchwatch/nightly/run_maker.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::nightly {

/// One build, ready to be measured by itself in the cells of the configured suite. Its runs are
/// stored under a night that ends without a verdict.
class SoloBench {
 public:
  static Result<SoloBench> open(Workshop&, storage::Id build, std::stop_token stop);

  const Plan& plan() const { return plan_; }
  /// Every run of this bench gets a fresh copy of the library files from now on.
  void place_libraries() { subject_.place_libraries = true; }
  /// How many runs will be asked for in all, for whoever watches.
  void expect(int runs) { expected_ = runs; }

  /// So many fresh processes, one after the other.
  Result<std::vector<MachineRun>> run(const Cell&, Pass, int count, std::stop_token stop);

  /// So many pairs of timing runs, in the manner in which two builds are compared.
  Result<std::vector<MachineRun>> run_pairs(const Cell&, int pairs, std::stop_token stop);

  /// Ends the night.
  Status close();

 private:
  SoloBench(Workshop& workshop, Plan plan, Subject subject, storage::NightRow night)
      : workshop_(workshop),
        plan_(std::move(plan)),
        subject_(std::move(subject)),
        night_(std::move(night)),
        maker_(workshop, {storage::OwnerKind::night, night_.id}) {}

  std::string next_slot(const Cell&, Pass, std::size_t number);

  Workshop& workshop_;
  Plan plan_;
  Subject subject_;
  storage::NightRow night_;
  RunMaker maker_;
  int expected_ = 0;
  int done_ = 0;
};

}  // namespace torchwatch::nightly
