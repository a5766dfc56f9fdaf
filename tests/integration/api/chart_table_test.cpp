// Every chart on a page: its table says what the API says of the same, and so does the picture.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>

#include "api_fixture.hpp"
#include "page_checks.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using nlohmann::json;

namespace {

const Benchmark kResnet{"resnet18", {Device::cpu, Mode::train}, {}};
const Series kTime{kResnet, Metric::time};
const Series kPeak{kResnet, Metric::cpu_peak};

/// A figure of a page, as its reader gets it.
struct Chart {
  std::string page;
  std::string svg;
  std::string title;  ///< of the drawing
  std::vector<std::string> head;
  std::vector<std::map<std::string, std::string>> rows;  ///< cells by the names of their columns

  bool has(const std::string& column) const { return std::ranges::count(head, column) > 0; }
};

std::string plain(std::string html) {
  html = std::regex_replace(html, std::regex("<[^>]*>"), "");
  for (const auto& [escaped, text] : std::map<std::string, std::string>{{"\u00a0", " "},
                                                                        {"&lt;", "<"},
                                                                        {"&gt;", ">"},
                                                                        {"&#39;", "'"},
                                                                        {"&quot;", "\""},
                                                                        {"&amp;", "&"}}) {
    html = std::regex_replace(html, std::regex(escaped), text);
  }
  return html;
}

/// The parts of a text that begin and end with these words, without them.
std::vector<std::string> parts_of(const std::string& text, const std::string& begin,
                                  const std::string& end) {
  std::vector<std::string> parts;
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const auto from = at + begin.size();
    parts.push_back(text.substr(from, text.find(end, from) - from));
  }
  return parts;
}

Chart chart_of(const std::string& page, const std::string& figure) {
  Chart chart;
  chart.page = page;
  chart.svg = figure.substr(0, figure.find("<figcaption>"));
  const auto title = parts_of(chart.svg, "<title id=", "</title>").at(0);
  chart.title = plain(title.substr(title.find('>') + 1));
  for (const auto& cell : parts_of(figure, "<th ", "</th>")) {
    chart.head.push_back(plain(cell.substr(cell.find('>') + 1)));
  }
  const auto body = parts_of(figure, "<tbody>", "</tbody>");
  for (const auto& row : parts_of(body.empty() ? "" : body[0], "<tr>", "</tr>")) {
    auto& cells = chart.rows.emplace_back();
    for (const auto& cell : parts_of(row, "<td", "</td>")) {
      const auto column = parts_of(cell, "data-column=\"", "\"").at(0);
      cells[plain(column)] = plain(cell.substr(cell.find('>') + 1));
    }
  }
  return chart;
}

std::string label_of(const json& row) {
  return row.at("workload").get<std::string>() + " " + row.at("configuration").get<std::string>() +
         " " + row.at("metric").get<std::string>();
}

std::string interval_of(const json& interval) {
  return interval.is_null() ? "" : figures::interval_with_unit(interval[0], interval[1]);
}

/// Pages of everything that can be drawn.
struct Charts : Api {
  Charts() {
    fill();
    add_exact_verdict();
    add_incident_of_two();
    add_memory(1, {64, 64, 64, 64});
    add_memory(2, {64, 128, 192, 256});
    RunResult profile;
    profile.breakdown = Breakdown{.active_ns = 61, .copy_ns = 9, .idle_ns = 30};
    add_result(2, {"resnet18", {Device::cuda, Mode::train}, {}}, Pass::profile, profile);
    add_steps();
  }

  void add_exact_verdict() {
    VerdictRow row;
    row.comparison = 1;
    row.series = kPeak;
    row.verdict = Verdict::regressed;
    row.ratio = row.interval_low = row.interval_high = 1.03;
    row.baseline_value = 4'000;
    row.candidate_value = 4'120;
    REQUIRE(ComparisonStore(*database).add_verdict(row));
  }

  void add_incident_of_two() {
    IncidentRow row;
    row.comparison = 1;
    row.key = "two";
    row.title = "two series";
    row.series = {{kTime, 1.15, 1.13, 1.17, 2e6, 2.3e6}, {kPeak, 1.03, 1.03, 1.03, 4'000, 4'120}};
    REQUIRE(IncidentStore(*database).open(row).value().id == 2);
  }

