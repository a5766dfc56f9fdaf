// Nodes of one machine class, compared by what SQLite has of them.
#include "torchwatch/nodes/node_report.hpp"

#include <catch2/catch.hpp>

#include "measured_nodes.hpp"
#include "memory_folder.hpp"
#include "torchwatch/health/problem.hpp"
#include "torchwatch/health/report.hpp"
#include "torchwatch/runs/node_values.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nodes::compare_nodes;
using test::MeasuredNodes;

namespace {

/// A fresh database in memory.
struct Place {
  test::MemoryFolder folder;
  std::unique_ptr<Database> database =
      Database::open({folder.path() / "torchwatch.sqlite", "", false}).value();
};

nodes::ClassReport only_class(Database& database) {
  auto reports = compare_nodes(database).value();
  REQUIRE(reports.size() == 1);
  return std::move(reports.front());
}

}  // namespace

TEST_CASE_METHOD(Place, "a node that takes 30 % longer is found by what both nodes measured") {
  test::store_nightlies(*database, {.factors = {1, 1.3}});
  const auto report = only_class(*database);
  CHECK(report.machine_class.name == "Model X, 2 cores");
  REQUIRE(report.nodes.size() == 2);
  CHECK(report.nodes[1].node == "n2");
  CHECK(report.nodes[1].time.items == 40);  // builds 2 to 6 in eight benchmarks
  CHECK(report.nodes[1].time.builds == 5);
  CHECK(report.nodes[1].time.ratio == Approx(1.3).epsilon(0.02));
  CHECK(report.nodes[1].time.differs);
  CHECK_FALSE(report.nodes[1].is_noisier());
  const auto complaints = complaints_about(report);
  REQUIRE(complaints.size() == 1);
  CHECK_THAT(complaints.front(),
             Catch::Matches("node n2 of the class Model X, 2 cores takes (29|30|31) % longer "
                            "\\(2[89] to 3[12] %, 40 benchmarks of 5 builds\\) than the other one "
                            "of its class: leave it out by options = "
                            "\\[\"--exclude=n2\"\\] of \\[slurm\\] or of its "
                            "\\[\\[slurm.class\\]\\], or repair it"));
}

TEST_CASE_METHOD(Place, "equal nodes are listed, and nothing is said about them") {
  test::store_nightlies(*database, {});
  const auto report = only_class(*database);
  REQUIRE(report.nodes.size() == 2);
  CHECK(report.nodes[0].time.ratio == Approx(1).epsilon(0.02));
  CHECK(complaints_about(report).empty());
  CHECK(health::nodes_that_differ(*database).value().empty());
  CHECK(health::standing_problems(*database, {}).value().empty());
}

TEST_CASE_METHOD(Place, "a noisy node of three is found, though it is neither slow nor fast") {
  test::store_nightlies(*database, {.nodes = {"n1", "n2", "n3"},
                                    .factors = {1, 1, 1},
                                    .noise = {0.01, 0.01, 0.06},
                                    .nightlies = 12});
  const auto report = only_class(*database);
  REQUIRE(report.nodes.size() == 3);
  CHECK(report.nodes[2].is_noisier());
  CHECK_FALSE(report.nodes[0].is_noisier());
  CHECK_FALSE(report.nodes[2].time.differs);
  const auto complaints = complaints_about(report);
  REQUIRE(complaints.size() == 1);
  CHECK_THAT(complaints.front(), Contains("node n3 of the class Model X, 2 cores measures ") &&
                                     Contains(" times as noisily (") &&
                                     Contains("as the others of its class"));
}

TEST_CASE_METHOD(Place, "nodes of different classes are not compared") {
  test::store_nightlies(*database, {.nodes = {"n1"}, .factors = {1}, .noise = {0.01}});
  CHECK(compare_nodes(*database).value().empty());
  const auto machine_class = MachineClass{.id = 1};
  CHECK(nodes::nodes_of_class(*database, machine_class).value().empty());
  CHECK(nodes::nodes_of_class(*database, {}).value().empty());
}

TEST_CASE_METHOD(Place, "what is not measured whole, slowed down or old counts for no node") {
  test::store_nightlies(*database, {.nightlies = 2});
  ComparisonStore comparisons(*database);
  const auto build = comparisons.get(1).value().candidate;
  std::mt19937_64 random(1);
  for (const auto purpose : {Purpose::requested, Purpose::drill, Purpose::study}) {
    const auto row = comparisons.open({purpose, build, build}, 5).value();
    test::store_pairs(*database, row, {}, 0, random);
    if (purpose == Purpose::requested) continue;
    REQUIRE(comparisons.advance(row, ComparisonState::reported, 6));
  }
  const auto found = storage::comparisons_on_nodes(*database, 30).value();
  REQUIRE(found.size() == 2);
  CHECK(found[0].comparison == 2);
  CHECK(found[0].nodes == std::vector<std::string>{"n1", "n2"});
  CHECK(storage::comparisons_on_nodes(*database, 1).value().size() == 1);
  const auto values = storage::node_values_of(*database, 2).value();
  REQUIRE(values.size() == 16);  // two builds in eight benchmarks, each on one node
  CHECK(values.front().node == "n1");
  CHECK(values.front().values.size() == 4);
}

TEST_CASE_METHOD(Place,
                 "a big suite is looked at over several builds, though one has enough items") {
  test::store_nightlies(*database, {.factors = {1, 1.3}, .nightlies = 12, .benchmarks = 60});
  const auto report = only_class(*database);
  CHECK(report.nodes[1].time.items == 7 * 60);
  CHECK(report.nodes[1].time.builds == 7);
  CHECK(complaints_about(report).size() == 1);
}

TEST_CASE_METHOD(Place, "with enough items of each node older nightlies count no more") {
  test::store_nightlies(*database, {.factors = {1, 1.3}});
  // The node was repaired.
  auto later = MeasuredNodes{.nightlies = 16, .prefix = "later "};
  test::store_nightlies(*database, later);
  const auto report = only_class(*database);
  CHECK(report.nodes[1].time.items >= 100);
  CHECK(report.nodes[1].time.items < 130);
  CHECK(complaints_about(report).empty());
}

TEST_CASE_METHOD(Place,
                 "a node that differs is a problem that fails nothing, named to the trusted") {
  test::store_nightlies(*database, {.factors = {1, 1.3}});
  const auto problems = health::standing_problems(*database, {}).value();
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().source == "nodes");
  CHECK_FALSE(health::is_failing(problems));
  CHECK_FALSE(health::is_of_item(problems.front()));
  CHECK_THAT(text_of(problems.front(), true), Contains("--exclude=n2"));
  CHECK_THAT(text_of(problems.front(), false), !Contains("n2") && Contains("nodes of the cluster"));
}
