#include "torchwatch/runs/class_values.hpp"

#include <catch2/catch.hpp>

#include "stores.hpp"
#include "torchwatch/storage/study_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

const Benchmark kOther{"bert_pytorch", {Device::cpu, Mode::infer}, {}};

struct Classes : FreshStores {
  /// A timing run of a build on a machine of that processor.
  void add(const ComparisonRow& comparison, const Benchmark& benchmark,
           const std::string& processor, std::int64_t nanoseconds = 100) {
    const auto token = std::to_string(++runs);
    auto order = order_of(comparison, token);
    order.benchmark = benchmark;
    REQUIRE(stores.runs.issue(order, token, 1));
    auto result = full_result(token);
    result.values = {{Metric::time, nanoseconds}, {Metric::cpu_peak, 5}};
    result.environment.facts["cpu_model"] = processor;
    REQUIRE(stores.runs.record({{token, result}}, 2));
  }

  ComparisonRow measurement_of(const BuildRow& build) {
    return stores.comparisons.open({.purpose = Purpose::measurement, .candidate = build.id}, 1)
        .value();
  }

  int runs = 0;
};

}  // namespace

TEST_CASE_METHOD(Classes, "values of a build stand by benchmark and class, the newest first") {
  const auto first = measurement_of(ready_build(stores.builds, "n1", "h1"));
  const auto second = measurement_of(ready_build(stores.builds, "n2", "h2"));
  add(first, kBenchmark, "Model X", 1);
  add(first, kBenchmark, "Model X", 2);
  add(first, kBenchmark, "Model Y", 3);
  add(first, kOther, "Model Y", 4);
  add(second, kBenchmark, "Model X", 5);
  const auto values = values_by_class(*stores.database, first.candidate, Metric::time).value();
  REQUIRE(values.size() == 3);
  CHECK(values[0].benchmark == kBenchmark);
  CHECK(values[0].machine_class == 1);
  CHECK(values[0].values == std::vector<std::int64_t>{2, 1});
  CHECK(values[1].machine_class == 2);
  CHECK(values[1].values == std::vector<std::int64_t>{3});
  CHECK(values[2].benchmark == kOther);
  CHECK(values_by_class(*stores.database, second.candidate, Metric::time).value().size() == 1);
  CHECK(values_by_class(*stores.database, 99, Metric::time).value().empty());
}

TEST_CASE_METHOD(Classes, "what a search measured of a build counts, too") {
  const auto build = ready_build(stores.builds, "n1", "h1");
  BisectionRow search;
  search.good = "aaaa";
  search.bad = "bbbb";
  search.created_at = 1;
  const auto bisection = stores.bisections.open(search).value();
  REQUIRE(stores.runs.issue({.owner = {OwnerKind::bisection, bisection.id},
                             .slot = "probe",
                             .build = build.id,
                             .benchmark = kBenchmark,
                             .pass = Pass::timing},
                            "probe", 1));
  auto result = full_result("probe");
  result.environment.facts["cpu_model"] = "Model X";
  REQUIRE(stores.runs.record({{"probe", result}}, 2));
  const auto values = values_by_class(*stores.database, build.id, Metric::time).value();
  REQUIRE(values.size() == 1);
  CHECK(values[0].values == std::vector<std::int64_t>{100});
}

TEST_CASE_METHOD(Classes, "builds are found whose same benchmark several classes have measured") {
  CHECK(builds_on_classes(*stores.database).value().empty());
  const auto both = measurement_of(ready_build(stores.builds, "n1", "h1"));
  const auto apart = measurement_of(ready_build(stores.builds, "n2", "h2"));
  const auto three = measurement_of(ready_build(stores.builds, "n3", "h3"));
  add(both, kBenchmark, "Model X");
  add(both, kBenchmark, "Model Y");
  // Each class has measured this one, but nothing that another has.
  add(apart, kBenchmark, "Model X");
  add(apart, kOther, "Model Y");
  for (const auto* processor : {"Model X", "Model Y", "Model Z"}) add(three, kOther, processor);
  const auto found = builds_on_classes(*stores.database).value();
  REQUIRE(found.size() == 2);
  CHECK(found[0].build == three.candidate);
  CHECK(found[0].classes == std::vector<Id>{1, 2, 3});
  CHECK(found[1].build == both.candidate);
  CHECK(found[1].classes == std::vector<Id>{1, 2});
}

TEST_CASE_METHOD(Classes, "what a study measured makes no build known") {
  const auto build = ready_build(stores.builds, "n1", "h1");
  const auto study =
      StudyStore(*stores.database)
          .open(build.id, "{}",
                {.name = "threads", .baseline = "threads=1", .candidate = "threads=2"}, 5)
          .value();
  add(study, kBenchmark, "Model X");
  add(study, kBenchmark, "Model Y");
  CHECK(builds_on_classes(*stores.database).value().empty());
  CHECK(machine_classes(*stores.database).value().size() == 2);
}