  void add_result(Id build, const Benchmark& benchmark, Pass pass, RunResult result) {
    RunStore runs(*database);
    result.attempt = std::string(to_string(pass)) + " of build " + std::to_string(build);
    result.environment.facts = {{"cpu_model", "Model X"}};
    REQUIRE(runs.issue({.owner = {OwnerKind::comparison, 1},
                        .slot = result.attempt,
                        .build = build,
                        .benchmark = benchmark,
                        .pass = pass},
                       result.attempt, 1));
    REQUIRE(runs.record({{result.attempt, result}}, 2));
  }

  void add_memory(Id build, std::vector<std::int64_t> live) {
    RunResult result;
    const auto growth = live[1] - live[0];
    result.values = {{Metric::leak_growth, growth}, {Metric::cpu_peak, 4'000 + growth}};
    result.leak = LeakFigures{.growth_bytes_per_iteration = growth, .live_bytes = std::move(live)};
    add_result(build, kResnet, Pass::memory, result);
  }

  void add_steps() {
    bisection::BisectionSpec spec;
    spec.good = "aaaa";
    spec.bad = "bbbb";
    spec.series = {{.series = kTime}};
    BisectionStore searches(*database);
    BisectionRow row;
    row.incident = 2;
    row.good = spec.good;
    row.bad = spec.bad;
    row.spec_json = to_json(spec);
    row.created_at = 1;
    row = searches.open(row).value();
    REQUIRE(searches.append(row.id, {0, "built", R"({"candidate": 0, "commit": "cccc"})"}));
    REQUIRE(searches.append(
        row.id, {1, "measured", R"({"candidate": 0, "reference": null, "purpose": "probe",
            "effects": {"0": [0.1]}, "references": {}, "posterior": [0.75, 0.25]})"}));
    REQUIRE(IncidentStore(*database).attach_bisection(2, row.id));
    add_probe(row.id);
  }

  void add_probe(Id bisection) {
    const auto build = BuildStore(*database).discover(BuildOrigin::commit, "cccc").value();
    RunStore runs(*database);
    RunResult result;
    result.attempt = "probe of cccc";
    result.values = {{Metric::time, 12'000'000}};
    result.environment.facts = {{"cpu_model", "Model X"}};
    REQUIRE(runs.issue({.owner = {OwnerKind::bisection, bisection},
                        .slot = result.attempt,
                        .build = build.id,
                        .benchmark = kResnet,
                        .pass = Pass::timing},
                       result.attempt, 1));
    REQUIRE(runs.record({{result.attempt, result}}, 2));
  }

  /// The figures of all pages.
  std::vector<Chart> all() {
    auto paths = kPages;
    for (const auto* more : {"/comparisons/1?metric=cpu_peak", "/incidents/2", "/bisections/2",
                             "/gpu?build=2", "/series/resnet18/cpu-train/default/cpu_peak"}) {
      paths.emplace_back(more);
    }
    std::vector<Chart> charts;
    for (const auto& path : paths) {
      const auto html = page(path);
      const auto figures = parts_of(html, "<figure>", "</figure>");
      // A drawing without a figure around it would have no table.
      CHECK(count(html, "<svg") == 2 * figures.size());
      for (const auto& figure : figures) charts.push_back(chart_of(path, figure));
    }
    return charts;
  }

  json evidence_of(const std::string& series) {
    const auto workload = series.substr(0, series.find(' '));
    const auto metric = series.substr(series.rfind(' ') + 1);
    return get("/api/v1/incidents/2/evidence?workload=" + workload + "&metric=" + metric)
        .body.at("samples");
  }

  void check_map(const Chart& chart) {
    const auto asked = chart.page.find("metric=");
    const auto metric = asked == std::string::npos ? "time" : chart.page.substr(asked + 7);
    const auto matrix = get("/api/v1/comparisons/1/matrix?metric=" + metric).body;
    std::size_t cells = 0;
    for (std::size_t i = 0; i + 1 < chart.rows.size(); ++i) {
      for (const auto& [column, said] : chart.rows[i]) {
        const bool is_cell = column != "workload" && column != "domain" && !said.empty();
        cells += is_cell ? 1 : 0;
      }
    }
    CHECK(cells == matrix.at("series").size());
    for (std::size_t i = 0; i < matrix.at("series").size(); ++i) {
      const auto name = matrix.at("series")[i].get<std::string>();
      const auto workload = name.substr(0, name.find('/'));
      const auto configuration = name.substr(
          workload.size() + 1, name.find('/', workload.size() + 1) - workload.size() - 1);
      const auto row = std::ranges::find_if(
          chart.rows, [&](const auto& each) { return each.at("workload") == workload; });
      REQUIRE(row != chart.rows.end());
      const auto said = figures::change(matrix.at("ratio")[i]) + " " +
                        matrix.at("verdict")[i].get<std::string>() + ", confirmed";
      CHECK(row->at(configuration) == said);
      CHECK(count(chart.svg, workload + " " + configuration + ": " + said) == 2);
    }
  }

  void check_multiples(const Chart& chart) {
    const auto asked = chart.page.find("metric=");
    const auto metric = asked == std::string::npos ? "time" : chart.page.substr(asked + 7);
    const auto lines = get("/api/v1/comparisons/1/sparklines?metric=" + metric).body;
    const auto configuration = chart.title.substr(0, chart.title.find(':'));
    std::size_t drawn = 0;
    for (std::size_t i = 0; i < lines.at("series").size(); ++i) {
      const auto name = lines.at("series")[i].get<std::string>();
      const auto model = name.substr(0, name.find('/'));
      if (!name.starts_with(model + "/" + configuration + "/")) continue;
      ++drawn;
      const auto row = std::ranges::find_if(
          chart.rows, [&](const auto& each) { return each.at("model") == model; });
      REQUIRE(row != chart.rows.end());
      const auto newest =
          figures::value(parse_metric(metric).value(), lines.at("values")[i].back());
      CHECK(row->at("newest") == newest);
      CHECK(count(chart.svg, model + ": " + newest) == 2);
    }
    CHECK(drawn > 0);
    CHECK(drawn == chart.rows.size());
  }

  void check_changes(const Chart& chart) {
    const auto series = get("/api/v1/incidents/2/evidence").body.at("series");
    REQUIRE(chart.rows.size() == series.size());
    for (std::size_t i = 0; i < series.size(); ++i) {
      const auto& row = chart.rows[i];
      CHECK(row.at("series") == label_of(series[i]));
      CHECK(row.at("change") == figures::change(series[i].at("ratio")));
      CHECK(row.at("99 % interval") == interval_of(series[i].at("interval")));
      CHECK(row.at("threshold") == (series[i].at("exact") == true ? "+2.0 %" : "+7.0 %"));
      CHECK(count(chart.svg, label_of(series[i]) + ": " + row.at("change")) == 2);
    }
  }

  void check_samples(const Chart& chart) {
    const auto samples = evidence_of(chart.title);
    const auto metric = parse_metric(samples.at("metric").get<std::string>()).value();
    REQUIRE(chart.rows.size() == samples.at("runs").size());
    for (std::size_t i = 0; i < chart.rows.size(); ++i) {
      const auto& run = samples.at("runs")[i];
      const auto values = run.at("values").get<std::vector<double>>();
      const auto& row = chart.rows[i];
      CHECK(row.at("build") == run.at("side"));
      CHECK(row.at("samples") == figures::grouped(std::ssize(values)));
      CHECK(row.at("median") == figures::value(metric, run.at("median")));
      CHECK(row.at("least") == figures::value(metric, std::ranges::min(values)));
      CHECK(row.at("greatest") == figures::value(metric, std::ranges::max(values)));
      CHECK(count(chart.svg, ", median " + row.at("median")) >= 2);
    }
  }

  void check_memory(const Chart& chart) {
    const auto memory = evidence_of(chart.title).at("memory");
    for (const auto* side : {"baseline", "candidate"}) {
      const auto bytes = memory.at(side).at("bytes").get<std::vector<std::int64_t>>();
      REQUIRE(chart.rows.size() == bytes.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        CHECK(chart.rows[i].at("iteration") == std::to_string(i + 1));
        CHECK(chart.rows[i].at(side) == figures::grouped(bytes[i]) + " bytes");
      }
    }
  }

  void check_history(const Chart& chart) {
    std::vector<VerdictRow> judged = ComparisonStore(*database).verdicts_of(1).value();
    std::erase_if(judged, [&](const auto& row) { return to_string(row.series) != chart.title; });
    REQUIRE(judged.size() == 1);
    const auto is_point = [](const auto& row) { return !row.at("verdict").empty(); };
    CHECK(std::ranges::count_if(chart.rows, is_point) == 1);
    const auto point = std::ranges::find_if(chart.rows, is_point);
    REQUIRE(point != chart.rows.end());
    CHECK(point->at("build or event") == "2.14.0.dev20260817");
    CHECK(point->at("verdict") == to_string(judged[0].verdict));
    if (chart.has("change")) CHECK(point->at("change") == figures::change(judged[0].ratio));
    if (chart.has("value")) {
      CHECK(point->at("value") ==
            figures::value(judged[0].series.metric, judged[0].candidate_value));
    }
  }

  void check_steps(const Chart& chart) {
    const auto steps = get("/api/v1/bisections/2/steps").body.at("steps");
    REQUIRE(chart.rows.size() == steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto& step = steps[steps.size() - 1 - i];  // the newest on top
      const auto masses = step.at("probabilities").get<std::vector<double>>();
      const auto& row = chart.rows[i];
      CHECK(row.at("probe") == short_sha(step.at("commit").get<std::string>()));
      CHECK(row.at("change") == figures::change(step.at("ratio")));
      CHECK(row.at("its probability") == figures::confidence(std::ranges::max(masses)));
      CHECK(count(chart.svg, row.at("probe") + " " + row.at("change")) >= 2);
    }
  }

  void check_probes(const Chart& chart) {
    const auto runs = get("/api/v1/bisections/2/runs").body.at("runs");
    REQUIRE(runs.size() == 1);
    REQUIRE(chart.rows.size() == 2);
    CHECK(chart.rows[0].at("remark") == "not measured");  // the good end
    const auto& row = chart.rows[1];
    const auto read =
        figures::value(Metric::time, runs[0].at("values")[0].at("value").get<double>());
    CHECK(row.at("commit") == short_sha("cccc"));
    CHECK(row.at("values") == "1");
    CHECK(row.at("median") == read);
    CHECK(count(chart.svg, "1 value, median " + read) == 2);
  }

  void check_shares(const Chart& chart) {
    const auto profiles = get("/api/v1/breakdown?build=2").body.at("profiles");
    REQUIRE(chart.rows.size() == 2 * profiles.size());  // before and after
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      const auto& row = chart.rows[2 * i + 1];
      const auto part = [&](const char* name) { return profiles[i].at(name).get<double>(); };
      const double whole = part("active_ns") + part("copy_ns") + part("idle_ns");
      CHECK(row.at("active") == figures::share(part("active_ns") / whole));
      CHECK(row.at("data movement") == figures::share(part("copy_ns") / whole));
      CHECK(row.at("idle") == figures::share(part("idle_ns") / whole));
      CHECK(count(chart.svg, "active " + row.at("active")) >= 2);
    }
  }
};

}  // namespace

TEST_CASE("the table below each chart of every page says what the API says of the same") {
  using Check = void (Charts::*)(const Chart&);
  // By a column that only the table of this kind of chart has.
  const std::map<std::string, Check> checks{
      {"workload", &Charts::check_map},           {"threshold", &Charts::check_changes},
      {"samples", &Charts::check_samples},        {"iteration", &Charts::check_memory},
      {"build or event", &Charts::check_history}, {"probe", &Charts::check_steps},
      {"active", &Charts::check_shares},          {"middle", &Charts::check_multiples},
      {"remark", &Charts::check_probes}};
  Charts api;
  std::set<std::string> seen;
  for (const auto& chart : api.all()) {
    INFO(chart.page << ": " << chart.title);
    const auto kind =
        std::ranges::find_if(checks, [&](const auto& each) { return chart.has(each.first); });
    REQUIRE(kind != checks.end());
    (api.*kind->second)(chart);
    seen.insert(kind->first);
  }
  // Nothing that is drawn anywhere was left out.
  CHECK(seen.size() == checks.size());
}
