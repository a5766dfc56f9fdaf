#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "torchwatch/nightly/night_summary.hpp"
#include "torchwatch/nightly/plan.hpp"
#include "torchwatch/nightly/search_order.hpp"
#include "torchwatch/nightly/search_result.hpp"

using namespace torchwatch;
using namespace torchwatch::nightly;

namespace {

Plan some_plan() {
  Plan plan;
  plan.preset = Preset::paper;
  plan.cells = {Cell{"dlrm", {Device::cuda, Mode::infer}, Variant{Precision::bf16}}};
  plan.passes = {Pass::memory};
  plan.threads = 2;
  plan.take_turns = true;
  plan.finds_incidents = false;
  plan.of_cells = 336;
  plan.nightlies_back = 28;
  return plan;
}

}  // namespace

TEST_CASE("a stored plan reads back as it was") {
  REQUIRE(parse_plan(to_json(some_plan())).value() == some_plan());
}

TEST_CASE("a plan stored before plans knew of self-tests reads back") {
  auto older = nlohmann::json::parse(to_json(some_plan()));
  older.erase("of_cells");
  older.erase("nightlies_back");
  const auto plan = parse_plan(older.dump()).value();
  REQUIRE(plan.of_cells == 0);
  REQUIRE(plan.nightlies_back == 0);
}

TEST_CASE("a plan stored before runs took turns goes on as it was begun") {
  auto older = nlohmann::json::parse(to_json(some_plan()));
  older.erase("take_turns");
  REQUIRE_FALSE(parse_plan(older.dump()).value().take_turns);
}

TEST_CASE("timing runs on a CPU take turns, where the plan says so") {
  Plan plan;
  plan.take_turns = true;
  const Cell cell{"dlrm", {Device::cpu, Mode::train}, {}};
  REQUIRE(takes_turns(plan, cell, Pass::timing));
  REQUIRE_FALSE(takes_turns(plan, cell, Pass::memory));
  REQUIRE_FALSE(takes_turns(plan, {"dlrm", {Device::cuda, Mode::train}, {}}, Pass::timing));
  auto of_two = cell;
  of_two.variant.threads = 2;
  REQUIRE(takes_turns(plan, of_two, Pass::timing));
  plan.take_turns = false;
  REQUIRE_FALSE(takes_turns(plan, cell, Pass::timing));
}

TEST_CASE("a stored summary reads back as it was, and one with nothing to say is empty") {
  NightSummary summary;
  REQUIRE(to_json(summary).empty());
  REQUIRE(parse_summary("").value() == summary);
  REQUIRE(in_sentences(summary).empty());
  summary.machine_shifts = {{Device::cuda, 1.3, 1.25, 1.5, 9}};
  summary.machine_changes = {"cpu_governor: performance -> powersave"};
  summary.left_out = {Cell{"dlrm", {Device::cpu, Mode::infer}, {}}};
  REQUIRE(parse_summary(to_json(summary)).value() == summary);
  REQUIRE(in_sentences(summary).size() == 3);
  REQUIRE_THAT(in_sentences(summary)[0], Catch::Contains("+30.0 %"));
  REQUIRE(parse_summary("{}").error().code == ErrorCode::corrupt);
  REQUIRE(parse_summary("{").error().code == ErrorCode::corrupt);
}

TEST_CASE("a stored search order reads back as it was") {
  SearchOrder order;
  order.good = "a";
  order.bad = "b";
  order.targets = {{Target{Cell{"dlrm", {}, {}}, Metric::leak_growth}, 0, 32}};
  order.plan = some_plan();
  order.cannot_change = {"docs/**"};
  order.base_folder = "/builds/base";
  order.verify_by_revert = false;
  REQUIRE(parse_search_order(to_json(order)).value() == order);
}

TEST_CASE("a stored answer reads back as it was") {
  SearchResult result;
  result.outcome = "found";
  const TargetEffect effect{Target{Cell{"dlrm", {}, {}}, Metric::time}, 0.14, 0.12, 0.16, 12};
  result.culprits = {{{"c1"}, "p", 0.995, {effect}, "against p"}};
  result.ends = {effect};
  result.commits = 39;
  result.folded = 26;
  result.skipped = {{"c2", "recipe exited 125"}};
  REQUIRE(parse_search_result(to_json(result)).value() == result);
  REQUIRE(result.culprit() == "c1");
}

TEST_CASE("commits that cannot be told apart are candidates, and none of them is the culprit") {
  SearchResult result;
  result.outcome = "found";
  result.culprits = {{{"c1", "c2"}, "p", 0.99, {}, ""}};
  REQUIRE_FALSE(result.culprit());
}

TEST_CASE("of several findings the largest that is one commit leads, with all that is said of it") {
  SearchResult result;
  result.outcome = "found";
  result.culprits = {{{"c1", "c2"}, "p", 0.99, {}, ""}, {{"c3"}, "c2", 0.98, {}, "against c2"}};
  const auto printed = nlohmann::json::parse(to_json(result));
  CHECK(printed["culprit"] == "c3");
  CHECK(printed["candidates"] == nlohmann::json({"c3"}));
  CHECK(printed["confidence"] == 0.98);
  CHECK(printed["verified"] == "against c2");
}

TEST_CASE("stored JSON that is cut off is corrupt") {
  const auto whole = to_json(some_plan());
  REQUIRE(parse_plan(whole.substr(0, whole.size() / 2)).error().code == ErrorCode::corrupt);
  REQUIRE(parse_search_order("{}").error().code == ErrorCode::corrupt);
  REQUIRE(parse_search_result("[]").error().code == ErrorCode::corrupt);
}
