#include "torchwatch/detect/node_level.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "torchwatch/records/statistics.hpp"

using namespace torchwatch;
using namespace torchwatch::detect;

namespace {

/// A cluster whose nodes take what a benchmark takes times a factor of their own.
struct Cluster {
  std::vector<double> factors = {1, 1};
  int items = kNodeItemsLeast;
  int builds = kNodeBuildsLeast;
  double noise = 0.02;  ///< standard deviation of ln of a run's time
};

std::string name_of(std::size_t node) {
  return "n" + std::to_string(node + 1);
}

/// ln of the median of four runs.
double measured(double log, double noise, std::mt19937_64& random) {
  std::normal_distribution<double> scatter(log, noise);
  std::vector<double> runs;
  for (int run = 0; run < 4; ++run) runs.push_back(scatter(random));
  return median(runs);
}

/// Items that two nodes in turn have measured; benchmarks take from 1 ms to 1 s.
std::vector<NodeItem> items_of(const Cluster& cluster, std::mt19937_64& random) {
  std::uniform_real_distribution<double> benchmark(std::log(1e6), std::log(1e9));
  const auto nodes = cluster.factors.size();
  std::vector<NodeItem> items;
  for (int number = 0; number < cluster.items; ++number) {
    NodeItem item{.build = number % cluster.builds};
    const double log = benchmark(random);
    const auto first = static_cast<std::size_t>(number) % nodes;
    const auto step = 1 + static_cast<std::size_t>(number) / nodes % (nodes - 1);
    for (const auto node : {first, (first + step) % nodes}) {
      item.logs[name_of(node)] =
          measured(log + std::log(cluster.factors[node]), cluster.noise, random);
    }
    items.push_back(std::move(item));
  }
  return items;
}

std::vector<NodeLevel> levels_of(const Cluster& cluster, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return node_levels(items_of(cluster, random), kNodeTimeBeyond);
}

std::vector<std::string> differing(const std::vector<NodeLevel>& levels) {
  std::vector<std::string> nodes;
  for (const auto& level : levels) {
    if (level.differs) nodes.push_back(level.node);
  }
  return nodes;
}

/// Items of builds that were measured in two nightlies each, in which every node was a little
/// faster or slower than usual, all its benchmarks alike: `unrest` is the standard deviation of
/// that.
std::vector<NodeItem> items_of_restless(const Cluster& cluster, double unrest,
                                        std::mt19937_64& random) {
  std::normal_distribution<double> state(0, unrest);
  const auto nodes = cluster.factors.size();
  std::vector<std::vector<double>> states(static_cast<std::size_t>(cluster.builds) + 1);
  for (auto& nightly : states) {
    for (std::size_t node = 0; node < nodes; ++node) nightly.push_back(state(random));
  }
  auto items = items_of(cluster, random);
  for (auto& item : items) {
    auto nightly = static_cast<std::size_t>(item.build) + random() % 2;
    for (auto& [node, log] : item.logs) {
      log += states[nightly][static_cast<std::size_t>(node.back() - '1')];
      nightly = 2 * static_cast<std::size_t>(item.build) + 1 - nightly;
    }
  }
  return items;
}

/// ln of how much two runs scatter, on nodes whose runs scatter by a factor of their own.
std::vector<NodeItem> spreads_of(const Cluster& cluster, std::mt19937_64& random) {
  auto items = items_of(cluster, random);
  for (auto& item : items) {
    for (auto& [node, log] : item.logs) {
      const auto place = static_cast<std::size_t>(node.back() - '1');
      std::normal_distribution<double> scatter(0, cluster.noise * cluster.factors[place]);
      const double first = scatter(random);
      log = std::log(std::max(robust_sd({first, scatter(random)}), 1e-4));
    }
  }
  return items;
}

/// How many items give each node the least number.
int least_items(int nodes) {
  return kNodeItemsLeast * nodes / 2;
}

}  // namespace

TEST_CASE("none of 1,200 simulated clusters of equal nodes has one that differs") {
  int reported = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    for (const double noise : {0.01, 0.02}) {
      for (const int nodes : {2, 4}) {
        const Cluster cluster{.factors = std::vector<double>(static_cast<std::size_t>(nodes), 1.0),
                              .items = least_items(nodes),
                              .noise = noise};
        const auto levels = levels_of(cluster, seed);
        REQUIRE(levels.size() == cluster.factors.size());
        REQUIRE(levels.front().items == kNodeItemsLeast);
        REQUIRE(std::isfinite(levels.front().high));
        reported += static_cast<int>(differing(levels).size());
      }
    }
  }
  CHECK(reported == 0);
}

TEST_CASE("nodes whose states differ by 2 % from nightly to nightly are not reported for that") {
  int reported = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    for (const int nodes : {2, 4}) {
      std::mt19937_64 random(seed);
      const auto items = items_of_restless(
          {.factors = std::vector<double>(static_cast<std::size_t>(nodes), 1.0), .items = 100},
          0.02, random);
      reported += static_cast<int>(differing(node_levels(items, kNodeTimeBeyond)).size());
    }
  }
  CHECK(reported == 0);
}

