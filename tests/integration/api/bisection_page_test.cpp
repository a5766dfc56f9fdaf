// The pages on which a person believes a culprit: what was searched, tried and found, and by whom
// the commit is.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "page_checks.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

const Series kSeries{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
const Api::Headers kStranger{{"X-Forwarded-For", "198.51.100.1"}};

/// A search of five commits for the second incident: one cannot change the library, one does not
/// build, two are measured, of which one is the culprit, one is not tried.
struct Searched : Api {
  explicit Searched(bisection::RevertOutcome revert = bisection::RevertOutcome::not_tried) {
    fill();
    const auto incident = add_incident("searched");
    build = BuildStore(*database).discover(BuildOrigin::commit, "c4c4").value().id;
    range.series = {kSeries};
    range.preset = Preset::small;
    range.commits = {{.sha = "c1c1", .subject = "Add a page", .place = {}},
                     {.sha = "c2c2", .subject = "Break it", .place = 0},
                     {.sha = "c3c3", .subject = "Wait", .place = 1},
                     {.sha = "c4c4", .subject = "Copy <all>", .place = 2},
                     {.sha = "bbbb", .subject = "Last", .place = 3}};
    bisection::BisectionSpec spec;
    spec.good = "aaaa";
    spec.bad = "bbbb";
    spec.series = {{.series = kSeries}};
    BisectionRow row;
    row.incident = incident;
    row.good = spec.good;
    row.bad = spec.bad;
    row.spec_json = to_json(spec);
    row.created_at = 1;
    BisectionStore searches(*database);
    row = searches.open(row).value();
    id = std::to_string(row.id);
    REQUIRE(searches.append(row.id, {0, "unbuildable",
                                     R"({"candidate": 0, "commit": "c2c2", "fault": false,
                                         "reason": "recipe exited 125"})"}));
    REQUIRE(searches.append(row.id, {1, "built", R"({"candidate": 2, "commit": "c4c4"})"}));
    REQUIRE(searches.append(row.id, {2, "measured",
                                     R"({"candidate": 2, "reference": null, "purpose": "probe",
            "effects": {"0": [0.1]}, "references": {}, "posterior": [0.0, 0.25, 0.625, 0.125]})"}));
    bisection::BisectionResult result;
    result.commits = 5;
    result.folded = 1;
    auto& culprit = result.culprits.emplace_back();
    culprit.commits = {"c4c4"};
    culprit.confidence = 0.998;
    culprit.verified = "against c3c3";
    culprit.revert = revert;
    REQUIRE(searches.end(row, to_json(result), clock.wall_now()));
    REQUIRE(IncidentStore(*database).attach_bisection(incident, row.id));
    incident_page = "/incidents/" + std::to_string(incident);
  }

  std::string search() { return page("/bisections/" + id); }

  Id build = 0;
  std::string id;
  std::string incident_page;
};

}  // namespace

TEST_CASE("a bisection lists every commit of its range with what became of it") {
  Searched api;
  const auto twin = api.get("/bisections/" + api.id + ".md").text;
  CHECK_THAT(twin, Contains("All 5 commits, oldest first"));
  for (const auto* row :
       {"Add a page | cannot change the library |",
        "Break it | does not build |  |  | recipe exited 125 |", "Wait | not tried |  | 25 %",
        "measured, the culprit | [", "Last | not tried |  | 12.5 %"}) {
    INFO(row);
    CHECK_THAT(twin, Contains(row));
  }
  const auto html = api.search();
  CHECK_THAT(html, Contains("5 commits up to the first bad one, of which 1 cannot change the "
                            "library and has no column"));
  CHECK_THAT(html, Contains("Copy &lt;all&gt;") && !Contains("<all>"));
}

TEST_CASE("a commit that was built leads to its build") {
  Searched api;
  CHECK_THAT(api.search(), Contains("href=\"../builds/" + std::to_string(api.build) + "\""));
}

TEST_CASE("without the clone a bisection lists what was tried, and says why no more") {
  Searched api;
  api.range = {.missing = Error{ErrorCode::not_found, "/srv/clone has no commit c1c1"}};
  const auto twin = api.get("/bisections/" + api.id + ".md").text;
  CHECK_THAT(twin, Contains("2 commits that were tried, oldest first"));
  CHECK_THAT(twin, Contains("of which 1 cannot change the library"));
  CHECK_THAT(twin, Contains("are not listed here") && Contains("has no commit c1c1"));
  const auto of_stranger = api.send("GET", "/bisections/" + api.id + ".md", "", kStranger);
  CHECK(of_stranger.status == 200);
  CHECK_THAT(of_stranger.text, Contains("are not listed here") && !Contains("/srv/clone"));
}

TEST_CASE("the end of a log of a build that failed is for readers with a token alone") {
  Searched api;
  api.build_log = {"error: no <such> type"};
  CHECK_THAT(api.search(), Contains("The end of the build log of c2c2") &&
                               Contains("error: no &lt;such&gt; type"));
  const auto of_stranger = api.send("GET", "/bisections/" + api.id, "", kStranger).text;
  CHECK_THAT(of_stranger,
             Contains("does not build") && !Contains("such&gt; type") && !Contains("build log"));
}

TEST_CASE("a bisection and a build say the command that repeats them") {
  Searched api;
  CHECK_THAT(api.search(),
             Contains("torchwatch bisect aaaa bbbb --workload resnet18 --configuration cpu-train "
                      "--preset small --metric time"));
  CHECK_THAT(api.page("/builds/2"), Contains("torchwatch measure 2.14.0.dev20260817"));
  const auto folder = BuildStore(*api.database).discover(BuildOrigin::folder, "/home/ada/tree");
  REQUIRE(folder);
  const auto of_stranger =
      api.send("GET", "/builds/" + std::to_string(folder->id), "", kStranger).text;
  CHECK_THAT(of_stranger, !Contains("torchwatch measure"));
}

TEST_CASE("the two probabilities of a culprit are explained where they stand") {
  Searched api;
  const auto html = api.search();
  CHECK_THAT(html, Contains("99.8 % sure, its comparison with the commit before it included"));
  CHECK_THAT(html, Contains("culprit, top row 87.5 %"));
  CHECK_THAT(html, Contains("The 99.8 % of the culprit was reckoned later"));
}

TEST_CASE("a culprit that its revert contradicts is a suspect on every page, and no longer sure") {
  Searched api(bisection::RevertOutcome::change_stays);
  const auto search = api.get("/bisections/" + api.id + ".md").text;
  CHECK_THAT(search, Contains("measured, most likely the culprit | [") && !Contains("99.8 %"));
  for (const auto& page : {api.search(), api.page(api.incident_page)}) {
    CHECK_THAT(page, Contains("Most likely culprit") && !Contains("99.8 % sure") &&
                         Contains("The change stays when this commit is taken out of the newest"));
  }
  CHECK_THAT(api.page("/incidents"), Contains("(in doubt: its revert leaves the change)"));
  const auto result = api.get("/api/v1/bisections/" + api.id).body.at("result");
  CHECK(result.at("revert") == "change_stays");
  CHECK(result.at("culprits").at(0).at("revert") == "change_stays");
  CHECK(result.at("confidence") == 0.998);
}

TEST_CASE("a legend names what is drawn alone") {
  Searched api;
  CHECK_THAT(api.search(), Contains("× does not build") && !Contains("striped"));
}

TEST_CASE("an incident says whose commit its culprit is, and which files it changes") {
  Searched api;
  api.commit.changed_paths = {"aten/<b>.cpp", "c10/core/Allocator.cpp"};
  const auto few = api.page(api.incident_page);
  CHECK_THAT(few, Contains("by Ada &lt;L&gt;") && Contains("ada-l</span> on GitHub)") &&
                      Contains(">2026-08-16 10:00</time> UTC"));
  CHECK_THAT(few, Contains("c4c4 changes 2 files:") && Contains("aten/&lt;b&gt;.cpp"));
  api.commit.changed_paths = std::vector<std::string>(250, "some/file.cpp");
  CHECK_THAT(api.page(api.incident_page),
             Contains("<summary>c4c4 changes 250 files</summary>") && Contains("and 50 more"));
  api.is_in_clone = false;
  CHECK_THAT(api.page(api.incident_page),
             Contains("Author and files of c4c4 are not shown: the clone of [source] lacks it."));
}

TEST_CASE("an incident leads to the figures of its evidence") {
  Api api;
  api.fill();
  CHECK_THAT(api.page("/incidents/1"), Contains("href=\"../api/v1/incidents/1/evidence\""));
}
