#include <catch2/catch.hpp>

#include "torchwatch/tracker/mute_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

const Series kSeries{{"dlrm", {Device::cpu, Mode::train}, {}}, Metric::time};

}  // namespace

TEST_CASE("a target names series as far as it goes, and a star names any") {
  for (const auto* target : {"dlrm", "dlrm/cpu-train", "dlrm/*", "*/cpu-train",
                             "dlrm/cpu-train/default/time", "*/*/*/time"}) {
    INFO(target);
    CHECK(check_mute_target(target));
    CHECK(is_muted_by(target, kSeries));
  }
  for (const auto* target :
       {"resnet18", "dlrm/cpu-infer", "*/cuda-train", "dlrm/*/*/cpu_peak", "dlr", "dlrm2"}) {
    INFO(target);
    CHECK_FALSE(is_muted_by(target, kSeries));
  }
}

TEST_CASE("a target that names nothing, or everything, is refused") {
  for (const auto* target : {"", "/", "dlrm/", "dlrm//default", "dlrm/gpu", "dlrm/cpu-train/half/x",
                             "dlrm/cpu-train/default/beauty", "dlrm/a/b/c/d", "*", "*/*/*/*"}) {
    INFO(target);
    CHECK_FALSE(check_mute_target(target));
  }
}
