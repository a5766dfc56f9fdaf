#include "torchwatch/protocol/request.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace torchwatch;
using namespace torchwatch::protocol;
using nlohmann::json;

namespace {

json minimal() {
  return {{"schema", 1},
          {"attempt", "a1"},
          {"workload", "resnet18"},
          {"device", "cpu"},
          {"mode", "train"}};
}

std::string refusal(const json& request) {
  const auto parsed = parse_request(request.dump());
  REQUIRE_FALSE(parsed.has_value());
  REQUIRE(parsed.error().code == ErrorCode::invalid);
  return parsed.error().message;
}

}  // namespace

TEST_CASE("a request needs only schema, attempt, workload, device and mode") {
  const auto request = parse_request(minimal().dump()).value();
  REQUIRE(to_string(request.benchmark) == "resnet18 cpu-train");
  REQUIRE(request.pass == Pass::timing);
  REQUIRE(request.warmup == 5);
  REQUIRE(request.iterations == 30);
}

TEST_CASE("a request is read back as it was written") {
  Request request;
  request.attempt = "comparison-7/3";
  request.benchmark = {
      "dlrm", {Device::cuda, Mode::infer}, {Precision::bf16, Backend::eager, 8, 2}};
  request.pass = Pass::memory;
  request.preset = Preset::paper;
  request.warmup = 2;
  request.iterations = 7;
  request.iterations_min = 3;
  request.enough_ns = 1;
  request.batch_below_ns = 0;
  request.leak_iterations = 0;
  request.seed = 18'446'744'073'709'551'615ULL;
  request.pin_to_core = false;
  request.fixed_heap = false;
  request.limits = {1000, 1 << 30};
  const auto text = to_json(request);
  const auto again = parse_request(text).value();
  REQUIRE(to_json(again) == text);
  REQUIRE(again.benchmark == request.benchmark);
  REQUIRE(again.seed == request.seed);
  REQUIRE(again.limits.memory_bytes == 1 << 30);
}

TEST_CASE("outputs are asked of the memory pass alone") {
  auto request = minimal();
  request["outputs"] = true;
  CHECK(refusal(request) == "member \"outputs\" is for the pass \"memory\" alone");
  request["pass"] = "memory";
  const auto read = parse_request(request.dump()).value();
  CHECK(read.outputs);
  CHECK(parse_request(to_json(read)).value().outputs);
  request.erase("outputs");
  CHECK(to_json(parse_request(request.dump()).value()).find("outputs") == std::string::npos);
}

TEST_CASE("operators are asked of the profile pass on a CPU alone, which may be interleaved then") {
  auto request = minimal();
  request["operators"] = true;
  CHECK(refusal(request) == "member \"operators\" is for the pass \"profile\" alone");
  request["pass"] = "profile";
  request["interleave"] = {{"own", "/a"}, {"other", "/b"}, {"begins", true}};
  const auto read = parse_request(request.dump()).value();
  CHECK(read.operators);
  CHECK(read.interleave);
  CHECK(parse_request(to_json(read)).value().operators);
  request["device"] = "cuda";
  CHECK(refusal(request) == "member \"operators\" is for the device \"cpu\" alone");
  request.erase("operators");
  CHECK_THAT(refusal(request), Catch::Contains("\"interleave\" is for"));
  request.erase("interleave");
  CHECK(to_json(parse_request(request.dump()).value()).find("operators") == std::string::npos);
}

TEST_CASE("one operator is timed, and nothing else of it is measured") {
  auto request = minimal();
  request["operator"] = "aten::gelu";
  const auto read = parse_request(request.dump()).value();
  CHECK(read.benchmark.variant.operator_name == "aten::gelu");
  CHECK(parse_request(to_json(read)).value().benchmark == read.benchmark);
  request["pass"] = "memory";
  CHECK(refusal(request) == "member \"operator\" is for the pass \"timing\" alone");
  request["pass"] = "timing";
  request["operator"] = "gelu";
  CHECK_THAT(refusal(request), Catch::Contains("member \"operator\"") &&
                                   Catch::Contains("must be a name as LibTorch has it"));
  request.erase("operator");
  CHECK(to_json(parse_request(request.dump()).value()).find("operator") == std::string::npos);
}

TEST_CASE("a batch may be as large as the largest original's") {
  auto request = minimal();
  request["batch"] = 1 << 20;
  REQUIRE(parse_request(request.dump()).value().benchmark.variant.batch == 1 << 20);
  request["batch"] = 1 << 25;
  REQUIRE(refusal(request).find("member \"batch\" must be a whole number from 0") == 0);
}

TEST_CASE("the pipes of an interleaved request are read back, and are for timing alone") {
  auto request = parse_request(minimal().dump()).value();
  REQUIRE_FALSE(request.interleave);
  request.interleave = Interleave{"/scratch/a/pipe", "/scratch/b/pipe", true};
  const auto again = parse_request(to_json(request)).value();
  REQUIRE(again.interleave);
  REQUIRE(again.interleave->own == "/scratch/a/pipe");
  REQUIRE(again.interleave->other == "/scratch/b/pipe");
  REQUIRE(again.interleave->begins);
  // A member that runners alone know.
  REQUIRE(to_json(request).find("agrees") == std::string::npos);
  request.interleave->agrees = true;
  REQUIRE(parse_request(to_json(request)).value().interleave->agrees);

  request.pass = Pass::memory;
  REQUIRE(parse_request(to_json(request))
              .error()
              .message.find("\"interleave\" is for the pass \"timing\", and for") !=
          std::string::npos);
  auto without = minimal();
  without["interleave"] = {{"own", "a"}};
  REQUIRE(refusal(without) == "member \"interleave.other\" is missing");
}

