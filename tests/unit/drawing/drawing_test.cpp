#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <regex>
#include <set>

#include "drawing_checks.hpp"
#include "golden.hpp"
#include "samples.hpp"
#include "torchwatch/canvas/canvas.hpp"
#include "torchwatch/canvas/markup.hpp"

using namespace torchwatch;
using namespace torchwatch::drawing;
using Catch::Contains;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// It ends what it begins to turn round, as no source may be read in another order.
constexpr const char* kHostile =
    "</text><script>alert(1)</script>\n\"' & \033[2J`\xff --> \u202e\u202c";

template <typename Drawing>
void check_golden(const std::string& name, const Drawing& drawing) {
  check_sound(drawing);
  require_golden("drawing/" + name + ".svg", svg_of(drawing));
  require_golden("drawing/" + name + ".txt", text_of(drawing, 80));
}

SampleStrips strips_of(const std::vector<double>& samples) {
  SampleStrips strips;
  for (const auto side : {Side::baseline, Side::candidate}) {
    strips.runs.push_back({.side = side, .samples = samples, .median = samples.front()});
  }
  return strips;
}

}  // namespace

TEST_CASE("each kind of evidence is drawn as it was accepted") {
  check_golden("sample_strips", sample_strips());
  check_golden("forest_plot", sample_forest());
  check_golden("differences", sample_differences());
  check_golden("memory_levels", sample_memory());
  check_golden("history", sample_history());
  check_golden("posterior_steps", sample_posterior());
  check_golden("probe_strips", sample_probes());
  check_golden("heat_map", sample_heat_map());
  check_golden("device_shares", sample_shares());
  check_golden("history_logarithmic", sample_logarithmic());
  check_golden("small_multiples", sample_multiples());
}

TEST_CASE("the legend of a search has words for the states that its commits have") {
  auto steps = sample_posterior();
  CHECK_THAT(svg_of(steps), Contains("striped"));
  CHECK_THAT(text_of(steps, 200), Contains("; ^ culprit, - cannot change the library, x does not"));
  for (auto& commit : steps.commits) commit.state = CommitState::searched;
  CHECK_THAT(svg_of(steps), Contains("○ searched.") && !Contains("striped") &&
                                !Contains("▲ culprit") && !Contains("does not build"));
  CHECK_THAT(text_of(steps, 200), Contains("░ from 0.1 %.") && !Contains("cannot change"));
}

TEST_CASE("a possible culprit is marked otherwise than a culprit") {
  auto steps = sample_posterior();
  auto strips = sample_probes();
  const auto suspect = [](auto& commits) {
    const auto culprit = std::ranges::find_if(
        commits, [](const auto& commit) { return commit.state == CommitState::culprit; });
    culprit->state = CommitState::suspect;
  };
  suspect(steps.commits);
  suspect(strips.commits);
  for (const auto& svg : {svg_of(steps), svg_of(strips)}) {
    CHECK_THAT(svg, Contains("△ possible culprit") && !Contains("▲"));
  }
  for (const auto& text : {text_of(steps, 200), text_of(strips, 200)}) {
    CHECK_THAT(text, Contains("? possible culprit") && !Contains("^"));
  }
  const auto rows = table_of(strips).rows;
  CHECK(
      std::ranges::any_of(rows, [](const auto& row) { return row.back() == "possible culprit"; }));
}

TEST_CASE("no line of a drawing begins with the unit of the figure before it") {
  const std::regex unit("\n *(ns|ms|s|%|bytes|KiB|MiB)([ .,;)]|\n)");
  for (int columns = 40; columns <= 120; ++columns) {
    INFO(columns);
    CHECK_FALSE(std::regex_search(text_of(sample_strips(), columns), unit));
    CHECK_FALSE(std::regex_search(text_of(sample_history(), columns), unit));
    CHECK_FALSE(std::regex_search(text_of(sample_memory(), columns), unit));
  }
}

