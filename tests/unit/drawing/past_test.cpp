// The past of series: long, on each axis, and small.
#include <catch2/catch.hpp>
#include <chrono>
#include <regex>

#include "drawing_checks.hpp"
#include "samples.hpp"

using namespace torchwatch;
using namespace torchwatch::drawing;
using Catch::Contains;

TEST_CASE("what has no place on a logarithmic axis is said, and is not drawn") {
  auto history = sample_logarithmic();
  history.points[3].value = 0;
  history.points[4].interval = Interval{0, 3e6};
  check_sound(history);
  const std::string said = "1 point not above 0 has no place here.";
  CHECK_THAT(text_of(history, 400), Contains(said));
  CHECK(table_of(history).rows.size() == table_of(sample_logarithmic()).rows.size() - 1);
  history.is_logarithmic = false;
  CHECK_THAT(text_of(history, 400), !Contains(said));
  CHECK_THAT(text_of(history, 400), !Contains("Equal factors"));
}

TEST_CASE("equal factors are equal distances on a logarithmic axis") {
  History history{.is_logarithmic = true};
  for (const double value : {1e6, 1e7, 1e8}) {
    history.points.push_back({.build = "b", .time = "late", .value = value});
  }
  const auto svg = svg_of(history);
  std::vector<double> heights;
  const std::regex mark("<title>b late: [^<]*</title>\n<path d=\"M[\\d.]+ ([\\d.]+)a");
  for (std::sregex_iterator each(svg.begin(), svg.end(), mark), end; each != end; ++each) {
    heights.push_back(std::stod((*each)[1]));
  }
  REQUIRE(heights.size() == 3);
  CHECK(heights[0] - heights[1] == Approx(heights[1] - heights[2]).margin(0.2));
  CHECK(heights[0] - heights[1] > 50);
}

TEST_CASE("a drift reference is drawn among values, and not among ratios") {
  auto history = sample_logarithmic();
  const std::string line = "class=\"reference\"";
  CHECK_THAT(svg_of(history), Contains(line) && Contains("D: drift reference, 2026-10-20"));
  CHECK_THAT(joined(table_of(history)), Contains("drift: reference 2026-10-20|1.98 ms|"));
  history.is_logarithmic = false;
  CHECK_THAT(svg_of(history), Contains(line));
  history.is_ratio = true;
  CHECK_THAT(svg_of(history), !Contains(line));
  CHECK_THAT(joined(table_of(history)), !Contains("drift:"));
}

TEST_CASE("a small multiple is as high as its threshold at least") {
  SmallMultiples multiples{.all = {{.label = "a", .values = {100.0, 101.0, 100.0}}}};
  const auto text = text_of(multiples, 60);
  CHECK_THAT(text, Contains("▁▂▁"));
  multiples.all[0].threshold = 1.02;
  CHECK_THAT(text_of(multiples, 60), Contains("▁▅▁") && Contains("as high as +2.0 %"));
  multiples.metric = Metric::leak_growth;
  multiples.all[0].values = {0.0, 0.0, 4'096.0};
  check_sound(multiples);
  CHECK_THAT(svg_of(multiples), !Contains("class=\"threshold\""));
}

TEST_CASE("90 nightlies of 84 models are a small picture") {
  SmallMultiples multiples{.title = "cpu-train"};
  for (int model = 0; model < 84; ++model) {
    SmallMultiple one{.label = "model_" + std::to_string(model), .link = "s/1"};
    for (int i = 0; i < 90; ++i) {
      one.values.emplace_back(1e6 * (1 + 0.001 * ((i * 7919 + model) % 13)));
    }
    multiples.all.push_back(std::move(one));
  }
  CHECK(svg_of(multiples).size() < 100'000);
}

TEST_CASE("ten years of nightlies are a small picture that keeps every peak and every change") {
  constexpr int kDays = 3650;
  constexpr int kPeak = 1234;
  History history{.title = "resnet18 cpu-train time", .metric = Metric::time};
  for (int day = 0; day < kDays; ++day) {
    const std::chrono::sys_days at{std::chrono::year{2016} / 1 / 1};
    const std::chrono::year_month_day date{at + std::chrono::days(day)};
    const auto two = [](unsigned number) {
      return (number < 10 ? "-0" : "-") + std::to_string(number);
    };
    const auto text = std::to_string(static_cast<int>(date.year())) +
                      two(static_cast<unsigned>(date.month())) +
                      two(static_cast<unsigned>(date.day()));
    const double value = day == kPeak || day == 3000 ? 2e7 : 1e7;
    history.points.push_back({.build = text,
                              .time = text + "T03:00:00Z",
                              .value = value,
                              .interval = Interval{0.99 * value, 1.01 * value},
                              .runs = 4,
                              .verdict = day == 2000 ? Verdict::regressed : Verdict::unchanged});
  }
  const auto svg = svg_of(history);
  CHECK(svg.size() < 100'000);
  CHECK_THAT(svg, Contains("2021-06-23") && Contains("Unchanged points are too many for marks."));
  std::size_t marks = 0;
  for (auto at = svg.find("<title>2"); at != std::string::npos; at = svg.find("<title>2", at + 1)) {
    ++marks;
  }
  CHECK(marks == 1);
  // Without one of its peaks it is another picture, although neighbours share a unit.
  auto flat = history;
  flat.points[kPeak].value = 1e7;
  CHECK(svg_of(flat) != svg);
  CHECK(table_of(history).rows.size() == kDays);
}

TEST_CASE("a history says in each form how many of its points are not shown") {
  auto history = sample_history();
  constexpr int kOneLine = 4000;
  history.frame.width = kOneLine;
  const std::string said = "Shown are 27 of 3,650 points: the least and the greatest of each";
  CHECK_THAT(svg_of(history), !Contains("Shown are"));
  CHECK_THAT(text_of(history, 400), !Contains("Shown are"));
  history.left_out = 3650 - history.points.size();
  CHECK_THAT(svg_of(history), Contains(said) && Contains("3,650 points, lower is faster"));
  CHECK_THAT(text_of(history, 400), Contains(said) && Contains("3,650 points, lower is faster"));
  check_sound(history);
}

TEST_CASE("behind each row of a history stand its numbers, its kind and its link") {
  const auto history = sample_history();
  const auto [table, all] = table_for_script(history);
  const auto& rows = table.rows;
  REQUIRE(rows == table_of(history).rows);
  REQUIRE(all.size() == rows.size());
  std::size_t points = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(rows[i][1]);
    const bool is_point = all[i].kind == "point";
    CHECK(is_point == (rows[i][1].find(": ") == std::string::npos));
    CHECK(is_point == !all[i].value.empty());
    if (is_point) CHECK(std::stod(all[i].value) == history.points[points++].value);
  }
  CHECK(points == history.points.size());
}
