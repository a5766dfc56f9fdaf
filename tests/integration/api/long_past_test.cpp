// The page of a series with a past longer than a screen can show.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "api_fixture.hpp"
#include "page_checks.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

constexpr int kNightlies = 900;
constexpr int kRegressed = 433;
constexpr int kPeak = 611;
constexpr WallMillis kDay = 24LL * 60 * 60 * 1000;
const std::string kPath = "/series/resnet18/cpu-train/default/time";

/// A nightly each day after the one of `fill`.
struct LongPast : Api {
  LongPast() {
    fill();
    add_builds(kNightlies);
    REQUIRE(database->transact([&]() -> Status {
      for (int day = 0; day < kNightlies; ++day) TW_TRY_VOID(add(day));
      return {};
    }));
  }

  Status add(int day) {
    constexpr Id kFirst = 3;  // of the builds
    ComparisonStore comparisons(*database);
    const auto at = clock.wall_now() + (day + 1) * kDay;
    TW_TRY(const auto row, comparisons.open({Purpose::nightly, kFirst + day, 1}, at));
    VerdictRow verdict;
    verdict.comparison = row.id;
    verdict.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
    verdict.verdict = day == kRegressed ? Verdict::regressed : Verdict::unchanged;
    verdict.ratio = day == kPeak ? 3.0 : 1 + (day % 7) * 0.001;
    verdict.interval_low = verdict.ratio * 0.99;
    verdict.interval_high = verdict.ratio * 1.01;
    verdict.baseline_value = 1e7;
    verdict.candidate_value = 1e7 * verdict.ratio;
    return comparisons.add_verdict(verdict);
  }

  std::string name_of(int day) const { return "build-" + std::to_string(day); }
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

TEST_CASE("a page shows of a long past what a screen can show, says so, and leads to the rest") {
  LongPast api;
  const auto page = api.page(kPath);
  CHECK(wrong_tag(page) == "");
  const auto points = count(page, "data-value=\"point\"");
  CHECK(points > 100);
  CHECK(points < 500);
  CHECK_THAT(page, Contains("Shown are " + std::to_string(points) + " of 901 points"));
  for (const int day : {kRegressed, kPeak, kNightlies - 1})
    CHECK_THAT(page, Contains(api.name_of(day) + "<"));
  CHECK_THAT(page, Contains("of 901 comparisons"));

  const auto whole = api.get(kPath + ".csv").text;
  CHECK(lines_of(whole) > 901);
  for (int day = 0; day < kNightlies; ++day) {
    CHECK_THAT(whole, Contains("," + api.name_of(day) + ","));
  }
  CHECK_THAT(api.get(kPath + ".md").text, Contains("of 901 points"));

  std::size_t in_years = 0;
  const auto links = links_of(kPath, page);
  CHECK(std::ranges::find(links, kPath + ".csv") != links.end());
  for (const auto& link : links) {
    if (link.find("&to=") == std::string::npos && link.find("&amp;to=") == std::string::npos) {
      continue;
    }
    const auto year = api.page(link);
    INFO(link);
    CHECK_THAT(year, !Contains("Shown are"));
    in_years += count(year, "data-value=\"point\"");
  }
  CHECK(in_years == 901);
}

TEST_CASE("the whole of a long past is one answer by columns, in which each point is the file's") {
  LongPast api;
  const auto past = api.get("/api/v1" + kPath + "/past").body;
  REQUIRE(past.at("time").size() == 901);
  for (const auto* column : {"value", "low", "high", "verdict", "runs", "build", "comparison"}) {
    CHECK(past.at(column).size() == 901);
  }
  for (int day = 0; day < kNightlies; ++day) {
    INFO(day);
    const auto at = static_cast<std::size_t>(day) + 1;  // after the nightly of `fill`
    const double ratio = day == kPeak ? 3.0 : 1 + (day % 7) * 0.001;
    CHECK(past.at("build")[at] == api.name_of(day));
    CHECK(past.at("value")[at].get<double>() == Approx(1e7 * ratio));
    CHECK(past.at("low")[at].get<double>() == Approx(1e7 * ratio * 0.99));
    CHECK(past.at("high")[at].get<double>() == Approx(1e7 * ratio * 1.01));
    CHECK(past.at("verdict")[at] == (day == kRegressed ? "regressed" : "unchanged"));
    CHECK(past.at("comparison")[at] == day + 2);
  }
  CHECK(std::ranges::is_sorted(past.at("time")));
  CHECK(past.at("comparison_url") == "/api/v1/comparisons/");
  CHECK(api.get("/api/v1/series/resnet18/tpu-train/default/time/past").status == 404);
  CHECK(api.get("/api/v1" + kPath + "/past?limit=3").status == 400);
}

TEST_CASE("the whole past has the measured values alone, of memory those of the runs") {
  Api api;
  api.fill();
  api.add_builds(2);
  const Series memory{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::cpu_peak};
  const auto add = [&](Id build, Verdict word) {
    ComparisonStore comparisons(*api.database);
    VerdictRow verdict;
    verdict.comparison = comparisons.open({Purpose::nightly, build, 1}, build).value().id;
    verdict.series = memory;
    verdict.verdict = word;
    verdict.ratio = word == Verdict::failed ? 0 : 1.5;
    verdict.baseline_value = 1000;
    verdict.candidate_value = 1400;
    verdict.reason = word == Verdict::failed ? "exit 1" : "";
    REQUIRE(comparisons.add_verdict(verdict));
    return verdict.comparison;
  };
  add(3, Verdict::failed);
  const auto measured = add(4, Verdict::regressed);
  const auto past = api.get("/api/v1/series/resnet18/cpu-train/default/cpu_peak/past").body;
  CHECK(past.at("comparison") == nlohmann::json::array({measured}));
  CHECK(past.at("value") == nlohmann::json::array({1400.0}));
  CHECK(past.at("low") == nlohmann::json::array({nullptr}));
}

TEST_CASE("a past of a year is shown whole") {
  Api api;
  api.fill();
  CHECK_THAT(api.page(kPath), !Contains("Shown are") && !Contains(".csv\">as CSV"));
}
