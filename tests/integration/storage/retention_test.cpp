#include "torchwatch/runs/retention.hpp"

#include <catch2/catch.hpp>

#include "raw_sql.hpp"
#include "samples.hpp"
#include "stores.hpp"
#include "torchwatch/digest/sha256.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

const Benchmark kOther{"vgg16", {Device::cpu, Mode::train}, {}};

/// A comparison of two benchmarks, of which the second changed; each has one run.
struct Measured : FreshStores {
  ComparisonRow comparison = comparison_of_two(stores);
  Id unchanged = run(comparison, kBenchmark, Verdict::unchanged);
  Id changed = run(comparison, kOther, Verdict::regressed);

  Id run(const ComparisonRow& owner, const Benchmark& benchmark, Verdict verdict) {
    const auto token = "t" + std::to_string(owner.id) + benchmark.workload;
    auto attempt = order_of(owner, token);
    attempt.benchmark = benchmark;
    const auto id = stores.runs.issue(attempt, token, 1).value();
    auto result = full_result(token);
    result.samples_ns = {40, 10, 30, 20, 50};
    REQUIRE(stores.runs.record({{token, result}}, 2));
    VerdictRow row;
    row.comparison = owner.id;
    row.series = {benchmark, Metric::time};
    row.verdict = verdict;
    REQUIRE(stores.comparisons.add_verdict(row));
    return id;
  }

  void end(const ComparisonRow& row, WallMillis at) {
    REQUIRE(stores.comparisons.advance(row, ComparisonState::reported, at));
  }

  int thin(WallMillis ended_before) {
    int comparisons = 0;
    while (thin_oldest_comparison(*stores.database, ended_before).value()) ++comparisons;
    REQUIRE(stores.database->check_invariants().value().empty());
    return comparisons;
  }

  std::vector<std::int64_t> samples(Id attempt) { return stores.runs.samples_of(attempt).value(); }
};

}  // namespace

TEST_CASE_METHOD(Measured, "samples of unchanged benchmarks are thinned, those of changes stay") {
  end(comparison, 5000);
  REQUIRE(thin(5000) == 0);
  REQUIRE(samples(unchanged).size() == 5);
  REQUIRE(thin(5001) == 1);
  REQUIRE(samples(unchanged).empty());
  REQUIRE(samples(changed).size() == 5);
  REQUIRE(thin(5001) == 0);
}

TEST_CASE_METHOD(Measured, "a thinned run keeps its value and its samples' number and digest") {
  end(comparison, 5000);
  const auto digest = digest::sha256_hex(encode_samples(samples(unchanged)));
  REQUIRE(thinned_samples_of(*stores.database, unchanged).value().empty());
  REQUIRE(thin(6000) == 1);
  const auto kept = thinned_samples_of(*stores.database, unchanged).value();
  REQUIRE(kept.size() == 4);
  const auto& wall = kept.back();
  REQUIRE(wall.kind == "wall_ns");
  REQUIRE(wall.count == 5);
  REQUIRE(wall.median == 30);
  REQUIRE(wall.spread == 20);
  REQUIRE(wall.digest == digest);
  REQUIRE(stores.runs.result_of(unchanged).value().values.at(Metric::time) == 100);
}

TEST_CASE("of an even number of samples the mean of the middle two is kept, as in a run's value") {
  const auto kept = summary_of({40, 10, 30, 20});
  CHECK(kept.median == 25);
  CHECK(kept.spread == 20);
}

TEST_CASE_METHOD(Measured, "self-tests and comparisons that have not ended keep their samples") {
  const auto test =
      stores.comparisons.open({Purpose::self_test, comparison.candidate, comparison.candidate}, 1)
          .value();
  const auto tested = run(test, kBenchmark, Verdict::unchanged);
  end(test, 3000);
  REQUIRE(thin(10'000) == 1);
  REQUIRE(samples(tested).size() == 5);
  REQUIRE(samples(unchanged).size() == 5);
}

TEST_CASE_METHOD(Measured, "the samples of a pull request are thinned like those of a nightly") {
  const auto pull = stores.comparisons
                        .open({.purpose = Purpose::pull_request,
                               .candidate = comparison.candidate,
                               .baseline = comparison.baseline,
                               .opens_incidents = false},
                              1)
                        .value();
  const auto compared = run(pull, kBenchmark, Verdict::unchanged);
  end(pull, 3000);
  REQUIRE(thin(10'000) == 1);
  REQUIRE(samples(compared).empty());
}

TEST_CASE_METHOD(Measured, "damaged samples are not thinned, which would hide that they are") {
  end(comparison, 5000);
  test::raw_sql(path,
                "UPDATE sample SET data = zeroblob(40) WHERE kind = 'wall_ns' AND attempt_id = " +
                    std::to_string(unchanged));
  REQUIRE(thin_oldest_comparison(*stores.database, 6000).value());
  REQUIRE_FALSE(thin_oldest_comparison(*stores.database, 6000).value());
  REQUIRE(stores.runs.samples_of(unchanged).error().code == ErrorCode::corrupt);
  REQUIRE(thinned_samples_of(*stores.database, unchanged).value().size() == 3);
  REQUIRE(stores.database->check_invariants().value().size() == 1);
}

TEST_CASE_METHOD(Measured, "the output of runs is removed by its age") {
  REQUIRE(stores.runs.issue(order_of(comparison, "x"), "x", 1));
  REQUIRE(stores.runs.record({{"x", AttemptFailure{"crashed", "the output"}}}, 70));
  REQUIRE(remove_outputs(*stores.database, 70).value() == 0);
  REQUIRE(remove_outputs(*stores.database, 71).value() == 1);
  REQUIRE(remove_outputs(*stores.database, 71).value() == 0);
}

TEST_CASE_METHOD(Measured, "what workloads computed goes when their comparison is thinned") {
  const Owner owner{OwnerKind::comparison, comparison.id};
  REQUIRE(stores.runs.issue(order_of(comparison, "x"), "x", 1));
  auto result = full_result("x");
  result.outputs = {{.name = "loss", .scale = 1, .figures = {1}}};
  REQUIRE(stores.runs.record({{"x", result}}, 70));
  end(comparison, 5000);
  REQUIRE(stores.runs.first_outputs(owner, kBenchmark).value().size() == 1);
  REQUIRE(thin(6000) == 1);
  CHECK(stores.runs.first_outputs(owner, kBenchmark).value().empty());
}
