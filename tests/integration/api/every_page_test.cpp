// What all pages have in common, and their twins.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>

#include "api_fixture.hpp"
#include "page_checks.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using Catch::Equals;

TEST_CASE("every page has one heading, a title, a language, and no script or style of its own") {
  Api api;
  api.fill();
  for (const auto& path : kPages) {
    INFO(path);
    const auto html = api.page(path);
    CHECK(count(html, "<h1>") == 1);
    CHECK(count(html.substr(0, html.find("</head>")), "<title>") == 1);
    CHECK_THAT(html, Contains("<html lang=\"en\">") && Contains("All times are UTC."));
    CHECK_THAT(html, !Contains("<script") && !Contains("<style") && !Contains(" style=") &&
                         !Contains(" onclick="));
    CHECK(wrong_tag(html) == "");
  }
}

TEST_CASE("every page names its twins, and the text is one of them") {
  Api api;
  api.fill();
  for (const auto& path : kPages) {
    const auto alternates = alternates_of(path, api.page(path));
    INFO(path);
    const auto is_text = [](const auto& address) {
      return address.find(".md") != std::string::npos;
    };
    const auto text = std::ranges::find_if(alternates, is_text);
    REQUIRE(text != alternates.end());
    INFO(*text);
    const auto answer = api.get(*text);
    CHECK(answer.status == 200);
    CHECK(answer.headers.at("content-type") == "text/markdown; charset=utf-8");
    CHECK_FALSE(answer.text.empty());
  }
}

TEST_CASE("the JSON twin of a page is the API's answer") {
  Api api;
  api.fill();
  const std::vector<std::pair<std::string, std::string>> twins{
      {"/comparisons.json?limit=1", "/api/v1/comparisons?limit=1"},
      {"/comparisons/1.json?only=regressed", "/api/v1/comparisons/1"},
      {"/nightlies/2.14.0.dev20260817.json", "/api/v1/nightlies/2.14.0.dev20260817"},
      {"/compare/2.14.0.dev20260816...2.14.0.dev20260817.json?metric=time",
       "/api/v1/comparisons?baseline=2.14.0.dev20260816&candidate=2.14.0.dev20260817"},
      {"/incidents.json?state=accepted", "/api/v1/incidents?state=accepted"},
      {"/incidents/1.json", "/api/v1/incidents/1"},
      {"/bisections/1.json", "/api/v1/bisections/1"},
      {"/models/resnet18.json", "/api/v1/workloads/resnet18"},
      {"/series.json?workload=resnet18", "/api/v1/series?workload=resnet18"},
      {"/series/resnet18/cpu-train/default/time.json",
       "/api/v1/series/resnet18/cpu-train/default/time"},
      {"/builds/2.json", "/api/v1/builds/2"},
      {"/machines.json", "/api/v1/machines"},
      {"/machines/compare.json?build=2", "/api/v1/machines/compare?build=2"},
      {"/comparisons.json?purpose=all", "/api/v1/comparisons"},
      {"/comparisons.json?state=failed", "/api/v1/comparisons?state=failed"},
      {"/series.json?limit=1&show=changes", "/api/v1/series?limit=1"},
      {"/gpu.json?build=2.14.0.dev20260817&order=name", "/api/v1/breakdown?build=2"},
      {"/coverage.json?build=2&operator=relu", "/api/v1/coverage?build=2"}};
  for (const auto& [twin, original] : twins) {
    INFO(twin);
    CHECK(api.get(twin).status == 200);
    CHECK(api.get(twin).body == api.get(original).body);
  }
  for (const std::string wrong :
       {"/comparisons.json?nonsense=1", "/incidents/1.json?limit=1", "/index.json?a=b"}) {
    INFO(wrong);
    CHECK(api.get(wrong).status == 400);
  }
  CHECK(api.get("/coverage.json?build=nothing").status == 404);
}

TEST_CASE("the text of an incident is that of its issue, for readers who may see it") {
  Api api;
  api.fill();
  CHECK(api.get("/incidents/1.md").text == "# resnet18\n\nSlower.\n");
  const auto seen = api.send("GET", "/incidents/1.md", "", {{"X-Forwarded-For", "192.0.2.1"}});
  CHECK_THAT(seen.text, Contains("# resnet18 cpu-train time +15.0 %") && !Contains("Slower."));
}

TEST_CASE("a table of a page is a file for spreadsheets") {
  Api api;
  api.fill();
  const auto answer = api.get("/comparisons/1.csv");
  CHECK(answer.headers.at("content-type") == "text/csv; charset=utf-8");
  CHECK_THAT(answer.text, Contains("workload,configuration,variant,metric,unit,verdict,ratio") &&
                              Contains("resnet18,cpu-train,default,time,ns,regressed,1.15,1.13"));
  CHECK(api.get("/help.csv").status == 200);
  CHECK(api.get("/incidents/1.xml").status == 404);
}

