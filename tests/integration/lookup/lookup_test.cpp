#include "torchwatch/lookup/lookup.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "evidence_rows.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using comparison::Stage;
using lookup::Found;
using lookup::FoundKind;

namespace {

const std::string kCulprit = "33de6cd2393f00000000000000000000deadbeef";

struct Known : EvidenceRows {
  Known() {
    add_block(row, series_of("resnet18").benchmark, Stage::screen);
    add_block(row, series_of("resnet50").benchmark, Stage::screen);
    storage::IncidentRow incident;
    incident.comparison = row.id;
    incident.key = "time-cpu:abc";
    incident.title = "resnet18 cpu-train time +15.0 %";
    incident.series = {{series_of("resnet18"), 1.15, 1.13, 1.17, 2e6, 2.3e6}};
    incident.opened_at = 1;
    incident = storage::IncidentStore(*database).open(incident).value();
    add_search(incident.id);
  }

  void add_search(Id incident) {
    storage::BisectionStore searches(*database);
    storage::BisectionRow search;
    search.incident = incident;
    search.good = "aaaa";
    search.bad = "bbbb";
    search.created_at = 1;
    search = searches.open(search).value();
    bisection::NamedCulprit culprit;
    culprit.commits = {kCulprit};
    bisection::BisectionResult result;
    result.culprits = {culprit};
    REQUIRE(searches.end(search, to_json(result), 2));
  }

  /// Coverage of a build, which is measured alone.
  void add_coverage() {
    const auto alone =
        storage::ComparisonStore(*database)
            .open({.purpose = storage::Purpose::measurement, .candidate = candidate}, 2)
            .value();
    const auto benchmark = series_of("resnet18").benchmark;
    storage::RunStore runs(*database);
    RunResult result;
    result.attempt = "coverage";
    result.operators = {{"aten::addmm", 5}, {"aten::relu", 7}};
    result.environment.facts = facts;
    REQUIRE(runs.issue({.owner = {storage::OwnerKind::comparison, alone.id},
                        .slot = "alone/coverage/" + to_string(benchmark) + "/0",
                        .build = candidate,
                        .benchmark = benchmark,
                        .pass = Pass::coverage},
                       result.attempt, 1));
    REQUIRE(runs.record({{result.attempt, result}}, 2));
  }

  std::vector<Found> find(const std::string& words, std::size_t limit = 50) const {
    return lookup::look_up(context, words, limit).value();
  }

  Id baseline = add_build("2.14.0.dev20260816");
  Id candidate = add_build("2.14.0.dev20260817");
  storage::ComparisonRow row = add_comparison(candidate, baseline);
};

bool has(const std::vector<Found>& found, FoundKind kind, const std::string& name) {
  return std::ranges::any_of(
      found, [&](const Found& each) { return each.kind == kind && each.name == name; });
}

}  // namespace

TEST_CASE("no words find nothing") {
  const Known known;
  CHECK(known.find("").empty());
  CHECK(known.find("  ").empty());
  CHECK(known.find("no such thing").empty());
}

TEST_CASE("a workload's name finds it first, then its series and incidents") {
  const Known known;
  const auto found = known.find("ResNet18");
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().kind == FoundKind::workload);
  CHECK(found.front().name == "resnet18");
  CHECK(found.front().path == "workloads/resnet18");
  CHECK(has(found, FoundKind::series, "resnet18/cpu-train/default/time"));
  CHECK(has(found, FoundKind::incident, "1"));
  CHECK_FALSE(has(found, FoundKind::workload, "resnet50"));
}

TEST_CASE("several words find the series that have all of them") {
  const Known known;
  const auto found = known.find("resnet cpu train time");
  CHECK(has(found, FoundKind::series, "resnet18/cpu-train/default/time"));
  CHECK(has(found, FoundKind::series, "resnet50/cpu-train/default/time"));
  CHECK(known.find("resnet cuda").empty());
}

