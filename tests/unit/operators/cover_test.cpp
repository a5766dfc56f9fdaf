#include "torchwatch/operators/cover.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::operators;

namespace {

constexpr std::int64_t kMuch = 100'000;

Benchmark benchmark(const std::string& workload) {
  return {workload, {Device::cpu, Mode::train}, {}};
}

WatchedPairs shows(const std::string& workload, const std::vector<std::string>& names,
                   std::int64_t self_ns = kMuch) {
  WatchedPairs watched{.benchmark = benchmark(workload), .pairs = {{}}, .iteration_ns = 1'000'000};
  for (const auto& name : names) watched.pairs[0].before[name] = {.calls = 1, .self_ns = self_ns};
  return watched;
}

}  // namespace

TEST_CASE("an operator that many workloads call is watched in three of them") {
  std::vector<WatchedPairs> all;
  for (const auto* name : {"a", "b", "c", "d", "e"}) all.push_back(shows(name, {"aten::add"}));
  CHECK(cover(all).size() == 3);
}

TEST_CASE("an operator that few workloads call is watched in all of them") {
  std::vector<WatchedPairs> all;
  for (const auto* name : {"a", "b", "c", "d"}) all.push_back(shows(name, {"aten::add"}));
  all.push_back(shows("z", {"aten::rare"}));
  const auto chosen = cover(all);
  CHECK(chosen.size() == 4);
  CHECK(chosen.contains(benchmark("z")));
}

TEST_CASE("workloads that show most are chosen first") {
  const auto chosen = cover(
      {shows("a", {"aten::add"}), shows("b", {"aten::mul"}), shows("c", {"aten::add", "aten::mul"}),
       shows("d", {"aten::add", "aten::mul"}), shows("e", {"aten::add", "aten::mul"})});
  CHECK(chosen == std::set{benchmark("c"), benchmark("d"), benchmark("e")});
}

TEST_CASE("what shows no operator that is judged is not watched") {
  CHECK(cover({}).empty());
  CHECK(cover({shows("a", {"aten::add"}, 10'000)}).empty());
  CHECK(cover({shows("a", {kOutsideOperators})}).empty());
  auto without_pairs = shows("b", {"aten::add"});
  without_pairs.pairs.clear();
  CHECK(cover({without_pairs}).empty());
}
