// Every chart on a page: its table says what the API says of the same, and so does the picture.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>

#include "drawn.hpp"
#include "page_checks.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"

using namespace torchwatch;
using nlohmann::json;

namespace {

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
struct Charts : Drawn {
  /// The figures of all pages.
  std::vector<Chart> all() {
    auto paths = kPages;
    paths.insert(paths.end(), kMorePages.begin(), kMorePages.end());
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

  /// The comparison that a page is of: the first page has the newest.
  static std::string comparison_of(const std::string& page) {
    const std::string in_path = "/comparisons/";
    if (page.starts_with(in_path)) return page.substr(in_path.size(), 1);
    return page == "/" ? "2" : "1";
  }

  static std::string metric_of(const std::string& page) {
    const auto asked = page.find("metric=");
    return asked == std::string::npos ? "time" : page.substr(asked + 7);
  }

  void check_map(const Chart& chart) {
    const auto matrix = get("/api/v1/comparisons/" + comparison_of(chart.page) +
                            "/matrix?metric=" + metric_of(chart.page))
                            .body;
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
                        matrix.at("verdict")[i].get<std::string>() +
                        (matrix.at("verdict")[i] == "unchanged" ? "" : ", confirmed");
      CHECK(row->at(configuration) == said);
      CHECK(count(chart.svg, workload + " " + configuration + ": " + said) == 2);
    }
  }

