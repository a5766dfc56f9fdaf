#include "torchwatch/protocol/result.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "torchwatch/records/statistics.hpp"

using namespace torchwatch;
using namespace torchwatch::protocol;
using nlohmann::json;

namespace {

RunResult timing_result() {
  RunResult result;
  result.attempt = "a1";
  result.samples_ns = {30, 10, 20};
  result.values[Metric::time] = 20;
  result.environment.facts["cpu"] = "model \"X\"";
  result.environment.volatile_facts["minor_faults"] = 7;
  return result;
}

RunResult memory_result() {
  RunResult result;
  result.attempt = "a1";
  result.values = {
      {Metric::cpu_peak, 4096}, {Metric::leak_growth, 64}, {Metric::heap_growth, 2048}};
  result.leak = LeakFigures{64, -8, {1, 2, 3}, {-1, 2048, 4096}};
  result.outputs = {{.name = "logits float32 [4, 10]", .scale = 0.25, .figures = {0.5, -1e-300}},
                    {.name = "loss", .scale = 2, .figures = {2}}};
  return result;
}

RunResult watched_result() {
  RunResult result;
  result.attempt = "a1";
  result.breakdown_reason = "a run on the CPU has no device";
  result.operator_figures = {
      {"aten::mm", {.calls = 3, .self_ns = 5'000, .allocated_bytes = 4096, .kept_bytes = -64}},
      {kOutsideOperators, {.calls = 0, .self_ns = 700}}};
  return result;
}

RunResult counted_result() {
  RunResult result;
  result.attempt = "a1";
  result.flops_per_iteration = 0;  // a workload without products
  result.flops_per_second = 1'979'000'000'000'000;
  return result;
}

ErrorCode code_of(const json& result) {
  const auto parsed = parse_result(result.dump(), "a1");
  REQUIRE_FALSE(parsed.has_value());
  return parsed.error().code;
}

std::string refusal(const char* pointer, const json& value) {
  auto result = json::parse(to_json(timing_result()));
  result[json::json_pointer(pointer)] = value;
  const auto parsed = parse_result(result.dump(), "a1");
  REQUIRE_FALSE(parsed.has_value());
  REQUIRE(parsed.error().code == ErrorCode::invalid);
  return parsed.error().message;
}

}  // namespace

TEST_CASE("a result is read back as it was written") {
  for (const auto& result : {timing_result(), memory_result(), counted_result()}) {
    const auto text = to_json(result);
    REQUIRE(to_json(parse_result(text, "a1").value()) == text);
  }
}

TEST_CASE("outputs that are not finite survive the way through JSON") {
  auto result = memory_result();
  result.outputs[0].figures[1] = std::numeric_limits<double>::infinity();
  result.outputs[1].scale = std::nan("");
  const auto again = parse_result(to_json(result), "a1").value();
  REQUIRE(again.outputs.size() == 2);
  CHECK(again.outputs[0].name == "logits float32 [4, 10]");
  CHECK(again.outputs[0].figures[0] == 0.5);
  CHECK(std::isnan(again.outputs[0].figures[1]));
  CHECK(std::isnan(again.outputs[1].scale));
}

TEST_CASE("outputs of another form are refused, each by its place") {
  CHECK(refusal("/outputs", 1) == "member \"outputs\" must be a list of at most 1024 objects");
  CHECK(refusal("/outputs", json::array({{{"name", "x"}, {"figures", {1}}}})) ==
        "member \"outputs[0].scale\" is missing");
  CHECK(refusal("/outputs", json::array({{{"name", "x"}, {"figures", {"1"}}, {"scale", 1}}})) ==
        "member \"outputs[0].figures\" must be a list of at most 64 numbers, null for what is not "
        "finite");
}

TEST_CASE("what operators take survives the way through JSON") {
  const auto again = parse_result(to_json(watched_result()), "a1").value();
  REQUIRE(again.operator_figures.size() == 2);
  const auto& mm = again.operator_figures.at("aten::mm");
  CHECK(mm.calls == 3);
  CHECK(mm.self_ns == 5'000);
  CHECK(mm.allocated_bytes == 4096);
  CHECK(mm.kept_bytes == -64);
  CHECK(again.operator_figures.at(kOutsideOperators).self_ns == 700);
}

TEST_CASE("figures of operators that cannot be are refused, and so are those nobody asked for") {
  auto figures = json::parse(to_json(watched_result())).at("operator_figures");
  figures[1]["name"] = figures[0]["name"];
  CHECK(refusal("/operator_figures", figures) ==
        "member \"operator_figures\" names (outside operators) twice");
  figures[1]["name"] = "";
  CHECK(refusal("/operator_figures", figures) ==
        "member \"operator_figures\" has an operator without a name");
  figures[1] = {{"name", "aten::mm"}, {"calls", 1}, {"self_ns", -1}};
  CHECK_THAT(refusal("/operator_figures", figures),
             Catch::Contains("\"operator_figures[1].self_ns\""));
  Request request;
  request.attempt = "a1";
  request.pass = Pass::profile;
  request.operators = true;
  auto result = watched_result();
  REQUIRE(check_answers(request, result));
  result.operator_figures.clear();
  CHECK_THAT(check_answers(request, result).error().message,
             Catch::Contains("must have operator_figures: they were asked for"));
  request.operators = false;
  REQUIRE(check_answers(request, result));
  CHECK_THAT(check_answers(request, watched_result()).error().message,
             Catch::Contains("must not have operator_figures"));
}

TEST_CASE("a run that timed one operator states all of them, and no other timing run does") {
  Request request;
  request.attempt = "a1";
  request.benchmark.variant.operator_name = "aten::mm";
  auto result = watched_result();
  result.samples_ns = {5'000};
  result.values = {{Metric::time, 5'000}};
  CHECK(check_answers(request, result));
  auto without = result;
  without.operator_figures.clear();
  CHECK_THAT(check_answers(request, without).error().message,
             Catch::Contains("must have operator_figures: an operator was asked for"));
  request.benchmark.variant.operator_name.clear();
  CHECK(check_answers(request, without));
  CHECK_THAT(check_answers(request, result).error().message,
             Catch::Contains("must not have operator_figures"));
}

TEST_CASE(
    "a workload may have no outputs to compare, and how far they are apart is not the runner's "
    "say") {
  Request request;
  request.attempt = "a1";
  request.pass = Pass::memory;
  request.outputs = true;
  auto result = memory_result();
  REQUIRE(check_answers(request, result));
  request.outputs = false;
  CHECK(check_answers(request, result).error().message ==
        "an ok result of the memory pass must not have outputs: they were not asked for");
  request.outputs = true;
  result.outputs.clear();
  REQUIRE(check_answers(request, result));
  result.values[Metric::output_difference] = 0;
  CHECK(
      check_answers(request, result).error().message ==
      "an ok result of the memory pass must not state output_difference: the service computes it");
}

TEST_CASE(
    "a workload of one's own states its outputs where they are asked for, and no difference") {
  Request request;
  request.attempt = "a1";
  request.pass = Pass::memory;
  request.metrics = {Metric::output_difference};
  request.outputs = true;
  request.leak_iterations = 0;
  auto result = memory_result();
  result.values.clear();
  result.leak.reset();
  REQUIRE(check_answers(request, result));
  REQUIRE(parse_result(to_json(result), "a1"));
  result.values[Metric::output_difference] = 0;
  CHECK_THAT(check_answers(request, result).error().message,
             Catch::Contains("must not state output_difference"));
  result.values.clear();
  result.outputs.clear();
  CHECK(check_answers(request, result).error().message ==
        "an ok result of the memory pass must state outputs, which were asked for, or a reason");
  result.reason = "its outputs are sparse";
  REQUIRE(check_answers(request, result));
  REQUIRE(parse_result(to_json(result), "a1"));
}

TEST_CASE("any samples survive the way through JSON") {
  REQUIRE(rc::check([](const std::vector<std::uint32_t>& drawn, const std::string& fact) {
    auto result = timing_result();
    result.samples_ns = {1};
    for (const auto each : drawn) result.samples_ns.push_back(std::int64_t{each} + 1);
    result.values[Metric::time] = median(result.samples_ns);
    result.environment.facts["text"] = fact;
    const auto again = parse_result(to_json(result), "a1");
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->samples_ns == result.samples_ns);
  }));
}

TEST_CASE("a result cut off anywhere is corrupt") {
  const auto text = to_json(timing_result());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    REQUIRE(parse_result(text.substr(0, length), "a1").error().code == ErrorCode::corrupt);
  }
}

TEST_CASE("another attempt's result is a conflict, also when the rest of it is nonsense") {
  const auto error = parse_result(to_json(timing_result()), "a2").error();
  REQUIRE(error.code == ErrorCode::conflict);
  REQUIRE(error.message == "result of another attempt: \"a1\" instead of \"a2\"");
}

TEST_CASE("a deeply nested result is refused and costs nothing") {
  const std::string open(1'000'000, '[');
  REQUIRE(parse_result("{\"schema\":" + open, "a1").error().code == ErrorCode::corrupt);
  const std::string close(1'000'000, ']');
  const auto error = parse_result("{\"schema\":" + open + close + "}", "a1").error();
  REQUIRE(error.message.find("nested deeper") != std::string::npos);
}

TEST_CASE("a member that an object has twice is refused: readers differ on which one counts") {
  auto text = to_json(timing_result());
  text.insert(1, "\"attempt\":\"other\",");
  const auto error = parse_result(text, "a1").error();
  CHECK(error.code == ErrorCode::corrupt);
  CHECK(error.message == "member \"attempt\" is there twice");
  const auto nested = parse_result(R"({"values":{"time":1,"time":2}})", "a1").error();
  CHECK(nested.message == "member \"time\" is there twice");
  const auto apart = parse_result(R"({"values":{"time":1},"time":{"values":{}}})", "a1").error();
  CHECK(apart.message.find("twice") == std::string::npos);
}

TEST_CASE("a result larger than the limit is not parsed") {
  const auto error = parse_result(std::string(kResultBytesMax + 1, ' '), "a1").error();
  REQUIRE(error.code == ErrorCode::corrupt);
  REQUIRE(error.message.find("bytes") != std::string::npos);
}

TEST_CASE("a member out of range is named") {
  REQUIRE(refusal("/samples_ns/1", -5) ==
          "member \"samples_ns[1]\" must be a whole number from 1 to 86400000000000");
  REQUIRE(refusal("/samples_ns/0", 0).find("samples_ns[0]") != std::string::npos);
  REQUIRE(refusal("/samples_ns/0", 1e9).find("samples_ns[0]") != std::string::npos);
  REQUIRE(refusal("/samples_ns/0", "1").find("samples_ns[0]") != std::string::npos);
  REQUIRE(refusal("/samples_ns", "many").find("samples_ns") != std::string::npos);
  REQUIRE(refusal("/values/time", -1).find("values.time") != std::string::npos);
  REQUIRE(refusal("/values/speed", 1).find("metric \"speed\" is not known") != std::string::npos);
  REQUIRE(refusal("/status", "fine").find("status") != std::string::npos);
  REQUIRE(refusal("/iterations_per_sample", 0).find("iterations_per_sample") != std::string::npos);
  REQUIRE(refusal("/environment/facts/cpu", 3).find("environment.facts.cpu") != std::string::npos);
  REQUIRE(refusal("/schema", 2).find("schema") != std::string::npos);
  REQUIRE(refusal("/breakdown", {{"active_ns", -1}}).find("breakdown.active_ns") !=
          std::string::npos);
}

TEST_CASE("what stands beside a time is positive and in range, or missing") {
  auto result = timing_result();
  result.values[Metric::first_iteration] = 90;
  result.values[Metric::throughput] = 200'000'000'000'000'000;  // 4 items in 20 ns
  const auto again = parse_result(to_json(result), "a1");
  REQUIRE(again);
  CHECK(again->values == result.values);
  for (const auto* pointer : {"/values/first_iteration", "/values/throughput"}) {
    for (const auto& value :
         {json(0), json(-1), json(1.5), json("fast"), json(), json(INT64_MAX)}) {
      CHECK(refusal(pointer, value).find("values") != std::string::npos);
    }
  }
}

TEST_CASE("a value that is not the median of its samples is refused") {
  REQUIRE(refusal("/values/time", 21).find("must be the median of its samples, 20") !=
          std::string::npos);
  REQUIRE(refusal("/values", {{"cpu_peak", 1}}).find("values.time") != std::string::npos);
  REQUIRE(refusal("/samples_ns", json::array()).find("values.time") != std::string::npos);
}

TEST_CASE("an ok result without any figure and a failed one without reason are refused") {
  REQUIRE(code_of({{"schema", 1}, {"attempt", "a1"}, {"status", "ok"}}) == ErrorCode::invalid);
  REQUIRE(code_of({{"schema", 1}, {"attempt", "a1"}, {"status", "failed"}}) == ErrorCode::invalid);
}

TEST_CASE("a failed result is a result") {
  RunResult result;
  result.attempt = "a1";
  result.status = RunStatus::failed;
  result.reason = "the workload threw: \xff bad bytes";
  const auto again = parse_result(to_json(result), "a1").value();
  REQUIRE(again.status == RunStatus::failed);
  REQUIRE(again.reason.find("the workload threw") == 0);
}

TEST_CASE("an ok result must answer what its pass was asked") {
  Request request;
  request.attempt = "a1";
  REQUIRE(check_answers(request, timing_result()).has_value());
  REQUIRE_FALSE(check_answers(request, memory_result()).has_value());
  request.iterations = 2;
  REQUIRE_FALSE(check_answers(request, timing_result()).has_value());
  request.pass = Pass::memory;
  request.outputs = true;
  REQUIRE(check_answers(request, memory_result()).has_value());
  REQUIRE_FALSE(check_answers(request, timing_result()).has_value());
  auto lying = memory_result();
  lying.values[Metric::leak_growth] = 0;
  REQUIRE_FALSE(check_answers(request, lying).has_value());
  lying = memory_result();
  lying.values.erase(Metric::heap_growth);
  REQUIRE_FALSE(check_answers(request, lying).has_value());
  request.attempt = "a2";
  REQUIRE(check_answers(request, memory_result()).error().code == ErrorCode::conflict);
}

TEST_CASE("an ok result of the flops or the peak pass must have its figure") {
  Request request;
  request.attempt = "a1";
  for (const auto pass : {Pass::flops, Pass::peak}) {
    request.pass = pass;
    CHECK(check_answers(request, counted_result()).has_value());
    CHECK_FALSE(check_answers(request, timing_result()).has_value());
  }
}

TEST_CASE(
    "an external workload must state what it was asked for, and nothing else than what stands "
    "beside time") {
  Request request;
  request.attempt = "a1";
  request.metrics = {Metric::time};
  request.batch_below_ns = 0;
  CHECK(check_answers(request, timing_result()).has_value());
  auto with_more = timing_result();
  with_more.values[Metric::first_iteration] = 90;
  with_more.values[Metric::throughput] = 50'000'000'000;
  CHECK(check_answers(request, with_more).has_value());
  request.metrics = {Metric::time, Metric::device_time};
  CHECK(check_answers(request, timing_result()).error().message.find("must state device_time") !=
        std::string::npos);
  request.pass = Pass::memory;
  request.metrics = {Metric::cpu_peak_resident};
  RunResult memory;
  memory.attempt = "a1";
  memory.values = {{Metric::cpu_peak_resident, 4096}};
  CHECK(check_answers(request, memory).has_value());
  memory.values[Metric::first_iteration] = 90;
  CHECK(check_answers(request, memory).error().message.find("must not state first_iteration") !=
        std::string::npos);
  memory.values.erase(Metric::first_iteration);
  memory.values[Metric::cpu_peak] = 4096;
  CHECK(check_answers(request, memory).error().message.find("must not state cpu_peak") !=
        std::string::npos);
}

TEST_CASE("samples of an external workload that are too short are in another unit") {
  Request request;
  request.attempt = "a1";
  request.metrics = {Metric::time};
  RunResult result;
  result.attempt = "a1";
  result.samples_ns = {2'000};
  result.values = {{Metric::time, 2'000}};
  const auto refused = check_answers(request, result);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("state nanoseconds") != std::string::npos);
  result.iterations_per_sample = 512;
  CHECK(check_answers(request, result).has_value());
}
