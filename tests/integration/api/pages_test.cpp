// The pages for people.
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>

#include "api_fixture.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

const std::string kCulprit = "5d1c1c3f0a9e7b6d4c2f8e1a3b5d7f9021436587";
const Series kTime{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};

std::string result_with_culprit() {
  bisection::BisectionResult result;
  result.culprits.push_back({.commits = {kCulprit},
                             .parent = "aaaa",
                             .confidence = 0.9973,
                             .effects = {{kTime, 0.1389, 0.1275, 0.1508, 12}},
                             .verified = "against its parent, 12 fresh pairs"});
  return to_json(result);
}

/// A nightly with a regression whose culprit was found and whose issue was filed, as incident 1 of
/// comparison 1.
struct Pages : Api {
  Pages() {
    fill();
    name_culprit(1, 1);
    end(1);
  }

  /// Gives the incident a bisection that named the culprit.
  void name_culprit(Id incident, WallMillis now) {
    BisectionStore bisections(*database);
    BisectionRow row;
    row.incident = incident;
    row.good = "aaaa";
    row.bad = "bbbb";
    row.spec_json = to_json(bisection::BisectionSpec());
    row.created_at = now;
    row = bisections.open(row).value();
    REQUIRE(bisections.end(row, result_with_culprit(), now));
    REQUIRE(IncidentStore(*database).attach_bisection(incident, row.id));
  }

  void end(Id comparison) {
    ComparisonStore comparisons(*database);
    const auto row = comparisons.get(comparison).value();
    REQUIRE(comparisons.advance(row, ComparisonState::reported, clock.wall_now()));
  }

  void file_issue() {
    OutboxStore outbox(*database);
    REQUIRE(outbox.mark_sending("open:abc"));
    REQUIRE(outbox.mark_sent("open:abc", 17, clock.wall_now()));
  }

  /// Adds an incident of a workload that crashes with the comparison's candidate; its page.
  std::string add_lost(const std::string& output) {
    RunStore runs(*database);
    const auto candidate = ComparisonStore(*database).get(1).value().candidate;
    REQUIRE(runs.issue({.owner = {OwnerKind::comparison, 1},
                        .slot = "crash",
                        .build = candidate,
                        .benchmark = kTime.benchmark,
                        .pass = Pass::timing},
                       "crash", 1));
    REQUIRE(runs.record({{"crash", AttemptFailure{"killed", output}}}, 2));
    IncidentRow lost;
    lost.comparison = 1;
    lost.kind = IncidentKind::lost;
    lost.key = lost.title = "lost";
    lost.series = {{kTime, 0, 0, 0, 2e6, 0}};
    lost.opened_at = 1;
    return "/incidents/" + std::to_string(IncidentStore(*database).open(lost).value().id);
  }

  /// The address of every link of a page.
  std::vector<std::string> links_of(const std::string& address) {
    const auto text = page(address);
    std::vector<std::string> links;
    const std::string start = "<a href=\"";
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
      const auto begin = at + start.size();
      const auto quoted = text.substr(begin, text.find('"', begin) - begin);
      links.push_back(std::regex_replace(quoted, std::regex("&amp;"), "&"));
    }
    return links;
  }
};

}  // namespace

TEST_CASE("the page begins with what the newest nightly found, its culprit and its age") {
  Pages api;
  api.clock.advance(std::chrono::hours(5));
  const auto page = api.page("/");
  const auto sentence =
      page.find("2.14.0.dev20260817 against 2.14.0.dev20260816</a>: 1 series regressed");
  REQUIRE(sentence != std::string::npos);
  CHECK(sentence < page.find("<table"));
  CHECK_THAT(page, Contains("https://github.com/pytorch/pytorch/commit/" + kCulprit));
  CHECK_THAT(page,
             Contains("Warm up &lt;twice&gt; (#123) (99.7 % sure, +14.9 % [+13.5, +16.3] %)"));
  CHECK_THAT(page, Contains("The newest verdicts came 5 h 0 min ago."));
  CHECK_THAT(page, Contains("Nothing is under way."));
}