TEST_CASE("each table that a page offers is one with headings, also while it is empty") {
  const bool is_filled = GENERATE(true, false);
  Api api;
  if (is_filled) api.fill();
  auto paths = kPages;
  paths.emplace_back("/outbox");
  std::size_t tables = 0;
  for (const auto& path : paths) {
    const auto page = api.get(path);
    if (!is_filled && page.status == 404) continue;
    for (const auto& address : alternates_of(path, page.text)) {
      if (address.find(".csv") == std::string::npos) continue;
      INFO(address);
      const auto answer = api.get(address);
      CHECK(answer.status == 200);
      CHECK(answer.headers.at("content-type") == "text/csv; charset=utf-8");
      CHECK(answer.text.find("\r\n") > 0);
      CHECK_THAT(answer.text, Contains("\r\n"));
      ++tables;
    }
  }
  CHECK(tables > (is_filled ? 25U : 12U));
  CHECK_THAT(
      api.get("/incidents.csv?state=closed").text,
      Equals("id,what,worst change,culprit,state,who has it,issue,\"opened, UTC\",open for\r\n"));
}

TEST_CASE("how the script sorts and filters tables is in the address, and changes no page") {
  Api api;
  api.fill();
  for (const auto& path : kPages) {
    INFO(path);
    const auto sign = path.find('?') == std::string::npos ? "?" : "&";
    const auto with = path + sign + "filter=%3Cimg%3E&by=-change&filter2=a&by12=b";
    // Each request takes a while by the tests' clock: ages are left out.
    const auto without_numbers = [](std::string text) {
      std::erase_if(text, [](unsigned char c) { return std::isdigit(c) != 0; });
      return text;
    };
    CHECK(without_numbers(api.page(with)) == without_numbers(api.page(path)));
  }
  CHECK(api.get("/incidents.json?by=what").body == api.get("/incidents.json").body);
  for (const std::string wrong : {"filters=a", "by1234=b", "filter-2=a"}) {
    CHECK(api.get("/builds?" + wrong).status == 400);
  }
}

TEST_CASE("two builds are shown with their matrix, and with the command that compares them") {
  Api api;
  api.fill();
  const std::string older = "2.14.0.dev20260816";
  const std::string newer = "2.14.0.dev20260817";
  const auto measured = api.page("/compare/" + older + "..." + newer + "?metric=time");
  CHECK_THAT(measured, Contains("id=\"map\"") && Contains("resnet18") &&
                           Contains("torchwatch compare " + older + " " + newer + "</pre>"));
  const auto other = api.page("/compare/" + newer + "..." + older);
  CHECK_THAT(other, Contains("were not measured side by side") && !Contains("id=\"map\"") &&
                        Contains("torchwatch compare " + newer + " " + older + "</pre>"));
  CHECK(api.get("/compare/" + older + "..." + newer + "?metric=beauty").status == 400);
}

TEST_CASE("the comparisons of two builds have their twins, also where there is none yet") {
  Api api;
  api.fill();
  const std::string measured = "/compare/2.14.0.dev20260816...2.14.0.dev20260817";
  const std::string other = "/compare/2.14.0.dev20260817...2.14.0.dev20260816";
  CHECK(alternates_of(measured, api.page(measured)) ==
        std::vector<std::string>{measured + ".json", measured + ".md", measured + ".csv"});
  const auto listed = api.get(measured + ".json").body.at("comparisons");
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].at("id") == 1);
  CHECK(api.get(other + ".json").body.at("comparisons").empty());
  CHECK_THAT(api.get(measured + ".csv").text, Contains("2.14.0.dev20260817 against"));
  CHECK(count(api.get(other + ".csv").text, "\r\n") == 1);
  CHECK_THAT(api.get(other + ".md").text, Contains("were not measured side by side"));
  CHECK(api.get("/compare/a...b.json").status == 404);
  CHECK(api.get("/compare/alone.json").status == 404);
  const auto count_of = [&](const std::string& query) {
    return api.get("/api/v1/comparisons?" + query).body.at("comparisons").size();
  };
  CHECK(count_of("candidate=2.14.0.dev20260817") == 1);
  CHECK(count_of("candidate=2.14.0.dev20260816") == 0);
  CHECK(count_of("baseline=nothing") == 0);
}

TEST_CASE("names of others are harmless on every page and in every table") {
  Api api;
  api.fill();
  const std::string hostile = "=cmd|'<img src=x onerror=alert(1)>\"";
  auto build = BuildStore(*api.database).discover(BuildOrigin::folder, hostile).value();
  REQUIRE(BuildStore(*api.database).reject(build.id, hostile));
  REQUIRE(IncidentStore(*api.database).set_title(1, hostile));
  for (const std::string path : {"/", "/builds", "/builds/3", "/incidents", "/incidents/1"}) {
    INFO(path);
    const auto html = api.page(path);
    CHECK_THAT(html, Contains("&lt;img src=x") && !Contains("<img"));
    CHECK(wrong_tag(html) == "");
  }
  for (const std::string path : {"/builds.csv", "/incidents.csv"}) {
    CHECK_THAT(api.get(path).text, Contains("\"'=cmd") && !Contains(",=cmd"));
  }
  CHECK_THAT(api.get("/builds.md").text, !Contains("<img"));
  CHECK_THAT(api.page("/search?q=%3Cimg%20src%3Dx%3E"),
             Contains("value=\"&lt;img src=x&gt;\"") && !Contains("<img"));
}

