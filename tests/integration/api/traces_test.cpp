// Traces of runs: what leads to them, and how they are opened.
#include "torchwatch/traces/traces.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "api_fixture.hpp"
#include "page_checks.hpp"
#include "torchwatch/operators/attribution.hpp"
#include "torchwatch/platform/gzip.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

const std::string kSeries = "/series/resnet18/cpu-train/default/time";
const std::string kTrace = R"({"traceEvents":[{"ph":"X","name":"aten::addmm"}]})";

/// A database with one profile of the candidate, whose trace is kept.
struct Traced {
  Traced() {
    api.fill();
    run = api.add_trace(kTrace);
  }
  std::string page() const { return "/traces/" + std::to_string(run); }

  Api api;
  Id run = 0;
  std::filesystem::path file = traces::file_of(api.folder.path() / "traces", "a-profile");
};

}  // namespace

TEST_CASE("the pages of a series, an incident and a comparison lead to the trace of a run") {
  Traced traced;
  for (const auto& path : std::vector<std::string>{kSeries, "/incidents/1", "/comparisons/1"}) {
    INFO(path);
    const auto links = links_of(path, traced.api.page(path));
    CHECK(std::ranges::find(links, traced.page()) != links.end());
    CHECK(std::ranges::find(links, traced.page() + "/trace.json.gz") != links.end());
  }
}

TEST_CASE("a trace is downloaded as it was kept, and does nothing when it is opened alone") {
  Traced traced;
  const auto answer = traced.api.get(traced.page() + "/trace.json.gz");
  CHECK(answer.status == 200);
  CHECK(answer.text == platform::gzip(kTrace));
  CHECK(answer.headers.at("content-type") == "application/gzip");
  CHECK_THAT(answer.headers.at("content-disposition"), Contains("attachment"));
  CHECK_THAT(answer.headers.at("content-security-policy"), Contains("sandbox"));
}

TEST_CASE("the page of a trace leads to its file, its build, its series and Perfetto") {
  Traced traced;
  const auto html = traced.api.page(traced.page());
  CHECK_THAT(html, Contains("<a href=\"https://ui.perfetto.dev\" rel=\"external\">"));
  CHECK_THAT(html, !Contains("<script"));
  CHECK(wrong_tag(html) == "");
  const auto links = links_of(traced.page(), html);
  for (const auto& wanted : {traced.page() + "/trace.json.gz", kSeries, std::string("/builds/2")}) {
    INFO(wanted);
    CHECK(std::ranges::find(links, wanted) != links.end());
  }
  CHECK_THAT(traced.api.get(traced.page() + ".md").text, Contains("every operator, by thread"));
  CHECK(traced.api.get(traced.page() + ".json").body.at("pass") == "profile");
}

TEST_CASE("the page of a trace has its facts as a row of CSV") {
  Api api;
  api.fill();
  const auto page = "/traces/" + std::to_string(api.add_trace(kTrace));
  const auto row = api.get(page + ".csv");
  CHECK(row.status == 200);
  CHECK_THAT(row.text, Catch::StartsWith("run,build,series,recorded,bytes") &&
                           Contains("\n" + page.substr(page.rfind('/') + 1) + ","));
}

