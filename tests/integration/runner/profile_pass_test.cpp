#include "torchwatch/runner/profile_pass.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "fake_gpu.hpp"
#include "fake_workload.hpp"
#include "torchwatch/models/registry.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/runner/operator_trace.hpp"

using namespace torchwatch;
using namespace torchwatch::runner;

namespace {

constexpr std::uint64_t kKernelNs = 300'000;

protocol::Request profile_request() {
  protocol::Request request;
  request.attempt = "a1";
  request.benchmark = {"resnet18", {Device::cuda, Mode::train}, {}};
  request.pass = Pass::profile;
  request.warmup = 1;
  request.iterations = 4;
  return request;
}

std::uint64_t wall_clock_ns() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count());
}

/// A device whose only work is a kernel that ends with each iteration.
struct ScriptedDevice {
  ScriptedDevice() : cuda(test::fresh_cuda()), cupti(test::fresh_cupti(FAKE_CUPTI)) {
    cupti.tells_real_time = true;
  }
  RunResult profile(const protocol::Request& request) {
    RunResult result;
    result.attempt = request.attempt;
    const auto recorder = begin_recording(request, {{FAKE_CUDA}, {FAKE_CUPTI}});
    REQUIRE(recorder.has_value());
    FakeWorkload workload([this] { step(); });
    profile_iterations(workload, models::Device::cpu, request, **recorder, result);
    return result;
  }
  void step() {
    const auto begin = wall_clock_ns();
    while (wall_clock_ns() < begin + kKernelNs) continue;
    cupti.pending.push_back({.start = begin, .end = begin + kKernelNs});
    ++steps;
  }

  test::FakeCuda& cuda;
  test::FakeCupti& cupti;
  int steps = 0;
};

}  // namespace

TEST_CASE("a profile becomes an ok result with a breakdown and no value of time") {
  ScriptedDevice device;
  const auto request = profile_request();
  const auto result = device.profile(request);
  INFO(result.breakdown_reason);
  REQUIRE(result.breakdown.has_value());
  CHECK(device.steps == 5);
  CHECK(result.breakdown->active_ns == kKernelNs);
  CHECK(result.breakdown->copy_ns == 0);
  CHECK(result.values.empty());
  const auto& figures = result.environment.volatile_facts;
  CHECK(figures.at("profile_kernels") == 1);
  CHECK(figures.at("profile_wall_ns") >= static_cast<std::int64_t>(kKernelNs));
  CHECK(figures.at("profile_active_median_ppm") > 0);
  const auto read = protocol::parse_result(protocol::to_json(result), "a1");
  REQUIRE(read.has_value());
  CHECK(protocol::check_answers(request, *read).has_value());
}

TEST_CASE("no more than ten iterations are profiled") {
  ScriptedDevice device;
  auto request = profile_request();
  request.iterations = 30;
  device.profile(request);
  CHECK(device.steps == 11);
}

TEST_CASE("an invalid recording is an ok result without a breakdown, with the reason") {
  ScriptedDevice device;
  auto request = profile_request();
  request.warmup = 0;
  RunResult result;
  result.attempt = "a1";
  const auto recorder = begin_recording(request, {{FAKE_CUDA}, {FAKE_CUPTI}});
  FakeWorkload workload([&] {
    device.step();
    device.cupti.pending.back().end = 0;
  });
  profile_iterations(workload, models::Device::cpu, request, **recorder, result);
  CHECK_FALSE(result.breakdown.has_value());
  CHECK(result.breakdown_reason.starts_with("invalid: a record without times"));
  CHECK(protocol::parse_result(protocol::to_json(result), "a1").has_value());
}

TEST_CASE("the Chrome trace lies where the request names it") {
  ScriptedDevice device;
  auto request = profile_request();
  const auto path = std::filesystem::temp_directory_path() /
                    ("torchwatch-trace-" + std::to_string(wall_clock_ns()) + ".json");
  request.chrome_trace = path;
  CHECK(device.profile(request).status == RunStatus::ok);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  CHECK(text.find("gemm(float*)") != std::string::npos);
  CHECK(text.find("resnet18 cuda-train") != std::string::npos);
  std::filesystem::remove(path);

  request.chrome_trace = "/no/folder/trace.json";
  const auto failed = device.profile(request);
  CHECK(failed.status == RunStatus::failed);
  CHECK(failed.reason.starts_with("chrome_trace: cannot create /no/folder/trace.json"));
}

TEST_CASE("a CPU has no device to record, other passes record nothing") {
  auto request = profile_request();
  request.benchmark.configuration.device = Device::cpu;
  const auto recorder = begin_recording(request);
  REQUIRE_FALSE(recorder.has_value());
  CHECK(recorder.error().message.find("CPU") != std::string::npos);
  CHECK(recorder_facts(recorder).empty());
  request.pass = Pass::timing;
  request.benchmark.configuration.device = Device::cuda;
  const auto none = begin_recording(request);
  REQUIRE(none.has_value());
  CHECK(*none == nullptr);
  CHECK(recorder_facts(none).empty());
}

TEST_CASE("the environment names the CUPTI in use and warns of one that can hang") {
  const ScriptedDevice device;
  const auto version_fact = [&](std::uint32_t version) {
    device.cupti.version = version;
    const auto recorder = begin_recording(profile_request(), {{FAKE_CUDA}, {FAKE_CUPTI}});
    return recorder_facts(recorder).at("build.cupti_version");
  };
  CHECK(version_fact(130001) == "130001");
  CHECK(version_fact(28) == "28, which can hang when a trace ends");
}

TEST_CASE("a profile on a CPU traces the operators of one iteration where that is asked for") {
  auto request = profile_request();
  request.benchmark = {"soft_actor_critic", {Device::cpu, Mode::train}, {}};
  const auto path = std::filesystem::temp_directory_path() /
                    ("torchwatch-operators-" + std::to_string(wall_clock_ns()) + ".json");
  request.chrome_trace = path;
  RunResult result;
  const auto* const entry = models::find("soft_actor_critic");
  REQUIRE(entry != nullptr);
  trace_operators(*models::build(entry->definition, setup_of(request)), request, result);
  CHECK(result.status == RunStatus::ok);

  std::ifstream file(path);
  const auto events = nlohmann::json::parse(file).at("traceEvents");
  std::filesystem::remove(path);
  std::map<std::string, nlohmann::json> by_name;
  for (const auto& event : events) by_name[event.at("name")] = event;
  REQUIRE(by_name.contains("soft_actor_critic cpu-train"));
  CHECK(by_name.contains("aten::addmm"));
  const double whole = by_name["soft_actor_critic cpu-train"].at("dur");
  for (const auto& event : events) {
    if (event.at("ph") != "X") continue;
    CHECK(event.at("ts").get<double>() >= 0);
    CHECK(event.at("ts").get<double>() + event.at("dur").get<double>() <= whole + 1e-3);
  }
}

TEST_CASE("a trace of more calls than are kept says how many were left out") {
  const OperatorCalls calls{
      .calls = {{"aten::mm", 71, 1'000, 3'000}, {"aten::mm", 99, 2'000, 4'000}},
      .left_out = 3,
      .begin_ns = 500,
      .end_ns = 9'500};
  const auto trace = nlohmann::json::parse(chrome_trace(calls, "work"));
  CHECK(trace.at("otherData").at("left_out") == "3 calls, the last ones");
  const auto& last = trace.at("traceEvents").back();
  CHECK(last.at("tid") == 2);
  CHECK(last.at("ts") == 1.5);
  CHECK(last.at("dur") == 2.0);
}