TEST_CASE("a comparison with a regression is not coloured like one without") {
  Pages api;
  const auto page = api.page("/");
  CHECK_THAT(page, Contains(R"(<span class="state regressed">regressed</span>)"));
  CHECK_THAT(page, !Contains(R"(class="state reported")"));
  CHECK_THAT(page, Contains("class=\"summary bad\""));
}

TEST_CASE("the page says what does not work") {
  Pages api;
  CHECK_THAT(api.page("/"), !Contains("Not everything works"));
  api.problems = {{"channel", "", 1, "the channel <cannot> be read"}};
  CHECK_THAT(api.page("/"),
             Contains("Not everything works") && Contains("the channel &lt;cannot&gt; be read"));
}

TEST_CASE("what is under way is shown with how long its like took") {
  Pages api;
  ComparisonStore comparisons(*api.database);
  const auto now = api.clock.wall_now();
  const auto next = BuildStore(*api.database).discover(BuildOrigin::nightly, "next").value();
  const auto row = comparisons.open({Purpose::nightly, next.id, 2}, now).value();
  const auto waiting = api.page("/");
  CHECK_THAT(waiting, Contains("next against 2.14.0.dev20260817</a>: waiting, asked for"));
  CHECK(waiting.find("Nothing is under way.") < waiting.find("<h2>Waiting</h2>"));
  REQUIRE(comparisons.advance(row, ComparisonState::ready, now));
  CHECK_THAT(api.page("/"), Contains("no verdict: waiting"));
  api.doing = {.what = "measuring", .comparison = row.id, .since = now};
  CHECK_THAT(api.page("/"), Contains("At work: measuring, since "));
  CHECK_THAT(api.page("/"), Contains("measuring, asked for") && Contains("the one before took") &&
                                !Contains("<h2>Waiting</h2>"));
}

TEST_CASE("what waits says why, in the lists in brief, and strangers see since when") {
  Pages api;
  const auto next = BuildStore(*api.database).discover(BuildOrigin::nightly, "2026-08-18").value();
  const auto row = ComparisonStore(*api.database)
                       .open({Purpose::nightly, next.id, 2}, api.clock.wall_now())
                       .value();
  const std::string reason = "the runner does not compile: " + std::string(300, 'x') + " end";
  REQUIRE(SetbackStore(*api.database)
              .record({.key = {ItemKind::comparison, std::to_string(row.id)},
                       .since = api.clock.wall_now(),
                       .error = reason}));
  const auto path = "/comparisons/" + std::to_string(row.id);
  CHECK_THAT(api.page(path), Contains(reason));
  for (const std::string list : {"/", "/comparisons"}) {
    CHECK_THAT(api.page(list),
               Contains("the runner does not compile") && Contains("x…") && !Contains("x end"));
  }
  const auto seen = api.send("GET", path, "", {{"X-Forwarded-For", "192.0.2.1"}}).text;
  CHECK_THAT(seen, Contains("waits since") && !Contains("does not compile"));
}

TEST_CASE("an incident's page says why it has no issue, and when it was closed") {
  Pages api;
  OutboxStore outbox(*api.database);
  REQUIRE(outbox.mark_sending("open:abc"));
  REQUIRE(outbox.record_failure("open:abc", {.error = "GitHub rejected the token"}));
  CHECK_THAT(api.page("/incidents/1"), Contains("not filed yet: GitHub rejected the token"));
  CHECK_THAT(api.page("/incidents/1"), !Contains("<dt>closed</dt>"));
  REQUIRE(IncidentStore(*api.database).close(1, {"ada", "", api.clock.wall_now()}));
  CHECK_THAT(api.page("/incidents/1"), Contains("<dt>closed</dt>"));
}