  void check_multiples(const Chart& chart) {
    const auto metric = parse_metric(metric_of(chart.page)).value();
    const auto lines = get("/api/v1/comparisons/" + comparison_of(chart.page) +
                           "/sparklines?metric=" + metric_of(chart.page))
                           .body;
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
      auto values = lines.at("values")[i].get<std::vector<double>>();
      const auto newest = figures::value(metric, values.back());
      CHECK(row->at("newest") == newest);
      CHECK(row->at("nightlies") == std::to_string(values.size()));
      // The picture's curve has a point for each value.
      const auto pictures = parts_of(chart.svg, "<title>" + model + ": " + newest, "</a>");
      CHECK(pictures.size() == 2);
      for (const auto& picture : pictures) {
        const auto curve = picture.substr(0, picture.find("\" class=\"curve"));
        CHECK(count(curve.substr(curve.rfind("d=\"M")), "l") == values.size() - 1);
      }
      std::ranges::sort(values);
      CHECK(row->at("least") == figures::value(metric, values.front()));
      CHECK(row->at("greatest") == figures::value(metric, values.back()));
      const auto middle = values[(values.size() - 1) / 2];
      CHECK(row->at("middle") == figures::value(metric, middle));
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

  /// What a nightly's comparison says of the series that a past is of.
  json judged_in(const json& comparison, const std::string& title, Metric metric) {
    const auto matrix = get("/api/v1/comparisons/" + comparison.at("id").dump() +
                            "/matrix?metric=" + std::string(to_string(metric)))
                            .body;
    json found{{"build", comparison.at("candidate").at("name")}};
    for (std::size_t i = 0; i < matrix.at("series").size(); ++i) {
      auto name = matrix.at("series")[i].get<std::string>();
      std::ranges::replace(name, '/', ' ');
      if (std::regex_replace(name, std::regex(" default"), "") != title) continue;
      for (const auto* column :
           {"verdict", "ratio", "low", "high", "baseline_value", "candidate_value"}) {
        found[column] = matrix.at(column)[i];
      }
    }
    return found;
  }

  void check_history(const Chart& chart) {
    const auto metric = parse_metric(chart.title.substr(chart.title.rfind(' ') + 1)).value();
    const auto nightlies = get("/api/v1/comparisons?purpose=nightly").body.at("comparisons");
    const auto is_point = [](const auto& row) { return !row.at("verdict").empty(); };
    CHECK(nightlies.size() == 2);
    CHECK(std::ranges::count_if(chart.rows, is_point) == std::ssize(nightlies));
    for (const auto& nightly : nightlies) {
      const auto judged = judged_in(nightly, chart.title, metric);
      const auto point = std::ranges::find_if(chart.rows, [&](const auto& row) {
        return row.at("build or event") == judged.at("build") && is_point(row);
      });
      REQUIRE(point != chart.rows.end());
      CHECK(point->at("verdict") == judged.at("verdict"));
      const bool is_ratio = chart.has("change");
      const auto value = [&](double number) {
        return is_ratio ? figures::change(number) : figures::value(metric, number);
      };
      const auto said = point->at(is_ratio ? "change" : "value");
      CHECK(said == value(judged.at(is_ratio ? "ratio" : "candidate_value")));
      const auto low = judged.at("low").get<double>();
      const auto high = judged.at("high").get<double>();
      const auto unit = is_ratio ? 1 : judged.at("baseline_value").get<double>();
      const auto interval = is_ratio ? figures::interval_with_unit(low, high)
                                     : "[" + value(low * unit) + ", " + value(high * unit) + "]";
      CHECK(point->at("99 % interval") == interval);
      CHECK(count(chart.svg, "<title>" + judged.at("build").get<std::string>() + " ") >= 2);
      CHECK(count(chart.svg, ": " + said + " ") >= 2);
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
    REQUIRE(runs.size() == 3);
    std::vector<double> values;
    for (const auto& run : runs) values.push_back(run.at("values")[0].at("value"));
    std::ranges::sort(values);
    REQUIRE(chart.rows.size() == 2);
    CHECK(chart.rows[0].at("remark") == "not measured");  // the good end
    const auto& row = chart.rows[1];
    const auto median = figures::value(Metric::time, values[1]);
    CHECK(row.at("commit") == short_sha("cccc"));
    CHECK(row.at("values") == "3");
    CHECK(row.at("median") == median);
    CHECK(row.at("least") == figures::value(Metric::time, values[0]));
    CHECK(row.at("greatest") == figures::value(Metric::time, values[2]));
    CHECK(count(chart.svg, "3 values, median " + median) == 2);
  }

  void check_differences(const Chart& chart) {
    const auto compared = get("/api/v1/machines/compare").body;
    const auto& benchmarks = compared.at("benchmarks");
    CHECK(benchmarks.size() == 1);
    REQUIRE(chart.rows.size() == benchmarks.size() + 1);
    const auto check = [&](const auto& row, const json& said) {
      CHECK(row.at("difference") == figures::change(said.at("ratio")));
      CHECK(row.at("95 % interval") == interval_of(said.at("interval")));
      CHECK(count(chart.svg, row.at("series") + ": " + row.at("difference") + " [") == 2);
    };
    for (std::size_t i = 0; i < benchmarks.size(); ++i) {
      const auto& said = benchmarks[i];
      CHECK(chart.rows[i].at("series") == said.at("workload").get<std::string>() + " " +
                                              said.at("configuration").get<std::string>());
      check(chart.rows[i], said);
    }
    CHECK(chart.rows.back().at("series") == "geometric mean of 1");
    check(chart.rows.back(), compared.at("geometric_mean"));
  }

  void check_shares(const Chart& chart) {
    std::map<std::string, json> profiles;  // by the name of the build
    for (const std::string build : {"1", "2"}) {
      const auto of_build = get("/api/v1/breakdown?build=" + build).body.at("profiles");
      REQUIRE(of_build.size() == 1);
      profiles[get("/api/v1/builds/" + build).body.at("name")] = of_build[0];
    }
    REQUIRE(chart.rows.size() == profiles.size());  // before and after
    CHECK(chart.rows[0].at("build") != chart.rows[1].at("build"));
    for (const auto& row : chart.rows) {
      REQUIRE(profiles.contains(row.at("build")));
      const auto& profile = profiles[row.at("build")];
      const auto part = [&](const char* name) { return profile.at(name).template get<double>(); };
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
  constexpr std::array kChecks{&Charts::check_map,       &Charts::check_changes,
                               &Charts::check_samples,   &Charts::check_memory,
                               &Charts::check_history,   &Charts::check_steps,
                               &Charts::check_probes,    &Charts::check_shares,
                               &Charts::check_multiples, &Charts::check_differences};
  REQUIRE(kChecks.size() == kColumnsOfDrawings.size());
  std::map<std::string, Check> checks;
  for (std::size_t i = 0; i < kChecks.size(); ++i) checks[kColumnsOfDrawings[i]] = kChecks.at(i);
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
