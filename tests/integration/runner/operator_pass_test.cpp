#include "torchwatch/runner/operator_pass.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "fake_workload.hpp"
#include "runner_process.hpp"
#include "torchwatch/models/torch.hpp"
#include "torchwatch/records/run_result.hpp"
#include "torchwatch/torch/clock.hpp"
#include "torchwatch/torch/operator_figures.hpp"

using namespace torchwatch;
using namespace torchwatch::runner;

namespace {

std::int64_t sum_of(const OperatorTimes& times) {
  return std::accumulate(times.begin(), times.end(), std::int64_t{0},
                         [](auto sum, const auto& at) { return sum + at.second.self_ns; });
}

RunResult watch(std::function<void()> step) {
  protocol::Request request;
  request.pass = Pass::profile;
  request.operators = true;
  request.warmup = 1;
  request.iterations = 4;
  request.enough_ns = 0;
  RunResult result;
  FakeWorkload workload(std::move(step));
  watch_operators(workload, request, {}, result);
  return result;
}

}  // namespace

TEST_CASE("an operator's time is without those that it calls, and all of them are the whole") {
  const auto a = torch::rand({512, 512});
  const auto bias = torch::rand({512});
  std::int64_t within = 0;
  const auto begin = now_ns();
  const auto times = operator_times([&] {
    const auto begin_of_work = now_ns();
    for (int i = 0; i < 20; ++i) torch::linear(a, a, bias);
    within = now_ns() - begin_of_work;
  });
  const auto around = now_ns() - begin;
  REQUIRE(times.at("aten::linear").calls == 20);
  REQUIRE(times.at("aten::addmm").calls == 20);
  // What takes a millisecond of products is not in the call that hands them on.
  REQUIRE(times.at("aten::addmm").self_ns > times.at("aten::linear").self_ns);
  REQUIRE(sum_of(times) >= within);
  REQUIRE(sum_of(times) <= around);
}

TEST_CASE("operators of autograd are watched as well, and nothing is when the watch has ended") {
  const auto weight = torch::rand({8, 8}, torch::requires_grad());
  const auto times = operator_times([&] { torch::mm(weight, weight).sum().backward(); });
  REQUIRE(times.at("aten::mm").calls == 3);  // forward, and one for each factor
  REQUIRE_THROWS_AS(operator_times([] { throw std::runtime_error("no"); }), std::runtime_error);
  const auto later = operator_times([] {});
  REQUIRE(later.size() == 1);
  REQUIRE(later.contains(kOutsideOperators));
}

TEST_CASE("bytes that stay are the operator's that allocated them, to the byte") {
  std::vector<torch::Tensor> kept;
  const auto a = torch::rand({1024});
  const auto bytes = operator_bytes(
      [&] {
        kept.push_back(torch::cat({a, a}));
        torch::mul(a, a);
      },
      3);
  REQUIRE(bytes.at("aten::cat").kept == 3 * 2 * 4096);
  REQUIRE(bytes.at("aten::mul").kept == 0);
  REQUIRE(bytes.at("aten::mul").allocated == 3 * 4096);
  REQUIRE_FALSE(bytes.contains("aten::empty"));
}

TEST_CASE("what replaces itself in each iteration is not kept") {
  torch::Tensor last;
  const auto a = torch::rand({1024});
  const auto bytes = operator_bytes([&] { last = torch::add(a, a); }, 4);
  REQUIRE(bytes.at("aten::add").kept == 0);
  REQUIRE(bytes.at("aten::add").allocated == 4 * 4096);
}

TEST_CASE("memory that only its caller provides counts to whoever called") {
  const auto bytes = operator_bytes([] { torch::zeros({1024}); }, 2);
  REQUIRE(bytes.at("aten::zeros").allocated == 2 * 4096);
  const auto outside = operator_bytes([] { torch::empty({1024}); }, 2);
  REQUIRE(outside.at(kOutsideOperators).allocated == 2 * 4096);
}