TEST_CASE("an incident's page says that its search was cancelled, and strangers not by whom") {
  Api api;
  api.fill();
  const auto incident = api.add_incident("time-cpu:cancelled");
  BisectionRow search;
  search.incident = incident;
  search.good = "aaaa";
  search.bad = "bbbb";
  search.spec_json = to_json(bisection::BisectionSpec{});
  search = BisectionStore(*api.database).open(search).value();
  REQUIRE(IncidentStore(*api.database).attach_bisection(incident, search.id));
  const auto path = "/incidents/" + std::to_string(incident);
  CHECK_THAT(api.page(path), Contains("The culprit is being searched."));
  REQUIRE(ComparisonStore(*api.database).cancel(1, "by uid 1000", 1));
  const std::string again = ". <code>torchwatch comparison retry 1</code> starts it again.";
  CHECK_THAT(api.page(path), Contains("was cancelled with comparison 1, by uid 1000" + again));
  const auto stranger = api.send("GET", path, "", {{"X-Forwarded-For", "198.51.100.1"}});
  CHECK_THAT(stranger.text, Contains("was cancelled with comparison 1" + again));
}

TEST_CASE("the self-test comes last, and as a count before it is a rate") {
  Pages api;
  for (int i = 0; i < 9; ++i) api.add_self_test(Verdict::unchanged);
  const auto page = api.page("/");
  const auto text =
      page.find("0 of 9 series of builds compared with themselves were called changed");
  REQUIRE(text != std::string::npos);
  CHECK(page.find("Newest comparisons") < text);
  CHECK_THAT(page, Contains("at most 28.3 % (95 % upper bound), as only few were judged"));
}

TEST_CASE("every page leads to the pages of what it names") {
  Pages api;
  api.file_issue();
  const auto has = [&](const std::string& page, const std::string& link) {
    const auto links = api.links_of(page);
    INFO(page << " should link " << link);
    CHECK(std::ranges::find(links, link) != links.end());
  };
  has("/", "incidents/1");
  has("/", "comparisons/1");
  has("/", "incidents");
  has("/", "comparisons");
  has("/", "https://github.com/owner/issues/issues/17");
  has("/incidents", "incidents/1");
  has("/incidents", "mutes");
  has("/models", "coverage");
  has("/incidents/1", "../comparisons/1");
  has("/incidents/1", "https://github.com/owner/issues/issues/17");
  has("/incidents/1", "https://github.com/pytorch/pytorch/commit/" + kCulprit);
  has("/incidents/1", "https://github.com/pytorch/pytorch/pull/123");
  has("/comparisons/1", "../incidents/1");
  has("/comparisons/1", "../builds/2");
  has("/builds/2", "../comparisons/1");
}

TEST_CASE("the reason for a verdict is three clicks from the first page") {
  Pages api;
  const auto leads = [&](const std::string& page, const std::string& link) {
    const auto links = api.links_of(page);
    return std::ranges::find(links, link) != links.end();
  };
  CHECK(leads("/", "incidents/1"));
  CHECK_THAT(api.page("/incidents/1"), Contains("Every sample of resnet18 cpu-train time") &&
                                           Contains(kCulprit) && Contains("99.7 % sure"));
  CHECK(leads("/", "comparisons/1"));
  CHECK(leads("/comparisons/1", "../series/resnet18/cpu-train/default/time"));
  CHECK_THAT(api.page("/series/resnet18/cpu-train/default/time"),
             Contains("Samples of the newest comparison") && Contains("Measure it again:"));
}

TEST_CASE("a link of a page leads somewhere") {
  Pages api;
  for (const std::string from : {"/", "/incidents/1", "/comparisons/1", "/builds/2", "/models",
                                 "/models/resnet18", "/machines", "/bisections/1", "/queue"}) {
    for (auto link : api.links_of(from)) {
      if (link.starts_with("https://") || link.ends_with("healthz")) continue;
      INFO(from << " links " << link);
      auto folder = from.substr(0, from.rfind('/') + 1);
      if (link.starts_with("../")) {
        folder = "/";
        link.erase(0, 3);
      }
      if (link == "./") link.clear();
      CHECK(api.get((link.starts_with("?") ? from : folder) + link).status == 200);
    }
  }
}