TEST_CASE("a trace is handed to the Perfetto that is configured, and to none without one") {
  for (const std::string perfetto : {"", "https://perfetto.example/ui/"}) {
    INFO(perfetto);
    Api api({.clients_per_address_max = 2'000}, perfetto);
    api.fill();
    const auto page = "/traces/" + std::to_string(api.add_trace(kTrace));
    const auto html = api.page(page);
    CHECK_THAT(html, Contains(page.substr(1) + "/trace.json.gz") && !Contains("ui.perfetto.dev"));
    const auto link = "<a href=\"" + perfetto + "\" rel=\"external\">";
    CHECK(count(html, link) == (perfetto.empty() ? 0 : 1));
    CHECK(count(html, "Perfetto") == (perfetto.empty() ? 0 : 1));
  }
}

TEST_CASE("an incident says which operators take longer, where both builds have a trace") {
  const auto trace = [](int copies, int addmm) {
    return R"({"traceEvents":[{"ph":"X","cat":"operator","name":"aten::copy_","ts":0,"dur":)" +
           std::to_string(copies) +
           R"(},{"ph":"X","cat":"operator","name":"aten::addmm","ts":9000,"dur":)" +
           std::to_string(addmm) + "}]}";
  };
  Api api;
  api.fill();
  const auto after = api.add_trace(trace(1500, 300));
  CHECK_THAT(api.page("/incidents/1"), !Contains("What takes longer"));
  RunResult result;
  result.attempt = "profile-before";
  result.breakdown_reason = "a run on the CPU has no device";
  const auto alone = ComparisonStore(*api.database)
                         .open({.purpose = Purpose::measurement, .candidate = 1}, 1)
                         .value();
  RunStore runs(*api.database);
  const auto before = runs.issue({.owner = {OwnerKind::comparison, alone.id},
                                  .slot = "alone/profile/before",
                                  .build = 1,
                                  .benchmark = {"resnet18", {Device::cpu, Mode::train}, {}},
                                  .pass = Pass::profile},
                                 result.attempt, 1);
  REQUIRE(before);
  REQUIRE(runs.record({{result.attempt, result}}, 2));
  const auto file = traces::file_of(api.folder.path() / "traces", result.attempt);
  REQUIRE(traces::keep(api.folder.write("before.json", trace(300, 310)), file).value());

  const auto page = api.page("/incidents/1");
  CHECK_THAT(page, Contains("What takes longer") && Contains("aten::copy_ differs most, by +1.2"));
  CHECK(page.find("aten::copy_</td>") < page.find("aten::addmm</td>"));
  CHECK_THAT(page, Contains("traces/" + std::to_string(*before) + "\">The trace before</a>") &&
                       Contains("traces/" + std::to_string(after) + "\">after</a>"));
}

TEST_CASE("an incident shows what each operator takes, in the place of two traces' difference") {
  Api api;
  api.fill();
  const auto incident = storage::IncidentStore(*api.database).get(1).value();
  const auto benchmark = operators::watched_benchmark(incident);
  REQUIRE(benchmark);
  const auto comparison = ComparisonStore(*api.database).get(incident.comparison).value();
  RunStore runs(*api.database);
  const auto add = [&](int pair, const std::string& side, Id build, std::int64_t addmm_ns) {
    RunResult result;
    result.attempt = "operators-" + side + std::to_string(pair);
    result.breakdown_reason = "a run on the CPU has no device";
    result.operator_figures = {
        {"aten::addmm", {.calls = 4, .self_ns = addmm_ns + pair * 100, .kept_bytes = 0}},
        {"aten::<b>", {.calls = 1, .self_ns = 20'000 + pair * 100}}};
    result.environment.volatile_facts = {{"operators_iteration_ns", 1'000'000},
                                         {"operators_watched_ns", 1'080'000}};
    REQUIRE(runs.issue({.owner = {OwnerKind::comparison, comparison.id},
                        .slot = operators::slot_of(*benchmark, pair, side),
                        .build = build,
                        .benchmark = *benchmark,
                        .pass = Pass::profile},
                       result.attempt, 1));
    REQUIRE(runs.record({{result.attempt, result}}, 2));
  };
  for (int pair = 0; pair < 8; ++pair) {
    add(pair, "baseline", *comparison.baseline, 500'000);
    add(pair, "candidate", comparison.candidate, 700'000 + pair % 2 * 50);
  }
  const auto page = api.page("/incidents/1");
  CHECK_THAT(page, Contains("By operator") && Contains("aten::addmm takes +40.0 %") &&
                       Contains("from 8 pairs of runs") && !Contains("What takes longer"));
  CHECK_THAT(page, Contains("aten::&lt;b&gt;") && !Contains("aten::<b>"));
  CHECK(wrong_tag(page) == "");
}

TEST_CASE("a trace that was removed, and a run of another pass, are not found, with the reason") {
  Traced traced;
  CHECK(traced.api.get("/traces/1").status == 404);
  CHECK(traced.api.get("/traces/99").status == 404);
  std::filesystem::remove(traced.file);
  CHECK(traced.api.get(traced.page() + "/trace.json.gz").status == 404);
  const auto gone = traced.api.get(traced.page());
  CHECK(gone.status == 404);
  CHECK_THAT(gone.text, Contains("[retention]"));
}

TEST_CASE("where no trace was made, an incident has the commands that make one of each build") {
  Api api;
  api.fill();
  const auto text = api.page("/incidents/1");
  CHECK_THAT(text, Contains("torchwatch measure 2.14.0.dev20260816 --workload resnet18") &&
                       Contains("torchwatch measure 2.14.0.dev20260817 --workload resnet18") &&
                       Contains("--profile"));
  CHECK_THAT(api.get(kSeries + ".md").text,
             Contains("torchwatch measure BUILD --workload resnet18"));
}
