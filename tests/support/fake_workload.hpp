#pragma once

#include <functional>
#include <utility>

#include "torchwatch/models/workload.hpp"

namespace torchwatch::runner {

/// A workload whose step is the test's.
class FakeWorkload final : public models::Workload {
 public:
  explicit FakeWorkload(std::function<void()> step, std::int64_t period = 1)
      : step_(std::move(step)), period_(period) {}
  void step() override { step_(); }
  std::int64_t period() const override { return period_; }
  models::Census census() const override { return {}; }
  std::vector<models::OutputFigures> outputs() override { return {}; }
  models::Values values() override { return {}; }
  void reference_forward() override {}
  double last_loss() const override { return 0; }

 private:
  std::function<void()> step_;
  std::int64_t period_;
};

}  // namespace torchwatch::runner
