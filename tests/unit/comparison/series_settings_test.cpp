#include "torchwatch/comparison/series_settings.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::comparison;

namespace {

Series series(const std::string& workload, Metric metric) {
  return {{workload, {Device::cpu, Mode::train}, {}}, metric};
}

}  // namespace

TEST_CASE("an operator has a threshold of its own, whatever its workload has") {
  config::Config config;
  config.detect.operator_threshold = 0.28;
  config.detect.thresholds = {config::parse_series_threshold("time resnet18 0.5").value()};
  auto of_operator = series("resnet18", Metric::time);
  of_operator.benchmark.variant.operator_name = "aten::add_";
  const auto settings = series_settings(config, Rule{}).of(of_operator);
  CHECK(settings.threshold == 0.28);
  CHECK(settings.gate == Catch::Detail::Approx(0.24));
}

TEST_CASE("the gate follows a threshold of a series, and the last threshold that fits applies") {
  config::Config config;
  for (const auto* rule : {"* dlrm 0.14", "time dlrm 0.035", "time resnet18 cpu-infer 0.5"}) {
    config.detect.thresholds.push_back(config::parse_series_threshold(rule).value());
  }
  const auto settings = series_settings(config, Rule{});
  CHECK(settings.of(series("resnet18", Metric::time)).threshold == 0.07);
  CHECK(settings.of(series("resnet18", Metric::time)).gate == 0.06);
  CHECK(settings.of(series("dlrm", Metric::cpu_peak)).threshold == 0.14);
  CHECK(settings.of(series("dlrm", Metric::cpu_peak)).gate == Approx(0.12));
  CHECK(settings.of(series("dlrm", Metric::time)).threshold == 0.035);
  CHECK(settings.of(series("dlrm", Metric::time)).gate == Approx(0.03));
  CHECK(settings.of(series("dlrm", Metric::time)).alpha == settings.common().alpha);
}

TEST_CASE("outputs have a tolerance, which a rule that names them changes for a workload") {
  config::Config config;
  config.detect.output_tolerance = 1e-3;
  for (const auto* rule : {"output_difference vgg16 0.00002", "* dlrm 0.14", "* vgg16 0.14"}) {
    config.detect.thresholds.push_back(config::parse_series_threshold(rule).value());
  }
  const auto settings = series_settings(config, Rule{});
  const auto of = [&](const char* workload) {
    return settings.of(series(workload, Metric::output_difference));
  };
  CHECK(of("resnet18").output_tolerance == 1e-3);
  CHECK(of("dlrm").output_tolerance == 1e-3);
  CHECK(of("vgg16").output_tolerance == 2e-5);
  CHECK(of("vgg16").threshold == 0.07);  // which nothing of outputs is judged by
}

TEST_CASE(
    "a threshold that names a peak holds for exact values, one for any metric if it is lower") {
  config::Config config;
  config.detect.exact_floor_bytes = 4096;
  for (const auto* rule : {"* dlrm 0.14", "* vgg16 0.01", "cpu_peak alexnet 0.1"}) {
    config.detect.thresholds.push_back(config::parse_series_threshold(rule).value());
  }
  const auto settings = series_settings(config, Rule{});
  const auto exact = [&](const char* workload) {
    return settings.of(series(workload, Metric::cpu_peak)).exact_threshold;
  };
  CHECK(exact("resnet18") == 0.02);
  CHECK(exact("dlrm") == 0.02);
  CHECK(exact("vgg16") == 0.01);
  CHECK(exact("alexnet") == 0.1);
  CHECK(settings.common().exact_floor_bytes == 4096);
}

TEST_CASE("a comparison that belongs to a nightly shares the budget of all its series") {
  Plan plan;
  plan.benchmarks = {{"dlrm", {Device::cpu, Mode::train}, {}}};
  storage::ComparisonRow nightly;
  nightly.opens_incidents = true;
  storage::ComparisonRow self_test;
  self_test.budget_series = 600;
  const storage::ComparisonRow requested;
  CHECK(rule_of(nightly, plan).budget_series == 6);
  CHECK_FALSE(rule_of(nightly, plan).wants_intervals);
  CHECK(rule_of(self_test, plan).budget_series == 600);
  CHECK_FALSE(rule_of(self_test, plan).wants_intervals);
  CHECK(rule_of(requested, plan).budget_series == 6);
  CHECK(rule_of(requested, plan).wants_intervals);
}

TEST_CASE("more series get a smaller budget each, and requested comparisons get all intervals") {
  const config::Config config;
  const auto nightly = detect_settings(config, {.budget_series = 600});
  const auto requested = detect_settings(config, {.budget_series = 6, .wants_intervals = true});
  CHECK(requested.alpha > nightly.alpha);
  CHECK(requested.screen_pairs_min > nightly.screen_pairs_min);
}

TEST_CASE("drift comparisons share the budget of the nightlies") {
  config::Config config;
  const auto with_drift = detect_settings(config, {.budget_series = 42}).alpha;
  config.detect.drift_every = 0;
  const auto without = detect_settings(config, {.budget_series = 42}).alpha;
  CHECK(with_drift == Approx(without * 7 / 8));
}
