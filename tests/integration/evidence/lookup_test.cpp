#include "torchwatch/evidence/lookup.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "evidence_rows.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using comparison::Stage;
using evidence::Found;
using evidence::FoundKind;

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

  std::vector<Found> find(const std::string& words, std::size_t limit = 50) const {
    return evidence::look_up(context, words, limit).value();
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