TEST_CASE("what has no data is a sentence, not an error") {
  check_sound(SampleStrips{});
  check_sound(ForestPlot{});
  check_sound(MemoryLevels{});
  check_sound(History{});
  check_sound(PosteriorSteps{});
  check_sound(ProbeStrips{});
  check_sound(HeatMap{});
  check_sound(DeviceShares{});
  check_sound(SmallMultiples{});
  check_sound(SmallMultiples{.all = {{.label = "a", .values = {std::nullopt}}}});
  CHECK_THAT(text_of(History{}, 60), Contains("Nothing has been measured."));
}

TEST_CASE("one value, equal values and huge values are drawn") {
  check_sound(strips_of({2e6}));
  check_sound(strips_of({2e6, 2e6, 2e6}));
  check_sound(strips_of({1, 1e15}));
  check_sound(strips_of({0, 0}));
  check_sound(MemoryLevels{.baseline_bytes = {0}, .candidate_bytes = {1e15, 1e15}});
  check_sound(ForestPlot{.rows = {{.label = "a", .ratio = 1e6, .interval = Interval{1e-6, 1e9}}}});
  check_sound(History{.points = {{.build = "a", .time = "2026-11-20", .value = 1}}});
  check_sound(History{.points = {{.build = "a", .time = "late", .value = 1},
                                 {.build = "b", .time = "2026-02-30", .value = 1}}});
}

TEST_CASE("samples of a leak, which begins at nothing, are drawn without a threshold") {
  auto strips = strips_of({0, 0});
  strips.runs[1].samples = {4'096, 4'096};
  strips.runs[1].median = 4'096;
  CHECK_THAT(svg_of(strips), !Contains("A +7.0 %"));
  strips.runs[0].samples = {4'000, 4'000};
  strips.runs[0].median = 4'000;
  strips.runs[1].samples = {4'800, 4'800};
  strips.runs[1].median = 4'800;
  CHECK_THAT(svg_of(strips), Contains("A +7.0 %"));
}

TEST_CASE("what is not a number is left out") {
  check_sound(strips_of({2e6, std::nan(""), kInfinite}));
  auto forest = sample_forest();
  forest.rows[0].ratio = std::nan("");
  forest.rows[1].interval = Interval{0, kInfinite};
  check_sound(forest);
  CHECK(table_of(forest).rows.size() == 4);
  CHECK(table_of(forest).rows[0][2].empty());
  check_sound(MemoryLevels{.baseline_bytes = {kInfinite}, .baseline_slope = std::nan("")});
  check_sound(History{.points = {{.time = "2026-11-20", .value = kInfinite}}});
  check_sound(PosteriorSteps{.commits = {{}, {}}, .steps = {{.probe = 9, .masses = {kInfinite}}}});
  check_sound(HeatMap{.configurations = {"cpu-train"},
                      .rows = {{.workload = "a", .cells = {{Verdict::regressed, std::nan("")}}}}});
  check_sound(
      DeviceShares{.rows = {{.label = "a", .before = Shares{-1, 2, 0}, .after = Shares{}}}});
}

TEST_CASE("text of others stays text in every drawing") {
  auto strips = sample_strips();
  strips.title = strips.baseline = strips.candidate = kHostile;
  strips.frame.id = "\"><script>";
  check_sound(strips);
  auto forest = sample_forest();
  forest.rows[0].label = forest.title = kHostile;
  forest.rows[0].link = "javascript:alert(1)";
  forest.rows[1].link = "//elsewhere";
  check_sound(forest);
  CHECK_THAT(svg_of(forest), !Contains("elsewhere") && Contains("<a href=\"series/3\">"));
  auto memory = sample_memory();
  memory.title = memory.baseline = memory.candidate = kHostile;
  check_sound(memory);
  auto history = sample_history();
  history.points[0].build = history.marks[0].label = history.marks[0].time = kHostile;
  history.title = kHostile;
  check_sound(history);
  auto posterior = sample_posterior();
  posterior.commits[6].sha = posterior.commits[6].subject = posterior.title = kHostile;
  check_sound(posterior);
  auto probes = sample_probes();
  probes.commits[4].sha = probes.title = kHostile;
  check_sound(probes);
  auto map = sample_heat_map();
  map.title = map.configurations[0] = map.rows[0].workload = map.rows[0].domain = kHostile;
  check_sound(map);
  auto multiples = sample_multiples();
  multiples.title = multiples.all[0].label = kHostile;
  multiples.all[1].link = "javascript:alert(1)";
  check_sound(multiples);
  auto shares = sample_shares();
  shares.title = shares.before = shares.rows[0].label = kHostile;
  check_sound(shares);
  CHECK(escaped("<a&'\">\xff\033") == "&lt;a&amp;&#39;&quot;&gt;??");
}