TEST_CASE("a number finds what has it, however it is written") {
  const Known known;
  for (const auto* words : {"1", "#1"}) {
    const auto found = known.find(words);
    CHECK(has(found, FoundKind::incident, "1"));
    CHECK(has(found, FoundKind::comparison, "1"));
    CHECK(has(found, FoundKind::bisection, "1"));
  }
}

TEST_CASE("a build is found by its name, with the comparison of its nightly") {
  const Known known;
  const auto found = known.find("dev20260817");
  CHECK(has(found, FoundKind::build, std::to_string(known.candidate)));
  CHECK(has(found, FoundKind::comparison, "1"));
  CHECK_FALSE(has(found, FoundKind::build, std::to_string(known.baseline)));
}

TEST_CASE("a commit that a search named is found by seven of its digits") {
  const Known known;
  const auto found = known.find("33DE6CD");
  REQUIRE(has(found, FoundKind::commit, kCulprit));
  CHECK(found.front().path == "incidents/1");
  CHECK_FALSE(has(known.find("33de6c"), FoundKind::commit, kCulprit));
}

TEST_CASE("a commit that a search tried leads to the search, and so does an end") {
  Known known;
  storage::BisectionStore searches(*known.database);
  storage::BisectionRow search;
  search.good = "0123456789";
  search.bad = "fedcba9876";
  search.created_at = 3;
  search = searches.open(search).value();
  REQUIRE(
      searches.append(search.id, {0, "built", R"({"candidate": 0, "commit": "77de6cd2393f"})"}));
  for (const auto* commit : {"77de6cd2393f", "0123456789", "fedcba9876"}) {
    INFO(commit);
    const auto found = known.find(std::string(commit).substr(0, 7));
    REQUIRE(has(found, FoundKind::commit, commit));
    CHECK(found.front().path == "bisections/" + std::to_string(search.id));
  }
}

TEST_CASE("a machine is found by its processor and by its number") {
  const Known known;
  CHECK(has(known.find("model x"), FoundKind::machine, "1"));
  CHECK(has(known.find("1"), FoundKind::machine, "1"));
  CHECK_FALSE(has(known.find("model y"), FoundKind::machine, "1"));
}

TEST_CASE("a request is found by what was asked for; a stranger finds its number alone") {
  Known known;
  REQUIRE(
      storage::RequestStore(*known.database)
          .receive("d", storage::RequestKind::bisection, R"({"suspect": "feature/secret"})", 1));
  CHECK(has(known.find("secret"), FoundKind::request, "1"));
  CHECK(known.find("suspect").empty());
  known.context.is_trusted = false;
  CHECK(known.find("secret").empty());
  CHECK(has(known.find("1"), FoundKind::request, "1"));
}

TEST_CASE("an operator is found by a part of its name in the newest build with coverage") {
  Known known;
  CHECK(known.find("addmm").empty());
  known.add_coverage();
  const auto found = known.find("addmm");
  REQUIRE(has(found, FoundKind::operation, "aten::addmm"));
  CHECK_FALSE(has(found, FoundKind::operation, "aten::relu"));
}

TEST_CASE("a stranger does not find a folder of this machine by its name") {
  Known known;
  REQUIRE(storage::BuildStore(*known.database)
              .discover(storage::BuildOrigin::folder, "/home/ada/secret"));
  CHECK(known.find("secret").size() == 1);
  known.context.is_trusted = false;
  CHECK(known.find("secret").empty());
}

TEST_CASE("at most the limit is found") {
  const Known known;
  CHECK(known.find("resnet", 2).size() == 2);
}

TEST_CASE("a workload of the suite is found before it has values, and one with values once") {
  const Known known;
  const lookup::Suite suite = [] {
    return Result<nlohmann::json>(
        nlohmann::json::array({{{"name", "vgg16"}}, {{"name", "resnet18"}}}));
  };
  const auto find = [&](const std::string& words) {
    return lookup::look_up(known.context, words, 50, suite).value();
  };
  CHECK(has(find("vgg"), FoundKind::workload, "vgg16"));
  CHECK(std::ranges::count(find("resnet18"), FoundKind::workload, &Found::kind) == 1);
}
