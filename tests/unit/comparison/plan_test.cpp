#include "torchwatch/comparison/plan.hpp"

#include <catch2/catch.hpp>

#include "torchwatch/comparison/selection.hpp"

using namespace torchwatch;
using namespace torchwatch::comparison;

namespace {

Plan some_plan() {
  Plan plan;
  plan.preset = Preset::paper;
  plan.benchmarks = {Benchmark{"dlrm", {Device::cuda, Mode::infer}, Variant{Precision::bf16}}};
  plan.passes = {Pass::memory};
  plan.threads = 2;
  plan.interleave = true;
  return plan;
}

}  // namespace

TEST_CASE("a stored plan reads back as it was") {
  REQUIRE(parse_plan(to_json(some_plan())).value() == some_plan());
}

TEST_CASE("whether CUDA is measured is for the configurations to say") {
  config::Config config;
  config.suite.configurations = {{Device::cpu, Mode::train}};
  CHECK_FALSE(measures_cuda(config));
  config.suite.configurations.push_back({Device::cuda, Mode::infer});
  CHECK(measures_cuda(config));
}

TEST_CASE("timing runs are interleaved if the plan says so, and no others") {
  Plan plan;
  plan.interleave = true;
  CHECK(is_interleaved(plan, Pass::timing));
  CHECK_FALSE(is_interleaved(plan, Pass::memory));
  CHECK_FALSE(is_interleaved(plan, Pass::profile));
  plan.interleave = false;
  CHECK_FALSE(is_interleaved(plan, Pass::timing));
}

TEST_CASE("a stored plan that is cut off is corrupt") {
  const auto whole = to_json(some_plan());
  REQUIRE(parse_plan(whole.substr(0, whole.size() / 2)).error().code == ErrorCode::corrupt);
}

TEST_CASE("a plan has a series for each metric of each benchmark's device") {
  Plan plan;
  CHECK(series_count(plan) == 0);
  plan.benchmarks = {{"dlrm", {Device::cpu, Mode::train}, {}}};
  CHECK(series_count(plan) == 6);
  plan.benchmarks.push_back({"dlrm", {Device::cuda, Mode::train}, {}});
  CHECK(series_count(plan) == 15);
  plan.outputs = true;
  CHECK(series_count(plan) == 17);
}

TEST_CASE("an external workload is planned in its device and modes, for what it states") {
  config::Config config;
  config.suite.externals = {{.name = "mine",
                             .command = {"/bin/mine"},
                             .metrics = {Metric::time},
                             .device = Device::cpu,
                             .modes = {Mode::infer},
                             .readable = {}}};
  const std::vector<Configuration> both{{Device::cpu, Mode::train}, {Device::cpu, Mode::infer}};
  const auto plan = make_plan(config, {"dlrm", "mine"}, both);
  REQUIRE(plan.benchmarks.size() == 3);
  const auto& mine = plan.benchmarks.back();
  CHECK(to_string(mine) == "mine cpu-infer");
  CHECK(has_pass(plan, mine, Pass::timing));
  CHECK_FALSE(has_pass(plan, mine, Pass::memory));
  CHECK(has_pass(plan, plan.benchmarks.front(), Pass::memory));
  CHECK(series_count(plan) == 2 * 6 + 1);
  CHECK(request_for(plan, mine, Pass::timing).metrics == std::vector{Metric::time});
  CHECK(request_for(plan, plan.benchmarks.front(), Pass::timing).metrics.empty());
  CHECK(parse_plan(to_json(plan)).value() == plan);
  CHECK(to_json(some_plan()).find("stated") == std::string::npos);
}

TEST_CASE("what a selection names stands in place of [suite], and the rest of it stays") {
  config::Config config;
  config.suite.workloads = {"dlrm", "resnet18"};
  config.suite.configurations = {{Device::cpu, Mode::train}};
  CHECK(narrowed(config, {}).suite.workloads == config.suite.workloads);
  const auto suite = narrowed(config, {.workloads = {"hf_Bert"}, .preset = Preset::paper}).suite;
  CHECK(suite.workloads == std::vector<std::string>{"hf_Bert"});
  CHECK(suite.configurations == config.suite.configurations);
  CHECK(suite.preset == Preset::paper);
}