TEST_CASE("an incident's page has the change, the culprit with its evidence, and the answers") {
  Pages api;
  const auto page = api.page("/incidents/1");
  CHECK_THAT(page, Contains("+15.0 %") && Contains("2.3 ms"));
  CHECK_THAT(page, Contains("99.7 % sure") && Contains("+14.9 %") && Contains(kCulprit));
  CHECK_THAT(page, Contains("Verified against its parent, 12 fresh pairs"));
  CHECK_THAT(page, Contains("<th scope=\"col\" class=\"number\">runs</th>"));
  CHECK_THAT(page, Contains("torchwatch incident dispute 1 --reason") &&
                       Contains("torchwatch incident retest 1") &&
                       Contains("torchwatch compare 2.14.0.dev20260816 2.14.0.dev20260817"));
}

TEST_CASE("the sentence on a leak, which has no interval, has no gap in its place") {
  Pages api;
  IncidentRow row;
  row.comparison = 1;
  row.key = "leak";
  row.kind = IncidentKind::leak;
  const Benchmark benchmark{"resnet18", {Device::cpu, Mode::train}, {}};
  row.series = {{{benchmark, Metric::leak_growth}, 0, 0, 0, 0, 4'096},
                {{benchmark, Metric::leak_retained}, 0, 0, 0, 0, 204'800}};
  const auto id = IncidentStore(*api.database).open(row).value().id;
  CHECK_THAT(api.page("/incidents/" + std::to_string(id)),
             Contains("leak_growth +4,096 bytes/iteration, the worst of 2 series"));
}

TEST_CASE("a list continues on the next page") {
  Pages api;
  for (int i = 0; i < 3; ++i) api.add_incident("another " + std::to_string(i));
  CHECK_THAT(api.page("/incidents?limit=2"), Contains("href=\"?limit=2&amp;before=3\""));
  CHECK_THAT(api.page("/incidents?limit=2&before=3"), !Contains("Older ones"));
}

TEST_CASE("a page that is not there says so as a page") {
  Api api;
  const auto answer = api.get("/incidents/99");
  CHECK(answer.status == 404);
  CHECK_THAT(answer.text, Contains("<h1>Not found</h1>") && Contains("incident 99"));
}

TEST_CASE("a stranger sees neither the text of issues nor folders on a page") {
  Pages api;
  const Api::Headers forwarded{{"X-Forwarded-For", "192.0.2.1"}};
  const auto seen = [&](const std::string& path) {
    return api.send("GET", path, "", forwarded).text;
  };
  CHECK_THAT(api.page("/incidents/1"), Contains("Slower."));
  CHECK_THAT(seen("/incidents/1"), !Contains("Slower."));
  CHECK_THAT(api.page("/builds/1"), Contains("/builds/2.14.0.dev20260816"));
  CHECK_THAT(seen("/builds/1"), !Contains("/builds/2.14.0.dev20260816"));
}

TEST_CASE("an incident's page has what a lost workload printed last, and not for strangers") {
  Pages api;
  const auto path = api.add_lost("<b>at /srv/builds/lib/libc10.so");
  CHECK_THAT(api.page(path), Contains("printed last") && Contains("&lt;b&gt;at …/libc10.so"));
  const auto seen = api.send("GET", path, "", {{"X-Forwarded-For", "192.0.2.1"}}).text;
  CHECK_THAT(seen, Contains("no result any more") && !Contains("libc10"));
}

TEST_CASE("pages head intervals with the confidence that they were judged with") {
  Pages api;
  CHECK_THAT(api.page("/incidents/1"), !Contains("90 %"));
  REQUIRE(ComparisonStore(*api.database).set_summary(1, "", 0.9));
  for (const auto* page : {"/comparisons/1", "/incidents/1"}) {
    CHECK_THAT(api.page(page), Contains("90 %"));
  }
}
