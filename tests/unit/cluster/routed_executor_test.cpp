#include "torchwatch/cluster/routed_executor.hpp"

#include <catch2/catch.hpp>

#include "order_fixture.hpp"

using namespace torchwatch;
using cluster::RoutedExecutor;

namespace {

const Configuration kCpuTrain{Device::cpu, Mode::train};
const Configuration kCpuInfer{Device::cpu, Mode::infer};
const Configuration kCudaInfer{Device::cuda, Mode::infer};

/// The executor of a class in words: it notes the attempts that it gets.
struct Noted final : executor::Executor {
  explicit Noted(std::string name) : of_node(std::move(name)) {}
  Result<executor::RunOutcome> run(const executor::RunSpec& spec, std::stop_token) override {
    attempts.push_back(spec.request.attempt);
    if (is_lost) return fail(ErrorCode::unavailable, "no node of the cluster");
    return test::believable(spec.request.attempt);
  }
  Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2> specs,
                                                       std::stop_token stop) override {
    TW_TRY(auto first, run(specs[0], stop));
    TW_TRY(auto second, run(specs[1], stop));
    return std::array{std::move(first), std::move(second)};
  }
  std::string node() override { return of_node; }

  std::string of_node;
  std::vector<std::string> attempts;
  bool is_lost = false;
};

executor::RunSpec spec_of(const std::string& attempt, Configuration configuration) {
  auto spec = test::sample_run(attempt);
  spec.request.benchmark.configuration = configuration;
  return spec;
}

struct TwoClasses {
  Noted cpu{"n1"};
  Noted gpu{"n7"};
  RoutedExecutor routed{{{"epyc", {kCpuTrain, kCpuInfer}, &cpu}, {"h100", {kCudaInfer}, &gpu}}};
};

}  // namespace

TEST_CASE("a run, a pair and a block reach the class of their configuration") {
  TwoClasses two;
  CHECK(two.routed.node() == "n1");
  REQUIRE(two.routed.run(spec_of("a", kCudaInfer), {}));
  CHECK(two.routed.node() == "n7");
  REQUIRE(two.routed.run_pair({spec_of("b", kCpuInfer), spec_of("c", kCpuInfer)}, {}));
  CHECK(two.routed.node() == "n1");
  REQUIRE(two.routed.run_block(
      {.runs = {spec_of("d", kCudaInfer), spec_of("e", kCudaInfer)}, .is_in_pairs = true}, {}));
  REQUIRE(two.routed.run_block({.runs = {spec_of("f", kCpuTrain)}}, {}));
  CHECK(two.cpu.attempts == std::vector<std::string>{"b", "c", "f"});
  CHECK(two.gpu.attempts == std::vector<std::string>{"a", "d", "e"});
}

TEST_CASE("a configuration of no class is an error, and no node sees its run") {
  TwoClasses two;
  const auto lost = two.routed.run(spec_of("a", {Device::cuda, Mode::train}), {});
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == ErrorCode::invalid);
  CHECK(lost.error().message == "cuda-train is in no [[slurm.class]], so no node measures it");
  CHECK(two.cpu.attempts.empty());
  CHECK(two.gpu.attempts.empty());
}

TEST_CASE("an error says of which class it is, where there are several") {
  TwoClasses two;
  two.gpu.is_lost = true;
  const auto lost = two.routed.run(spec_of("a", kCudaInfer), {});
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == ErrorCode::unavailable);
  CHECK(lost.error().message == "class h100: no node of the cluster");
  RoutedExecutor one({{"", {}, &two.gpu}});
  CHECK(one.run(spec_of("b", kCpuTrain), {}).error().message == "no node of the cluster");
}
