#include "torchwatch/nightly/series_settings.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::nightly;

namespace {

Target target(const std::string& workload, Metric metric) {
  return {{workload, {Device::cpu, Mode::train}, {}}, metric};
}

Plan plan_of(int cells) {
  Plan plan;
  for (int i = 0; i < cells; ++i) {
    plan.cells.push_back({"w" + std::to_string(i), {Device::cpu, Mode::train}, {}});
  }
  return plan;
}

}  // namespace

TEST_CASE("a threshold of a series takes the gate along, and of several the last holds") {
  config::Config config;
  for (const auto* rule : {"* dlrm 0.14", "time dlrm 0.035", "time resnet18 cpu-infer 0.5"}) {
    config.detect.thresholds.push_back(config::parse_series_threshold(rule).value());
  }
  const auto settings = series_settings(config, plan_of(1));
  CHECK(settings.of(target("resnet18", Metric::time)).threshold == 0.07);
  CHECK(settings.of(target("resnet18", Metric::time)).gate == 0.06);
  CHECK(settings.of(target("dlrm", Metric::cpu_peak)).threshold == 0.14);
  CHECK(settings.of(target("dlrm", Metric::cpu_peak)).gate == Approx(0.12));
  CHECK(settings.of(target("dlrm", Metric::time)).threshold == 0.035);
  CHECK(settings.of(target("dlrm", Metric::time)).gate == Approx(0.03));
  CHECK(settings.of(target("dlrm", Metric::time)).alpha == settings.common().alpha);
}

TEST_CASE("what stands for a night is judged as one of all its series") {
  const config::Config config;
  const auto night = detect_settings(config, plan_of(100));
  auto self_test = plan_of(1);
  self_test.of_cells = 100;
  self_test.finds_incidents = false;
  CHECK(detect_settings(config, self_test).alpha == night.alpha);
  CHECK(detect_settings(config, self_test).screen_pairs_min == night.screen_pairs_min);

  auto asked_for = plan_of(1);
  asked_for.finds_incidents = false;
  CHECK(detect_settings(config, asked_for).alpha > night.alpha);
  CHECK(detect_settings(config, asked_for).screen_pairs_min > night.screen_pairs_min);
}

TEST_CASE("comparisons with an older nightly are paid from the same budget") {
  config::Config config;
  const auto with_creep = detect_settings(config, plan_of(7)).alpha;
  config.detect.creep_every = 0;
  const auto without = detect_settings(config, plan_of(7)).alpha;
  CHECK(with_creep == Approx(without * 7 / 8));
}
