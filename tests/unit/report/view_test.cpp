#include "torchwatch/report/view.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

using namespace torchwatch;
using namespace torchwatch::report;
using nlohmann::json;

namespace {

storage::VerdictRow verdict(Verdict word, double ratio) {
  storage::VerdictRow row;
  row.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
  row.verdict = word;
  row.ratio = ratio;
  row.interval_low = ratio > 0 ? ratio - 0.02 : 0;
  row.interval_high = ratio > 0 ? ratio + 0.02 : 0;
  row.baseline_value = 2e6;
  row.candidate_value = 2.3e6;
  row.runs = 24;
  return row;
}

}  // namespace

TEST_CASE("a verdict without a ratio has null in JSON") {
  const auto known = json_of(verdict(Verdict::regressed, 1.15));
  CHECK(known.at("ratio") == 1.15);
  CHECK(known.at("unit") == unit_of(Metric::time));
  const auto unknown = json_of(verdict(Verdict::failed, 0));
  CHECK(unknown.at("ratio").is_null());
  CHECK(unknown.at("interval").is_null());
}

TEST_CASE("an interval that too few pairs leave open is null in JSON and empty in a table") {
  auto row = verdict(Verdict::inconclusive, 1.2);
  row.interval_low = 0;
  row.interval_high = std::numeric_limits<double>::infinity();
  CHECK(json_of(row).at("interval").is_null());
  CHECK(interval_text(effect_of(row)).empty());
  CHECK(change_text(effect_of(row)) == "+20.0 %");
}

TEST_CASE("value, change and interval of a time come from the same estimate") {
  auto row = verdict(Verdict::regressed, 1.5);
  const auto effect = effect_of(row);
  CHECK(effect.candidate_value / effect.baseline_value == Approx(effect.ratio));
  row.series.metric = Metric::cpu_peak;
  CHECK(effect_of(row).candidate_value == row.candidate_value);
}

TEST_CASE("a peak that is the same in all runs of each build is written as exact") {
  auto row = verdict(Verdict::unchanged, 1.007);
  row.series.metric = Metric::cpu_peak;
  row.interval_low = row.interval_high = row.ratio;
  CHECK(is_exact(effect_of(row)));
  CHECK(change_text(effect_of(row)) == "exactly +0.7 %");
  CHECK(interval_text(effect_of(row)).empty());
  CHECK(json_of(row).at("exact") == true);
  CHECK(json_of(row).at("interval") == nlohmann::json::array({1.007, 1.007}));

  SECTION("unless its interval is one") {
    row.interval_high = 1.008;
    CHECK(change_text(effect_of(row)) == "+0.7 %");
    CHECK_FALSE(interval_text(effect_of(row)).empty());
    CHECK(json_of(row).at("exact") == false);
  }
  SECTION("unless it is not counted but sampled") {
    for (const auto metric : {Metric::time, Metric::cpu_peak_resident, Metric::leak_growth}) {
      row.series.metric = metric;
      CHECK_FALSE(is_exact(effect_of(row)));
    }
  }
  SECTION("a change that its figure does not show is not written as one") {
    for (const double ratio : {1.0, 1.0009, 0.9991}) {
      row.ratio = row.interval_low = row.interval_high = ratio;
      CHECK(is_exact(effect_of(row)));
      CHECK_FALSE(moved_exactly(effect_of(row)));
      CHECK_THAT(change_text(effect_of(row)), !Catch::Contains("exactly"));
    }
    row.ratio = row.interval_low = row.interval_high = 0.999;
    CHECK(change_text(effect_of(row)) == "exactly -0.1 %");
  }
}

TEST_CASE("a leak is written in whole bytes") {
  EffectFacts effect;
  effect.series.metric = Metric::leak_growth;
  effect.baseline_value = 0;
  effect.candidate_value = 4096;
  CHECK(change_text(effect) == "+4,096 bytes/iteration");
  CHECK(interval_text(effect).empty());
}

TEST_CASE("a change that was measured without values is written as a difference") {
  EffectFacts effect;
  effect.series.metric = Metric::cpu_peak;
  effect.difference = 12.0 * 1048576;
  CHECK(change_text(effect) == "+12 MiB");
}

TEST_CASE("a column of intervals is headed by the confidence that is configured") {
  CHECK(interval_heading(0.99) == "99 % interval");
  CHECK(interval_heading(0.975) == "97.5 % interval");
}

TEST_CASE("a configuration is written with the variant that differs from the default") {
  Benchmark benchmark{"dlrm", {Device::cuda, Mode::infer}, {}};
  CHECK(configuration_text(benchmark) == "cuda-infer");
  benchmark.variant.precision = Precision::bf16;
  CHECK(configuration_text(benchmark) == "cuda-infer bf16");
}

TEST_CASE("a bisection keeps the paths of this machine to itself") {
  storage::BisectionRow row;
  row.spec_json = R"({"base_folder": "/builds/secret"})";
  row.result_json = "damaged";
  const auto object = json_of(row);
  CHECK(object.dump().find("secret") == std::string::npos);
  CHECK(object.at("result").is_null());
  CHECK(object.at("ended_at").is_null());
}

TEST_CASE("of several changes other outputs come first, then leaks, then the largest ratio") {
  const auto effect = [](Metric metric, double ratio, double candidate) {
    auto row = verdict(Verdict::regressed, ratio);
    row.series.metric = metric;
    row.baseline_value = 0;
    row.candidate_value = candidate;
    return effect_of(row);
  };
  std::vector<EffectFacts> effects{effect(Metric::time, 3, 6e6),
                                   effect(Metric::leak_retained, 0, 8e6),
                                   effect(Metric::cpu_peak, 4, 8e6),
                                   effect(Metric::leak_growth, 0, 64),
                                   effect(Metric::output_difference, 0, 2e6),
                                   effect(Metric::output_difference, 0, 4e6)};
  std::ranges::stable_sort(effects, is_larger);
  std::vector<Metric> metrics;
  for (const auto& each : effects) metrics.push_back(each.series.metric);
  CHECK(metrics == std::vector{Metric::output_difference, Metric::output_difference,
                               Metric::leak_growth, Metric::leak_retained, Metric::cpu_peak,
                               Metric::time});
  CHECK(effects.front().candidate_value == 4e6);
}
