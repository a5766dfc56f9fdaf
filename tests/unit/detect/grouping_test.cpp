#include "torchwatch/detect/grouping.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::detect;

namespace {

Change change(const char* workload, Device device, Metric metric, double effect) {
  return {Series{Benchmark{workload, Configuration{device, Mode::train}, {}}, metric}, effect};
}

}  // namespace

TEST_CASE("times, peaks and leaks are apart, and so are devices") {
  const std::vector<Change> changes{
      change("a", Device::cpu, Metric::time, 0.1),
      change("b", Device::cpu, Metric::leak_growth, 4096),
      change("c", Device::cuda, Metric::time, 0.2),
      change("d", Device::cpu, Metric::cpu_peak, 0.3),
      change("e", Device::cuda, Metric::device_time, 0.4),
      change("f", Device::cpu, Metric::leak_retained, 1 << 20),
  };
  const auto groups = group(changes);
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].members == std::vector<std::size_t>{0});
  CHECK(groups[1].members == std::vector<std::size_t>{4, 2});
  CHECK(groups[2].members == std::vector<std::size_t>{3});
  CHECK(groups[3].members == std::vector<std::size_t>{5, 1});
  CHECK(groups[2].kind == IncidentKind::regression);
  CHECK(groups[3].kind == IncidentKind::leak);
}

TEST_CASE("an operator's time is apart from those of workloads") {
  std::vector<Change> changes{change("a", Device::cpu, Metric::time, 0.1),
                              change("a", Device::cpu, Metric::time, 0.3)};
  changes[1].series.benchmark.variant.operator_name = "aten::gelu";
  const auto groups = group(changes);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].members == std::vector<std::size_t>{0});
  CHECK(groups[1].members == std::vector<std::size_t>{1});
  CHECK(groups[1].kind == IncidentKind::regression);
}

TEST_CASE("the largest effect leads, equal ones stay in order") {
  const std::vector<Change> changes{
      change("a", Device::cpu, Metric::time, 0.1), change("b", Device::cpu, Metric::time, 0.3),
      change("c", Device::cpu, Metric::time, 0.3), change("d", Device::cpu, Metric::time, 0.2)};
  const auto groups = group(changes);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].members == std::vector<std::size_t>{1, 2, 3, 0});
}

TEST_CASE("an improvement is in no incident") {
  CHECK(group(std::vector{change("a", Device::cpu, Metric::time, -0.2)}).empty());
  CHECK(group({}).empty());
}
