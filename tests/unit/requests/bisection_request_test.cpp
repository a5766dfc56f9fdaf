#include "torchwatch/requests/bisection_request.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::requests;

TEST_CASE("a request that passes through JSON names the same series, variant included") {
  BisectionRequest request;
  request.good = "a";
  request.bad = "b";
  request.selection.workloads = {"dlrm"};
  request.selection.configurations = {{Device::cpu, Mode::train}};
  request.selection.variants = {parse_variant("bf16,threads=2").value()};
  request.selection.metrics = {Metric::cpu_peak};
  request.selection.preset = Preset::paper;
  const auto read = parse_bisection_request(to_json(request)).value();
  CHECK(read.good == "a");
  CHECK(read.selection.preset == Preset::paper);
  const Series wanted{
      Benchmark{"dlrm", {Device::cpu, Mode::train}, request.selection.variants.front()},
      Metric::cpu_peak};
  REQUIRE(named_series({}, read).value() == std::vector{wanted});
}

TEST_CASE("a request that names a workload alone means its time in both modes on the processor") {
  BisectionRequest request;
  request.selection.workloads = {"dlrm"};
  const auto all_series = named_series({}, request).value();
  REQUIRE(all_series.size() == 2);
  CHECK(to_string(all_series[0]) != to_string(all_series[1]));
  for (const auto& series : all_series) {
    CHECK(series.metric == Metric::time);
    CHECK(series.benchmark.configuration.device == Device::cpu);
    CHECK(series.benchmark.variant == Variant{});
  }
}

TEST_CASE("lists in a request mean every combination, and single members a list of one") {
  const auto lists =
      parse_bisection_request(R"({"workloads":["dlrm"],"configurations":["cpu-train","cpu-infer"],)"
                              R"("variants":["fp32","bf16"],"metrics":["time","cpu_peak"]})")
          .value();
  CHECK(named_series({}, lists).value().size() == 8);
  const auto single =
      parse_bisection_request(R"({"workloads":["dlrm"],"device":"cuda","metric":"time"})").value();
  CHECK(single.selection.configurations ==
        std::vector<Configuration>{{Device::cuda, Mode::train}, {Device::cuda, Mode::infer}});
  CHECK(named_series({}, single).value().size() == 2);
}

TEST_CASE("what a request names twice is one series") {
  BisectionRequest request;
  request.selection.workloads = {"dlrm", "dlrm"};
  request.selection.variants = {Variant{}, Variant{}};
  CHECK(named_series({}, request).value().size() == 2);
}

TEST_CASE("an external workload is searched only for what its table names") {
  config::Config config;
  config.suite.externals = {{.name = "mine",
                             .command = {"/bin/mine"},
                             .metrics = {Metric::time},
                             .modes = {Mode::infer}}};
  BisectionRequest request;
  request.selection.workloads = {"mine"};
  const auto alone = named_series(config, request).value();
  REQUIRE(alone.size() == 1);
  CHECK(alone.front().benchmark.configuration == Configuration{Device::cpu, Mode::infer});

  request.selection.configurations = {{Device::cpu, Mode::train}};
  const auto mode = named_series(config, request).error();
  CHECK(mode.code == ErrorCode::invalid);
  CHECK(mode.message == "workload mine is not measured in cpu-train");
  CHECK(mode.remedy == "its [[suite.external]] names cpu-infer");

  request.selection.configurations.clear();
  request.selection.metrics = {Metric::cpu_peak};
  CHECK(named_series(config, request).error().message == "workload mine does not state cpu_peak");
}

TEST_CASE("a request with an unknown word is invalid") {
  CHECK(parse_bisection_request(R"({"variant":"bf17"})").error().code == ErrorCode::invalid);
  CHECK(parse_bisection_request(R"({"good":1})").error().code == ErrorCode::invalid);
  CHECK(parse_bisection_request("[").error().code == ErrorCode::invalid);
}