TEST_CASE("what is asked wrongly is said on a page with the right status") {
  Api api;
  api.fill();
  const std::vector<std::pair<std::string, int>> wrong{
      {"/incidents/x", 404},
      {"/incidents/99", 404},
      {"/comparisons/99", 404},
      {"/nightlies/1999-01-01", 404},
      {"/models/nothing", 404},
      {"/series?workload=nothing", 404},
      {"/series?workload=resnet18&configuration=tpu-train", 404},
      {"/series/resnet18/tpu-train/default/time", 404},
      {"/series/resnet18/cpu-train/default/beauty", 404},
      {"/series?metric=beauty", 404},
      {"/series?from=2026-13-01", 400},
      {kSeriesPage + "&from=2026-13-01", 400},
      {"/comparisons/1?metric=beauty", 400},
      {"/comparisons/1?only=nice", 400},
      {"/comparisons?limit=100000", 400},
      {"/bisections/1?step=99", 404},
      {"/bisections/1?step=-1", 400},
      {"/comparisons/1?limit=5", 400},
      {"/series/resnet18/cpu-train/default/time?before=5", 400},
      {"/compare/alone", 404},
      {"/compare/a...b", 404},
      {"/models?sort=beauty", 400},
      {"/models/resnet18?sort=beauty", 400},
      {"/builds?origin=moon", 400},
      {"/search?q=" + std::string(3'000, 'a'), 400},
      {"/help?a=b", 400},
      {"/?a=b", 400}};
  for (const auto& [path, status] : wrong) {
    INFO(path.substr(0, 100));
    const auto answer = api.get(path);
    CHECK(answer.status == status);
    CHECK(answer.headers.at("content-type") == "text/html; charset=utf-8");
    CHECK(count(answer.text, "<h1>") == 1);
  }
}

TEST_CASE("a stranger sees no folder and no reason in a twin either") {
  Api api;
  api.fill();
  auto build = BuildStore(*api.database).discover(BuildOrigin::folder, "/home/ada/build").value();
  REQUIRE(BuildStore(*api.database).reject(build.id, "no /home/ada/build/lib"));
  for (const std::string path : {"/builds", "/builds.md", "/builds.csv", "/builds.json",
                                 "/builds/3", "/builds/3.md", "/builds/3.json", "/search?q=ada"}) {
    INFO(path);
    const auto seen = api.send("GET", path, "", {{"X-Forwarded-For", "192.0.2.1"}});
    CHECK(seen.status == 200);
    CHECK_THAT(seen.text, !Contains("/home/ada"));
  }
}

TEST_CASE("a search is sent by a form that the policy allows") {
  Api api;
  const auto answer = api.get("/");
  CHECK_THAT(answer.headers.at("content-security-policy"), Contains("default-src 'none'") &&
                                                               Contains("form-action 'self'") &&
                                                               !Contains("unsafe"));
  CHECK_THAT(answer.text, Contains("action=\"search\""));
}

TEST_CASE("a list shows what its filter names") {
  Api api;
  api.fill();
  CHECK_THAT(api.page("/incidents?state=open"), Contains("cpu-train</span> time +15.0 %"));
  CHECK_THAT(api.page("/incidents?state=closed"), Contains("<p>None.</p>"));
  CHECK_THAT(api.page("/comparisons?purpose=drift"), Contains("<p>None yet.</p>"));
  CHECK(api.get("/incidents?state=lost").status == 400);
  CHECK(api.get("/incidents.json?state=closed").body.at("incidents").empty());
}

TEST_CASE("the list of series shows those that its parameters name") {
  Api api;
  api.fill();
  const std::string shown = "series/resnet18/cpu-train/default/time\"";
  CHECK_THAT(api.page("/series?metric=time"), Contains(shown));
  CHECK_THAT(api.page("/series?metric=heap_growth"), !Contains(shown));
  CHECK_THAT(api.page("/series?configuration=cuda-infer"), !Contains(shown));
}

TEST_CASE("a bisection is replayed up to a step") {
  Api api;
  api.fill();
  const auto html = api.page("/bisections/1?step=1");
  CHECK_THAT(html, Contains("Step 1 of 1") && Contains("What it took"));
}

TEST_CASE("a series of the suite that has no values says so, as the API does") {
  Api api;
  api.fill();
  const std::string series = "/series/resnet18/cuda-train/default/time";
  CHECK_THAT(api.page(series),
             Contains("It has no values.") && Contains("href=\"../../../../models/resnet18\""));
  CHECK(api.get(series + ".csv").status == 200);
  CHECK(api.get("/api/v1" + series).body.at("values").empty());
  CHECK(api.get("/api/v1" + series + "?before=5").status == 400);
}
