#include "torchwatch/storage/verdicts.hpp"

#include <catch2/catch.hpp>

#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

TEST_CASE_METHOD(FreshStores, "verdicts come by benchmark and metric, of one metric, and alone") {
  const auto comparison = comparison_of_two(stores);
  auto& comparisons = stores.comparisons;
  const auto add = [&](const std::string& workload, Metric metric, Id to) {
    VerdictRow verdict;
    verdict.comparison = to;
    verdict.series = {{workload, {Device::cpu, Mode::train}, {}}, metric};
    verdict.ratio = verdict.interval_low = verdict.interval_high = 1;
    REQUIRE(comparisons.add_verdict(verdict));
    return verdict.series;
  };
  const auto other =
      comparisons.open({Purpose::requested, comparison.candidate, comparison.baseline}, 1).value();
  const auto late = add("vgg16", Metric::time, comparison.id);
  const auto peak = add("alexnet", Metric::cpu_peak, comparison.id);
  const auto time = add("alexnet", Metric::time, comparison.id);
  const auto elsewhere = add("alexnet", Metric::leak_growth, other.id);
  const auto series_of = [](const std::vector<VerdictRow>& rows) {
    std::vector<Series> all;
    for (const auto& row : rows) all.push_back(row.series);
    return all;
  };
  using All = std::vector<Series>;
  CHECK(series_of(verdicts_of(*stores.database, comparison.id).value()) == All{late, time, peak});
  CHECK(series_of(verdicts_of(*stores.database, comparison.id, Metric::time).value()) ==
        All{late, time});
  CHECK(verdicts_of(*stores.database, comparison.id, Metric::leak_growth).value().empty());
  CHECK(verdict_on(*stores.database, comparison.id, peak).value()->series == peak);
  CHECK(verdict_on(*stores.database, other.id, elsewhere).value()->comparison == other.id);
  CHECK_FALSE(verdict_on(*stores.database, comparison.id, elsewhere).value());
}