TEST_CASE("figures are of an iteration, however many a sample has") {
  std::vector<torch::Tensor> kept;
  const auto a = torch::rand({256});
  const auto result = watch([&] {
    torch::mul(a, a);
    kept.push_back(torch::add(torch::mul(a, a), a));
  });
  const auto& figures = result.operator_figures;
  REQUIRE(figures.at("aten::mul").calls == 2);
  REQUIRE(figures.at("aten::add").calls == 1);
  REQUIRE(figures.at("aten::mul").self_ns > 0);
  REQUIRE(figures.at("aten::mul").allocated_bytes == 2 * 1024);
  REQUIRE(figures.at("aten::add").kept_bytes == 1024);
  REQUIRE(figures.at("aten::mul").kept_bytes == 0);
  const auto& facts = result.environment.volatile_facts;
  REQUIRE(facts.at("operators_iteration_ns") > 0);
  REQUIRE(facts.at("operators_watched_ns") > 0);
}

TEST_CASE("an operator that is called in few samples takes no time by the median") {
  int iteration = 0;
  const auto a = torch::rand({1 << 22});  // one iteration fills a sample
  const auto result = watch([&] {
    torch::mul(a, a);
    if (++iteration == 6) torch::exp(a);
  });
  REQUIRE(result.operator_figures.at("aten::mul").calls == 1);
  REQUIRE(result.operator_figures.at("aten::mul").self_ns > 0);
  const auto rare = result.operator_figures.find("aten::exp");
  if (rare != result.operator_figures.end()) REQUIRE(rare->second.self_ns == 0);
}

TEST_CASE("a node of autograd counts to what is around it") {
  const auto weight = torch::rand({64, 64}, torch::requires_grad());
  const auto times = operator_times([&] { torch::mm(weight, weight).sum().backward(); });
  for (const auto& [name, time] : times) {
    INFO(name);
    REQUIRE(name.find("autograd") == std::string::npos);
    REQUIRE((name == kOutsideOperators || name.starts_with("aten::")));
  }
}

TEST_CASE("a profile run states operators where it is asked for them, without a trace") {
  auto wanted = request("soft_actor_critic");
  wanted["pass"] = "profile";
  wanted["mode"] = "train";
  wanted["operators"] = true;
  const auto result = measure(wanted);
  INFO(result.reason);
  REQUIRE(result.status == RunStatus::ok);
  REQUIRE(result.values.empty());
  REQUIRE(result.operator_figures.at("aten::addmm").calls > 0);
  REQUIRE(result.operator_figures.at("aten::addmm").self_ns > 0);
  REQUIRE(result.operator_figures.at("aten::addmm").allocated_bytes > 0);
  REQUIRE(result.operator_figures.contains(kOutsideOperators));
  REQUIRE_FALSE(result.breakdown);
  REQUIRE_FALSE(result.breakdown_reason.empty());
}

TEST_CASE("a timing run of an operator states its self time, and what all others take") {
  auto wanted = request("soft_actor_critic");
  wanted["operator"] = "aten::addmm";
  const auto result = measure(wanted);
  INFO(result.reason);
  REQUIRE(result.status == RunStatus::ok);
  REQUIRE_FALSE(result.samples_ns.empty());
  const auto time = result.values.at(Metric::time);
  REQUIRE(time == result.operator_figures.at("aten::addmm").self_ns);
  REQUIRE(time < result.environment.volatile_facts.at("operators_watched_ns"));
  REQUIRE(result.values.size() == 1);
  REQUIRE(result.operator_figures.contains(kOutsideOperators));
}

TEST_CASE("a workload that does not call the operator is unsupported, and the reason names it") {
  auto wanted = request("soft_actor_critic");
  wanted["operator"] = "aten::nobody_calls_this";
  const auto result = measure(wanted);
  REQUIRE(result.status == RunStatus::unsupported);
  REQUIRE(result.reason == "an iteration of the workload does not call aten::nobody_calls_this");
  REQUIRE(result.operator_figures.empty());
}