TEST_CASE("a node that takes 10 % longer is found with the least items, and no other with it") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO(seed);
    const auto levels = levels_of({.factors = {1, 1, 1.1, 1}, .items = least_items(4)}, seed);
    REQUIRE(differing(levels) == std::vector<std::string>{"n3"});
    CHECK(levels[2].items == kNodeItemsLeast);
    CHECK(levels[2].ratio == Approx(1.1).epsilon(0.02));
    CHECK(levels[2].low <= levels[2].ratio);
    CHECK(levels[2].high >= levels[2].ratio);
  }
}

TEST_CASE("of two nodes both differ, as nobody knows which is right") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO(seed);
    const auto levels = levels_of({.factors = {1, 1.1}, .items = least_items(2)}, seed);
    REQUIRE(differing(levels) == std::vector<std::string>{"n1", "n2"});
    CHECK(levels[0].ratio * levels[1].ratio == Approx(1));
  }
}

TEST_CASE(
    "one bad node of three makes no good one differ, and a fast one is found like a slow one") {
  for (const double factor : {0.7, 1.3}) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      INFO(factor << ", " << seed);
      const auto levels = levels_of({.factors = {1, factor, 1}, .items = least_items(3)}, seed);
      REQUIRE(differing(levels) == std::vector<std::string>{"n2"});
      CHECK(levels[1].ratio == Approx(factor).epsilon(0.03));
    }
  }
}

TEST_CASE("the 99 % interval has the true ratio in nearly all clusters") {
  int outside = 0;
  constexpr int kClusters = 500;
  for (std::uint64_t seed = 1; seed <= kClusters; ++seed) {
    const auto level = levels_of({.factors = {1, 1.2}, .items = 40}, seed)[1];
    outside += level.low > 1.2 || level.high < 1.2 ? 1 : 0;
  }
  // Intervals of medians from few items cover a little less than they state.
  CHECK(outside <= kClusters * 4 / 100);
}

TEST_CASE("two runs of each build make no node of 500 clusters of equal nodes noisier") {
  int reported = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    for (const int nodes : {2, 4}) {
      std::mt19937_64 random(seed);
      const auto items =
          spreads_of({.factors = std::vector<double>(static_cast<std::size_t>(nodes), 1.0),
                      .items = least_items(nodes)},
                     random);
      reported += static_cast<int>(differing(node_levels(items, kNodeNoiseBeyond)).size());
    }
  }
  CHECK(reported == 0);
}

TEST_CASE("a node six times as noisy is nearly always found with 100 items of two runs") {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto items = spreads_of({.factors = {1, 6, 1}, .items = 150, .noise = 0.01}, random);
    const auto levels = node_levels(items, kNodeNoiseBeyond);
    REQUIRE(levels[1].items == 100);
    CHECK_FALSE(levels[0].differs);
    CHECK_FALSE(levels[2].differs);
    found += levels[1].differs ? 1 : 0;
  }
  CHECK(found >= 190);
}

TEST_CASE("too few items or too few builds say nothing") {
  const auto few = levels_of({.factors = {1, 1.5}, .items = kNodeItemsLeast - 1}, 1);
  REQUIRE(few.size() == 2);
  CHECK(few[1].items == kNodeItemsLeast - 1);
  CHECK(few[1].high == std::numeric_limits<double>::infinity());
  CHECK(differing(few).empty());
  const auto one_night = levels_of({.factors = {1, 1.5}, .builds = kNodeBuildsLeast - 1}, 1);
  CHECK(one_night[1].ratio == Approx(1.5).epsilon(0.03));
  CHECK(differing(one_night).empty());
}

TEST_CASE("a node that shares nothing with others is listed without a level") {
  std::mt19937_64 random(7);
  auto items = items_of({.factors = {1, 1.3}}, random);
  for (int number = 0; number < 50; ++number) {
    items.push_back({.build = number % 5, .logs = {{"n9", 12.0}}});
  }
  const auto levels = node_levels(items, kNodeTimeBeyond);
  REQUIRE(levels.size() == 3);
  CHECK(levels[2].node == "n9");
  CHECK(levels[2].items == 0);
  CHECK_FALSE(std::isfinite(levels[2].high));
  CHECK(levels[1].differs);
  CHECK(node_levels({}, kNodeTimeBeyond).empty());
}

TEST_CASE("nodes that no item connects are not compared with one another") {
  std::mt19937_64 random(7);
  auto items = items_of({.factors = {1, 1}}, random);
  for (auto item : items_of({.factors = {3, 3}}, random)) {
    items.push_back(
        {.build = item.build, .logs = {{"n3", item.logs.at("n1")}, {"n4", item.logs.at("n2")}}});
  }
  const auto levels = node_levels(items, kNodeTimeBeyond);
  REQUIRE(levels.size() == 4);
  CHECK(differing(levels).empty());
  for (const auto& level : levels) CHECK(level.ratio == Approx(1).epsilon(0.03));
}

TEST_CASE("the order of the items changes no ratio, and equal items give equal intervals") {
  std::mt19937_64 random(11);
  auto items = items_of({.factors = {1, 1.2, 1}, .items = 60}, random);
  const auto levels = node_levels(items, kNodeTimeBeyond);
  const auto again = node_levels(items, kNodeTimeBeyond);
  std::ranges::reverse(items);
  const auto reversed = node_levels(items, kNodeTimeBeyond);
  for (std::size_t node = 0; node < levels.size(); ++node) {
    CHECK(levels[node].low == again[node].low);
    CHECK(levels[node].ratio == Approx(reversed[node].ratio));
  }
}
