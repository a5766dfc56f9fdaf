// How a comparison of the whole suite gets faster with nodes, simulated with the times and the
// numbers of runs that were measured (docs/results).
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>

#include "scripted_lanes.hpp"

using namespace torchwatch;

namespace {

using Row = std::vector<std::string>;

/// The rows of a table of docs/results whose second column names a configuration.
std::vector<Row> rows_of(const std::string& file) {
  std::ifstream text(std::string(TORCHWATCH_SOURCE_DIR) + "/docs/results/" + file);
  std::vector<Row> rows;
  for (std::string line; std::getline(text, line);) {
    std::istringstream cells(line.substr(line.empty() ? 0 : 1));
    Row row;
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(cell);
    if (row.size() > 2 && row[1].starts_with("cpu-")) rows.push_back(row);
  }
  return rows;
}

struct Suite {
  std::vector<double> seconds;  ///< of a block of each benchmark, in either pass
  std::vector<int> blocks;
};

/// A process takes 1.5 s to start, 13 iterations, and half as long again where it is interleaved;
/// an order on a held node 0.1 s more (docs/results/suite-self-test.md: 51 min on one machine).
Suite measured_suite() {
  constexpr double kStart = 1.5;
  constexpr double kIterations = 13 / 1000.0;  // of milliseconds
  constexpr double kOrder = 0.1;
  std::map<std::pair<std::string, std::string>, double> iteration;
  for (const auto& row : rows_of("suite-small.md")) {
    if (!row[2].empty() && row[2].find_first_not_of("0123456789.") == std::string::npos) {
      iteration[{row[0], row[1]}] = std::stod(row[2]);
    }
  }
  Suite suite;
  for (const auto& row : rows_of("suite-self-test.md")) {
    const auto known = iteration.find({row[0], row[1]});
    if (known == iteration.end()) continue;
    const double own = kIterations * known->second;
    suite.seconds.push_back(2 * (kStart + 2 * own + kOrder));
    suite.blocks.push_back(std::stoi(row[2]) / 4);
    suite.seconds.push_back(2 * (1.6 * (kStart + own) + kOrder));
    suite.blocks.push_back(std::stoi(row[4]) / 4);
  }
  return suite;
}

/// The node that measures each benchmark in a nightly whose times scatter by 2 %, as those of runs
/// do, and whose blocks are one more or one less, as the rules of verdicts happen to need.
std::vector<std::string> nodes_of_nightly(Suite suite, int lanes, std::mt19937_64& random) {
  std::normal_distribution<double> scatter(1.0, 0.02);
  for (auto& seconds : suite.seconds) seconds *= scatter(random);
  for (auto& blocks : suite.blocks)
    blocks = std::max(1, blocks + static_cast<int>(random() % 3) - 1);
  test::CountedBlocks counted(suite.blocks);
  test::ScriptedLanes scripted(suite.seconds, counted, lanes);
  scripted.measure([] { return false; });
  std::vector<std::string> nodes;
  for (const auto& of : counted.nodes()) nodes.push_back(of.front());
  return nodes;
}

}  // namespace

TEST_CASE("a comparison of the suite is 3.8, 7.0 and 11.5 times as fast on 4, 8 and 16 nodes") {
  constexpr double kUntilHeld = 23;  // s: an allocation, and what is fetched to the node
  const auto suite = measured_suite();
  REQUIRE(suite.seconds.size() == 318);
  const auto minutes = [&](int nodes) {
    test::CountedBlocks counted(suite.blocks);
    test::ScriptedLanes lanes(suite.seconds, counted, nodes);
    lanes.measure([] { return false; });
    return (kUntilHeld + lanes.ends_at()) / 60;
  };
  const double alone = minutes(1);
  CHECK(alone == Approx(51).margin(3));
  // docs/results/cluster.md states these.
  CHECK(alone / minutes(4) == Approx(3.77).epsilon(0.05));
  CHECK(alone / minutes(8) == Approx(6.97).epsilon(0.05));
  CHECK(alone / minutes(16) == Approx(11.45).epsilon(0.05));
  // From there on the benchmark with most blocks decides, as it stays on one node.
  double longest = 0;
  for (std::size_t i = 0; i < suite.seconds.size(); ++i) {
    longest = std::max(longest, suite.seconds[i] * suite.blocks[i]);
  }
  CHECK(minutes(64) >= (kUntilHeld + longest) / 60);
  CHECK(minutes(64) <= 2 * (kUntilHeld + longest) / 60);
}

TEST_CASE("from nightly to nightly dealing measures most benchmarks on another node of the class") {
  // What a node's times are compared by (service/nodes): tonight's candidate is tomorrow's
  // baseline. The same lane has the same node in every nightly here, which is the worst that Slurm
  // does.
  constexpr int kNightlies = 20;
  const auto suite = measured_suite();
  // docs/results/cluster.md states these shares.
  for (const auto& [lanes, share] : {std::pair{2, 0.486}, {4, 0.745}, {8, 0.867}}) {
    std::mt19937_64 random(20261128);
    std::vector<std::string> before;
    int moved = 0;
    int compared = 0;
    for (int nightly = 0; nightly < kNightlies; ++nightly) {
      const auto nodes = nodes_of_nightly(suite, lanes, random);
      for (std::size_t each = 0; each < before.size(); ++each) {
        moved += nodes[each] == before[each] ? 0 : 1;
        ++compared;
      }
      before = nodes;
    }
    INFO(lanes << " lanes: " << moved << " of " << compared);
    CHECK(static_cast<double>(moved) / compared == Approx(share).epsilon(0.05));
  }
}