TEST_CASE("a table has what is drawn, in its order") {
  CHECK_THAT(joined(table_of(sample_strips())),
             Contains("A 1|baseline|screening|20|") && Contains("B 11|candidate|confirmation|20|"));
  CHECK_THAT(joined(table_of(sample_forest())),
             Contains("resnet18 cpu-train time|+12.3 %|[+11.1, +13.6] %|regressed|"));
  CHECK_THAT(joined(table_of(sample_memory())), Contains("40|64,488,448 bytes|"));
  CHECK(table_of(sample_history()).rows.size() == 27 + 30);
  const auto posterior = table_of(sample_posterior());
  CHECK(posterior.rows.front() == std::vector<std::string>{"6789ab012345", "+12.6 %",
                                                           "[+11.4, +14.0] %", "6789ab012345",
                                                           "99.6 %", "1"});
  CHECK_THAT(joined(table_of(sample_heat_map())),
             Contains("resnet18|computer vision|+12.3 % regressed, confirmed|") &&
                 Contains("geometric mean||+4.9 % of 5|"));
  const auto multiples = table_of(sample_multiples());
  REQUIRE(multiples.rows.size() == 6);
  CHECK(multiples.rows[0].front() == "resnet18");
  CHECK(multiples.rows[0][1] == "29");
  CHECK(multiples.rows[0].back() == "regressed");
  CHECK(multiples.rows[5][1] == "0");
  CHECK(multiples.rows[5][5].empty());
  CHECK_THAT(joined(table_of(sample_shares())),
             Contains("resnet18 cuda-train|2026-11-20|71 %|5 %|24 %|-11.0 points|"));
}

TEST_CASE("each series of a forest is drawn with its own threshold, which the table has, too") {
  auto forest = sample_forest();
  const auto lines = [](const std::string& svg) {
    std::set<std::string> places;
    const std::string line = "class=\"threshold\"";
    for (auto at = svg.find(line); at != std::string::npos; at = svg.find(line, at + 1)) {
      const auto begin = svg.rfind('M', at);
      places.insert(svg.substr(begin, svg.find(' ', begin) - begin));
    }
    return places;
  };
  CHECK(lines(svg_of(forest)).size() == 1);
  forest.rows[1].threshold = 1.02;
  check_sound(forest);
  CHECK(lines(svg_of(forest)).size() == 2);
  CHECK_THAT(svg_of(forest), Contains("+7.0 % or +2.0 % (each series its own)"));
  CHECK_THAT(text_of(forest, 120), Contains("+7.0 % or +2.0 % (each series its own)"));
  CHECK(table_of(forest).rows[0].back() == "+7.0 %");
  CHECK(table_of(forest).rows[1].back() == "+2.0 %");
  for (auto& row : forest.rows) row.threshold = 1.02;
  CHECK(lines(svg_of(forest)).size() == 1);
  CHECK_THAT(svg_of(forest), !Contains("7.0 %"));
}

TEST_CASE("differences that nothing was judged by have no verdict and no threshold, and a mean") {
  auto plot = sample_differences();
  const auto svg = svg_of(plot);
  CHECK_THAT(svg, !Contains("threshold") && !Contains("unchanged") && !Contains("regressed"));
  CHECK_THAT(svg, Contains("dlrm cpu-infer: -48.0 % [-50.2, -45.9]") && Contains("3 differences"));
  const auto table = table_of(plot);
  CHECK(table.head == std::vector<std::string>{"series", "difference", "95 % interval"});
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[3] == std::vector<std::string>{"geometric mean of 3", "-22.2 %", ""});
  plot.rows.clear();
  check_sound(plot);
  CHECK(table_of(plot).rows.empty());
}

