#pragma once

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::test {

/// Nightlies that were measured on the nodes of a cluster, stored as the service stores them.
struct MeasuredNodes {
  std::vector<std::string> nodes = {"n1", "n2"};
  std::vector<double> factors = {1, 1};      ///< of each node: how long a run takes there
  std::vector<double> noise = {0.01, 0.01};  ///< of each node: how much its runs scatter
  int nightlies = 6;
  int benchmarks = 8;
  std::string processor = "Model X";
  std::string prefix = "on nodes ";  ///< of the builds' names
};

/// The time of one run, ns.
inline std::int64_t time_of_run(double typical, double noise, std::mt19937_64& random) {
  std::normal_distribution<double> scatter(1.0, noise);
  return static_cast<std::int64_t>(typical * scatter(random));
}

/// Stores eight runs of a benchmark, A B B A twice, all on that node.
inline void store_pairs(storage::Database& database, const storage::ComparisonRow& comparison,
                        const MeasuredNodes& measured, int benchmark, std::mt19937_64& random) {
  const auto node = static_cast<std::size_t>(comparison.id + benchmark) % measured.nodes.size();
  const double typical = 1e6 * (1 + benchmark) * measured.factors[node];
  storage::RunStore runs(database);
  for (int run = 0; run < 8; ++run) {
    const auto token = "comparison " + std::to_string(comparison.id) + " benchmark " +
                       std::to_string(benchmark) + " run " + std::to_string(run);
    const bool is_candidate = run % 4 == 1 || run % 4 == 2;
    REQUIRE(runs.issue(
        {.owner = {storage::OwnerKind::comparison, comparison.id},
         .slot = token,
         .build = is_candidate ? comparison.candidate : *comparison.baseline,
         .benchmark = {"workload" + std::to_string(benchmark), {Device::cpu, Mode::train}, {}},
         .node = measured.nodes[node]},
        token, 1'000));
    RunResult result;
    result.attempt = token;
    result.samples_ns = {time_of_run(typical, measured.noise[node], random)};
    result.values = {{Metric::time, result.samples_ns.front()}};
    result.environment.facts = {{"cpu_model", measured.processor}, {"cpus", "2"}};
    REQUIRE(runs.record({{token, result}}, 2'000));
  }
}

/// Stores the nightlies, each candidate the next one's baseline. The nodes alternate, so that
/// each build but the first and the last is measured on two of them in every benchmark.
inline void store_nightlies(storage::Database& database, const MeasuredNodes& measured) {
  std::mt19937_64 random(20261128);
  storage::ComparisonStore comparisons(database);
  storage::BuildStore builds(database);
  std::vector<storage::Id> ready;
  for (int number = 0; number <= measured.nightlies; ++number) {
    auto build =
        builds.discover(storage::BuildOrigin::nightly, measured.prefix + std::to_string(number))
            .value();
    build.content_hash = "hash of " + build.name;
    build.folder = "/builds/" + build.name;
    ready.push_back(builds.mark_ready(build).value().id);
  }
  for (std::size_t number = 1; number < ready.size(); ++number) {
    const auto comparison = comparisons
                                .open({.purpose = storage::Purpose::nightly,
                                       .candidate = ready[number],
                                       .baseline = ready[number - 1]},
                                      1'000)
                                .value();
    for (int benchmark = 0; benchmark < measured.benchmarks; ++benchmark) {
      store_pairs(database, comparison, measured, benchmark, random);
    }
    REQUIRE(comparisons.advance(comparison, storage::ComparisonState::reported, 3'000));
  }
}

}  // namespace torchwatch::test