TEST_CASE(
    "a planted slowdown is read back, is for timing alone, and is unsaid where there is none") {
  auto request = parse_request(minimal().dump()).value();
  CHECK(to_json(request).find("planted_slowdown") == std::string::npos);
  request.planted_slowdown = 0.14;
  CHECK(parse_request(to_json(request)).value().planted_slowdown == 0.14);
  request.pass = Pass::memory;
  CHECK(parse_request(to_json(request)).error().message ==
        "member \"planted_slowdown\" is for the pass \"timing\" alone");
  auto wrong = minimal();
  for (const json& value : {json(-0.1), json(11), json("0.14")}) {
    wrong["planted_slowdown"] = value;
    CHECK(refusal(wrong) == "member \"planted_slowdown\" must be a number from 0.0 to 10.0");
  }
}

TEST_CASE("a member that is missing is named") {
  for (const auto* name : {"schema", "attempt", "workload", "device", "mode"}) {
    auto request = minimal();
    request.erase(name);
    REQUIRE(refusal(request) == "member \"" + std::string(name) + "\" is missing");
  }
}

TEST_CASE("an unknown member is refused and the known ones are listed") {
  auto request = minimal();
  request["warm_up"] = 3;
  const auto message = refusal(request);
  REQUIRE(message.find("\"warm_up\" is not known") != std::string::npos);
  REQUIRE(message.find("warmup") != std::string::npos);
  request = minimal();
  request["limits"] = {{"time", 3}};
  REQUIRE(refusal(request).find("\"limits.time\" is not known") != std::string::npos);
}

TEST_CASE("a member of the wrong type or out of range is named with what is allowed") {
  const auto with = [](const char* name, const json& value) {
    auto request = minimal();
    request[name] = value;
    return refusal(request);
  };
  REQUIRE(with("iterations", "30") ==
          "member \"iterations\" must be a whole number from 1 to 1000000");
  REQUIRE(with("iterations", 0).find("from 1") != std::string::npos);
  REQUIRE(with("warmup", -1).find("warmup") != std::string::npos);
  REQUIRE(with("warmup", 1.5).find("warmup") != std::string::npos);
  REQUIRE(with("enough_ns", 18'446'744'073'709'551'615ULL).find("enough_ns") != std::string::npos);
  REQUIRE(with("device", "tpu") == "device: device \"tpu\" is not known; allowed: cpu, cuda");
  REQUIRE(with("device", 1) == "member \"device\" must be a string");
  REQUIRE(with("pin_to_core", 1) == "member \"pin_to_core\" must be true or false");
  REQUIRE(with("seed", -1).find("seed") != std::string::npos);
  REQUIRE(with("limits", json::array()) == "member \"limits\" must be an object");
  REQUIRE(with("schema", 2).find("schema") != std::string::npos);
  REQUIRE(with("leak_iterations", 19).find("two blocks") != std::string::npos);
  REQUIRE(with("iterations_min", 31).find("iterations_min") != std::string::npos);
}

TEST_CASE("a Chrome trace is the profile pass's") {
  auto request = minimal();
  request["pass"] = "profile";
  request["chrome_trace"] = "day.json";
  const auto parsed = parse_request(request.dump()).value();
  REQUIRE(parsed.chrome_trace == "day.json");
  REQUIRE(parse_request(to_json(parsed)).value().chrome_trace == "day.json");
  request["pass"] = "timing";
  REQUIRE(refusal(request) == "member \"chrome_trace\" is for the pass \"profile\" alone");
}

TEST_CASE("fewer iterations than the usual minimum are a valid request") {
  auto request = minimal();
  request["iterations"] = 3;
  REQUIRE(parse_request(request.dump()).value().iterations_min == 3);
}

TEST_CASE("what is not JSON is corrupt, with the place") {
  const auto text = minimal().dump();
  const auto error = parse_request(text.substr(0, text.size() / 2)).error();
  REQUIRE(error.code == ErrorCode::corrupt);
  REQUIRE(error.message.find("column") != std::string::npos);
  REQUIRE(parse_request("").error().code == ErrorCode::corrupt);
  REQUIRE(parse_request("[]").error().code == ErrorCode::corrupt);
  REQUIRE(parse_request(std::string(kRequestBytesMax + 1, ' ')).error().code == ErrorCode::corrupt);
}

TEST_CASE("the metrics that an external workload must state are read back, and left out without") {
  Request request;
  request.attempt = "a1";
  request.benchmark.workload = "mine";
  CHECK_FALSE(json::parse(to_json(request)).contains("metrics"));
  request.metrics = {Metric::time};
  CHECK(parse_request(to_json(request)).value().metrics == request.metrics);
}

TEST_CASE("metrics that are none, or of another pass, are refused by their name") {
  auto request = minimal();
  request["metrics"] = {"speed"};
  CHECK(refusal(request).find("speed") != std::string::npos);
  request["metrics"] = {"cpu_peak"};
  CHECK(refusal(request).find("names cpu_peak, which another pass states") != std::string::npos);
  request["metrics"] = "time";
  CHECK(refusal(request).find("list of at most 32 strings") != std::string::npos);
}
