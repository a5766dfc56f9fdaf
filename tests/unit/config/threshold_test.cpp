// What counts as a change: in single series, and where all runs of each build are equal.
#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/config/config.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using Catch::EndsWith;

namespace {

Result<Config> read(const std::string& text) {
  const test::TemporaryFolder folder;
  return load(folder.write("torchwatch.toml", "[detect]\n" + text), true);
}

}  // namespace

TEST_CASE("an exact threshold that is not set is the smaller of its default and the threshold") {
  CHECK(read("").value().detect.exact_threshold == 0.02);
  CHECK(read("threshold = 0.5\n").value().detect.exact_threshold == 0.02);
  CHECK(read("threshold = 0.01\n").value().detect.exact_threshold == 0.01);
}

TEST_CASE("an exact threshold is at most the threshold, and at least 0.1 %") {
  CHECK(read("exact_threshold = 0.07\n").value().detect.exact_threshold == 0.07);
  CHECK(read("exact_threshold = 0.001\n").value().detect.exact_threshold == 0.001);
  CHECK_THAT(read("exact_threshold = 0.08\n").error().text(),
             EndsWith("torchwatch.toml:2: [detect] exact_threshold: invalid value 0.08: must be at "
                      "most the threshold, 0.07"));
  CHECK_FALSE(read("exact_threshold = 0.0009\n"));
}

TEST_CASE("an exact floor is a size from one byte on, a MiB unless set") {
  CHECK(read("").value().detect.exact_floor_bytes == 1 << 20);
  CHECK(read("exact_floor = \"64KiB\"\n").value().detect.exact_floor_bytes == 64 << 10);
  CHECK(read("exact_floor = 1\n").value().detect.exact_floor_bytes == 1);
  CHECK_FALSE(read("exact_floor = 0\n"));
}

TEST_CASE("thresholds of single series are read, and the words written back are those read") {
  const auto config =
      read(
          R"(thresholds = ["cpu_peak 0.03", "time resnet18 0.1", "* dlrm cpu-train 0.2", "time * cpu-infer 0.05"]
)")
          .value();
  const auto& rules = config.detect.thresholds;
  REQUIRE(rules.size() == 4);
  std::vector<std::string> words;
  for (const auto& rule : rules) words.push_back(to_string(rule));
  CHECK(words == std::vector<std::string>{"cpu_peak 0.03", "time resnet18 0.1",
                                          "* dlrm cpu-train 0.2", "time * cpu-infer 0.05"});
  const Benchmark benchmark{"dlrm", {Device::cpu, Mode::train}, {}};
  CHECK(rules[0].fits({benchmark, Metric::cpu_peak}));
  CHECK_FALSE(rules[0].fits({benchmark, Metric::time}));
  CHECK_FALSE(rules[1].fits({benchmark, Metric::time}));
  CHECK(rules[2].fits({benchmark, Metric::time}));
  CHECK_FALSE(rules[3].fits({benchmark, Metric::time}));
}

TEST_CASE("a series counts from the last entry that fits it, and exact values from the lower one") {
  const auto config = read(R"(thresholds = ["time dlrm 0.5", "* alexnet 0.01", "cpu_peak dlrm 0.04"]
)")
                          .value();
  const auto ratio = [of = threshold_ratios(config)](const std::string& workload, Metric metric,
                                                     bool is_exact = false) {
    return of({{workload, {Device::cpu, Mode::train}, {}}, metric}, is_exact);
  };
  CHECK(ratio("dlrm", Metric::time) == Approx(1.5));
  CHECK(ratio("resnet18", Metric::time) == Approx(1.07));
  CHECK(ratio("resnet18", Metric::cpu_peak, true) == Approx(1.02));
  CHECK(ratio("alexnet", Metric::cpu_peak, true) == Approx(1.01));
  CHECK(ratio("dlrm", Metric::cpu_peak, true) == Approx(1.04));
  CHECK(entry_for(config.detect.thresholds, {{"alexnet", {Device::cpu, Mode::train}, {}},
                                             Metric::output_difference}) == nullptr);
}

TEST_CASE("an operator has its own threshold, whatever its workload has") {
  const auto config = read("operator_threshold = 0.3\nthresholds = [\"time dlrm 0.5\"]\n").value();
  Benchmark benchmark{"dlrm", {Device::cpu, Mode::train}, {}};
  benchmark.variant.operator_name = "aten::add_";
  CHECK(threshold_ratios(config)({benchmark, Metric::time}, false) == Approx(1.3));
}

TEST_CASE("a threshold of any configuration may say so or leave it out") {
  const auto left_out = config::parse_series_threshold("time resnet18 0.1").value();
  CHECK((config::parse_series_threshold("time resnet18 * 0.1").value() == left_out));
  CHECK((config::parse_series_threshold("time * * 0.1").value() ==
         config::parse_series_threshold("time 0.1").value()));
}

TEST_CASE("a threshold that cannot be meant is refused with how one is written") {
  const auto refused = [](const std::string& rule) {
    return read("thresholds = [\"" + rule + "\"]\n").error().text();
  };
  CHECK_THAT(refused("time"), Catch::Contains("two to four words are wanted"));
  CHECK_THAT(refused("tiem 0.1"), Catch::Contains("metric \"tiem\" is not known"));
  CHECK_THAT(refused("time resnet18 cpu-trian 0.1"),
             Catch::Contains("trian\" is not known; allowed: cpu-train"));
  CHECK_THAT(refused("time 7"), Catch::Contains("a number from 0.005 to 2.0"));
  CHECK_THAT(refused("time 7%"),
             Catch::Contains("written METRIC [WORKLOAD [CONFIGURATION]] SHARE"));
  CHECK_THAT(refused("output_difference 3"), Catch::Contains("a number from 0.000001 to 2.0"));
  CHECK_THAT(refused("leak_growth 0.1"), Catch::Contains("a leak has no threshold"));
  CHECK_THAT(refused("heap_growth 0.1"), Catch::Contains("a leak has no threshold"));
  CHECK_THAT(refused("time 0.1\", \"time 0.1"), Catch::Contains("each once"));
}
