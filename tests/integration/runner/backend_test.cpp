#include <catch2/catch.hpp>

#include "runner_process.hpp"
#include "temporary_folder.hpp"

using namespace torchwatch;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using nlohmann::json;

namespace {

json traced(const char* workload, const char* pass = "timing") {
  auto wanted = request(workload);
  wanted.update({{"backend", "torchscript"}, {"pass", pass}});
  return wanted;
}

/// What a workload computes under a backend.
std::vector<OutputFigures> outputs_of(json wanted, const char* backend) {
  wanted.update(
      {{"backend", backend}, {"pass", "memory"}, {"outputs", true}, {"leak_iterations", 0}});
  return measure(wanted).outputs;
}

}  // namespace

TEST_CASE("a TorchScript graph is timed, and its compilation stands beside the time") {
  const auto result = measure(traced("resnet18"));
  INFO(result.reason);
  REQUIRE(result.status == RunStatus::ok);
  CHECK(result.samples_ns.size() == 5);
  CHECK(result.values.at(Metric::compile_time) > 0);
  CHECK_FALSE(measure(request("resnet18")).values.contains(Metric::compile_time));
}

TEST_CASE("a training is timed as a graph, which leaves the outputs of the network as they were") {
  auto wanted = traced("resnet18");
  wanted["mode"] = "train";
  const auto timed = measure(wanted);
  INFO(timed.reason);
  REQUIRE(timed.status == RunStatus::ok);
  CHECK(timed.values.at(Metric::compile_time) > 0);

  const auto outputs = outputs_of(wanted, "torchscript");
  const auto expected = outputs_of(wanted, "eager");
  REQUIRE(outputs.size() == 3);
  REQUIRE(expected.size() == 3);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    CHECK(outputs[i].name == expected[i].name);
    CHECK(outputs[i].scale == Approx(expected[i].scale).epsilon(1e-3));
  }
}

TEST_CASE("the memory that compiling takes is not the workload's") {
  const auto result = measure(traced("resnet18", "memory"));
  INFO(result.reason);
  REQUIRE(result.status == RunStatus::ok);
  // While it is traced, what each operator returns is kept.
  CHECK(result.values.at(Metric::compile_peak) > result.values.at(Metric::cpu_peak));
  CHECK(result.values.at(Metric::leak_growth) == 0);
}

TEST_CASE("a graph computes what the operators compute, but for rounding") {
  const auto eager = outputs_of(request("resnet18"), "eager");
  const auto traced = outputs_of(request("resnet18"), "torchscript");
  REQUIRE(eager.size() == 1);
  REQUIRE(traced.size() == 1);
  CHECK(traced[0].scale == Approx(eager[0].scale).epsilon(1e-3));
}

TEST_CASE("the operators of a graph are those that it calls: freezing folds the normalisation") {
  auto wanted = request("resnet18");
  wanted["pass"] = "coverage";
  CHECK(measure(wanted).operators.contains("aten::batch_norm"));
  const auto result = measure(traced("resnet18", "coverage"));
  INFO(result.reason);
  REQUIRE(result.status == RunStatus::ok);
  CHECK_FALSE(result.operators.empty());
  CHECK_FALSE(result.operators.contains("aten::batch_norm"));
}

TEST_CASE("a graph that runs out of memory has failed: the backend could take it") {
  auto wanted = traced("resnet18");
  wanted["batch"] = 4096;
  wanted["limits"] = {{"memory_bytes", std::int64_t{1} << 30}};
  const auto result = measure(wanted);
  CHECK(result.status == RunStatus::failed);
  CHECK_THAT(result.reason, StartsWith("the workload ran out of memory at batch 4096"));
}

TEST_CASE("what a backend cannot take is unsupported with the reason") {
  const auto deciding = measure(traced("soft_actor_critic"));
  CHECK(deciding.status == RunStatus::unsupported);
  CHECK_THAT(deciding.reason, Contains("reads values of tensors (2), which a trace would freeze"));
  CHECK(deciding.values.empty());

  auto own_step = traced("squeezenet1_1");
  own_step["mode"] = "train";
  CHECK(measure(own_step).status == RunStatus::unsupported);
  CHECK_THAT(measure(own_step).reason, Contains("more than one loss and its gradients"));

  auto inductor = request("resnet18");
  inductor["backend"] = "aot_inductor";
  CHECK_THAT(measure(inductor).reason, Contains("runs a package, and the request names none"));
}

TEST_CASE("a package that LibTorch cannot load is a failure, and its text the reason") {
  const test::TemporaryFolder folder;
  auto wanted = request("resnet18");
  wanted.update({{"backend", "aot_inductor"}, {"package", folder.write("a.pt2", "no archive")}});
  const auto result = measure(wanted);
  INFO(result.reason);
  CHECK(result.status != RunStatus::ok);
  CHECK_FALSE(result.reason.empty());
  CHECK(result.values.empty());
}
