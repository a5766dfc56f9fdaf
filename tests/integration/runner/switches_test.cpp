// What the runner's own switches change, which a study sets one against the other.
#include <ATen/Context.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include "runner_process.hpp"
#include "skipped.hpp"
#include "torchwatch/torch/libtorch.hpp"

using namespace torchwatch;

namespace {

/// LibTorch's own switch is the process's.
class FlushedDenormals {
 public:
  FlushedDenormals() : works_(runner::flush_denormals()) {}
  ~FlushedDenormals() { at::globalContext().setFlushDenormal(false); }
  FlushedDenormals(const FlushedDenormals&) = delete;
  FlushedDenormals& operator=(const FlushedDenormals&) = delete;
  bool works() const { return works_; }

 private:
  bool works_;
};

/// What a training holds at most. The allocator's peak is exact.
std::int64_t peak_of(bool zeroes_gradients) {
  auto wanted = request("resnet18");
  wanted.update({{"mode", "train"},
                 {"pass", "memory"},
                 {"leak_iterations", 0},
                 {"zero_gradients", zeroes_gradients}});
  const auto result = measure(wanted);
  INFO(result.reason);
  REQUIRE(result.status == RunStatus::ok);
  return result.values.at(Metric::cpu_peak);
}

}  // namespace

TEST_CASE("denormals that are flushed count as zero, and others are kept") {
  const auto tiny = torch::full({64}, 1e-40F);
  const auto kept = tiny * 1.0F;
  torch::Tensor flushed;
  {
    const FlushedDenormals switched;
    if (!switched.works()) {
      test::say_skipped("this processor cannot count denormals as zero");
      return;
    }
    flushed = tiny * 1.0F;
  }
  REQUIRE(kept.ne(0).all().item<bool>());
  REQUIRE(flushed.eq(0).all().item<bool>());
}

TEST_CASE("gradients that are zeroed stay, and dropped ones are given back") {
  REQUIRE(peak_of(true) > peak_of(false));
}

TEST_CASE("the heap has its own thresholds in a timed run where nothing holds them still") {
  auto wanted = request();
  wanted["fixed_heap"] = false;
  REQUIRE(measure(wanted).environment.facts.at("heap") == "glibc, own thresholds");
}