TEST_CASE("a cell of a heat map is coloured by the threshold of its series") {
  HeatMap map{.metric = Metric::cpu_peak,
              .configurations = {"cpu-train"},
              .rows = {{.workload = "a", .cells = {{Verdict::regressed, 1.045}}}}};
  CHECK_THAT(svg_of(map), Contains("worse-1") && Contains("twice the threshold of +7.0 % on"));
  map.rows[0].cells[0].threshold = 1.02;
  CHECK_THAT(svg_of(map), Contains("worse-3") && Contains("twice the threshold of +2.0 % on"));
  map.rows.push_back({.workload = "b", .cells = {{Verdict::regressed, 1.08}}});
  CHECK_THAT(svg_of(map), Contains("+7.0 % or +2.0 % (each series its own)"));
}

TEST_CASE("a heat map has headings of domains only where its rows stand by domain") {
  auto map = sample_heat_map();
  CHECK_THAT(svg_of(map), Contains(">recommendation<"));
  map.is_by_domain = false;
  check_sound(map);
  CHECK_THAT(svg_of(map), !Contains(">recommendation<"));
}

TEST_CASE("a narrow heat map has each name whole, on a line above its cells") {
  auto map = sample_heat_map();
  map.is_by_domain = false;
  map.frame.width = kNarrowWidth;
  require_golden("drawing/heat_map_narrow.svg", svg_of(map));
  CHECK_THAT(svg_of(map), Contains(">nvidia_deeprecommender<"));
}

TEST_CASE("a drawing is an image, or a group where links in it must be reached") {
  CHECK_THAT(svg_of(sample_memory()), Contains("role=\"img\""));
  CHECK_THAT(svg_of(sample_forest()), Contains("role=\"group\""));
}

TEST_CASE("a search of many commits fits, and neighbours share a column") {
  PosteriorSteps steps;
  constexpr std::size_t kCommits = 1000;
  steps.commits.resize(kCommits, {.sha = "abcdef"});
  steps.steps.push_back({.masses = std::vector<double>(kCommits, 0.001)});
  check_sound(steps);
  CHECK(table_of(steps).rows[0].back() == "950");
}

TEST_CASE("a commit that stands for others before it is not given their probability as its own") {
  PosteriorSteps steps;
  steps.commits = {{.sha = "c0ffee", .untried_before = 2}, {.sha = "bad5", .untried_before = 1}};
  steps.steps = {{.probe = 0, .masses = {0.6, 0.4}}};
  CHECK_THAT(text_of(steps, 120), Contains("5 commits, 1 probe. Now: c0ffee or one of 2 before it "
                                           "60 %, 5 commits hold 95 %."));
  CHECK_THAT(svg_of(steps), Contains("with those before it that were not, oldest left"));
  CHECK(table_of(steps).rows[0][3] == "c0ffee or one of 2 before it");
  steps.steps[0].masses = {0.01, 0.99};
  CHECK_THAT(text_of(steps, 120), Contains("bad5 or the one before it 99 %, 2 commits hold 95 %."));
  steps.commits[1].untried_before = 0;
  CHECK_THAT(text_of(steps, 120), Contains("4 commits, 1 probe. Now: bad5 99 %, 1 commit holds"));
}

TEST_CASE("a page gets both widths, each with ids of its own, and a file its colours") {
  const auto both = responsive(sample_forest());
  CHECK_THAT(both, Contains("id=\"drawing-title\"") && Contains("id=\"drawing-narrow-title\""));
  CHECK_THAT(both, Contains("class=\"drawing-narrow\"") && Contains("viewBox=\"0 0 320 "));
  CHECK_THAT(both, !Contains("<style>"));
  CHECK_THAT(stand_alone(svg_of(sample_forest())), Contains("<style>\n/* Drawings of evidence."));
  CHECK_THAT(std::string(style_sheet()), !Contains("<") && Contains("prefers-color-scheme: dark"));
}
