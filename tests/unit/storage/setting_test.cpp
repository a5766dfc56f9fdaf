#include "torchwatch/documents/setting.hpp"

#include <catch2/catch.hpp>

#include "torchwatch/documents/study.hpp"

using namespace torchwatch;
using namespace torchwatch::comparison;
using Catch::Contains;

namespace {

Setting read(const std::string& text) {
  auto setting = parse_setting(text);
  if (!setting) FAIL(setting.error().text());
  return *setting;
}

std::string refusal(const std::string& text) {
  const auto setting = parse_setting(text);
  REQUIRE_FALSE(setting);
  CHECK(setting.error().code == ErrorCode::invalid);
  return setting.error().text();
}

}  // namespace

TEST_CASE("a setting is read and written in the same words, in one order") {
  for (const std::string text :
       {"default", "threads=2", "precision=bf16,batch=8,threads=2", "backend=eager", "heap=glibc",
        "heap=fixed", "denormals=flushed", "denormals=kept", "gradients=none", "gradients=zeroed",
        "workload=dlrm", "MALLOC_PERTURB_=1",
        "workload=dlrm,threads=2,heap=glibc,OMP_SCHEDULE=static\\,4",
        "MALLOC_TOP_PAD_=,OMP_DYNAMIC=a=b"}) {
    CHECK(to_string(read(text)) == text);
  }
  CHECK(to_string(read("OMP_SCHEDULE=static\\,4,threads=2,bf16")) ==
        "precision=bf16,threads=2,OMP_SCHEDULE=static\\,4");
  CHECK(read("OMP_SCHEDULE=static\\,4").environment.at("OMP_SCHEDULE") == "static,4");
  CHECK(to_string(read("eager")) == "backend=eager");
  CHECK(to_string(read("bf16,torchscript")) == "precision=bf16,backend=torchscript");
}

TEST_CASE("a setting changes what it names of a benchmark, and nothing else") {
  const Benchmark benchmark{"resnet18", {Device::cpu, Mode::train}, {.batch = 4, .threads = 1}};
  CHECK(applied(read("default"), benchmark) == benchmark);
  CHECK(applied(read("threads=2,workload=dlrm"), benchmark) ==
        Benchmark{"dlrm", {Device::cpu, Mode::train}, {.batch = 4, .threads = 2}});
  const Benchmark half{"resnet18", {}, {.precision = Precision::bf16}};
  CHECK(applied(read("fp32"), half).variant.precision == Precision::fp32);
}

TEST_CASE("a setting that cannot be read is named, with what is allowed") {
  CHECK_THAT(refusal(""), Contains("is empty") && Contains("write default"));
  CHECK_THAT(refusal("threds=2"), Contains("unknown setting \"threds=2\"") &&
                                      Contains("did you mean threads?") && Contains("NAME=VALUE"));
  CHECK_THAT(refusal("quick"), Contains("unknown setting \"quick\""));
  CHECK_THAT(refusal("threads=2,,heap=glibc"), Contains("a part of the setting is empty"));
  CHECK_THAT(refusal("threads=none"),
             Contains("threads \"none\" must be a whole number from 1 to 4096"));
  CHECK_THAT(refusal("batch=99999999999999"), Contains("a whole number from 1 to 16777216"));
  CHECK_THAT(refusal("threads=0"), Contains("threads \"0\" must be"));
  CHECK_THAT(refusal("batch=-1"), Contains("batch \"-1\" must be"));
  CHECK_THAT(refusal("precision=fp8"), Contains("fp8"));
  CHECK_THAT(refusal("heap=own"), Contains("must be heap=glibc or heap=fixed"));
  CHECK_THAT(refusal("denormals=no"), Contains("must be denormals=kept or denormals=flushed"));
  CHECK_THAT(refusal("gradients=1"), Contains("must be gradients=none or gradients=zeroed"));
  CHECK_THAT(refusal("heap"), Contains("must be heap=glibc or heap=fixed"));
  CHECK_THAT(refusal("threads=1,"), Contains("a part of the setting is empty"));
  CHECK_THAT(refusal("workload="), Contains("names no workload"));
  CHECK_THAT(refusal("threads=1,threads=2"), Contains("threads is said twice"));
  CHECK_THAT(refusal("bf16,precision=fp16"), Contains("precision is said twice"));
  CHECK_THAT(refusal("workload=a,workload=b"), Contains("workload is said twice"));
  CHECK_THAT(refusal("OMP_DYNAMIC=1,OMP_DYNAMIC=1"), Contains("OMP_DYNAMIC is said twice"));
  CHECK_THAT(refusal("OMP_DYNAMIC=a\nb"), Contains("control character"));
  CHECK_THAT(refusal("OMP_B=y,OMP_A=x\\"), Contains("the value of OMP_A ends in a backslash"));
  CHECK_THAT(refusal("OMP_DYNAMIC=" + std::string(2000, 'x')), Contains("more than 1000"));
}

TEST_CASE("a variable that nobody could see afterwards, or that the service sets, is refused") {
  CHECK_THAT(refusal("LD_PRELOAD=/tmp/x.so"),
             Contains("LD_PRELOAD cannot be set") && Contains("must begin with one of OMP_"));
  CHECK_THAT(refusal("PATH=/tmp"), Contains("PATH cannot be set"));
  CHECK_THAT(refusal("OMP_NUM_THREADS=2"), Contains("write threads=N"));
  CHECK_THAT(refusal("MALLOC_ARENA_MAX=1"), Contains("one heap"));
  CHECK_THAT(refusal("CUDA_VISIBLE_DEVICES=1"), Contains("the machine's owner"));
  for (const std::string name : {"CUDA_INJECTION64_PATH", "OMP_TOOL_LIBRARIES", "TORCH_TRACE",
                                 "MKL_VERBOSE_OUTPUT_FILE", "CUBLAS_LOGDEST_DBG"}) {
    CHECK_THAT(refusal(name + "=/tmp/x"),
               Contains(name + " cannot be set: its name is one of code that is loaded"));
  }
}

TEST_CASE("two settings that say the same are refused") {
  const auto same = parse_sides("threads=2,bf16", "bf16,threads=2");
  REQUIRE_FALSE(same);
  CHECK_THAT(same.error().text(), Contains("both settings are precision=bf16,threads=2"));
  CHECK(parse_sides("default", "threads=2"));
  const std::vector<std::pair<std::string, std::string>> defaults{
      {"heap=fixed", "heap=glibc"},
      {"denormals=kept", "denormals=flushed"},
      {"gradients=none", "gradients=zeroed"}};
  for (const auto& [word, other] : defaults) {
    const auto refused = parse_sides("default", word);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().text(), Contains("default and " + word + " mean the same"));
    CHECK(parse_sides("default", other));
    CHECK(parse_sides(other, word));
  }
}

TEST_CASE("the settings of a request are read whole, and stored in one spelling") {
  const auto read = [](const nlohmann::json& body) { return parse_study(body); };
  CHECK(read({{"candidate", "x"}}).value() == std::nullopt);
  const auto study =
      read({{"settings", {{"baseline", "default"}, {"candidate", "threads=2,bf16"}}}}).value();
  REQUIRE(study);
  CHECK(study->candidate == "precision=bf16,threads=2");
  CHECK(study->name.empty());
  CHECK(in_words(*study) == "precision=bf16,threads=2 against default");
  CHECK(read({{"settings", settings_json(*study)}}).value() == study);
  for (const auto& wrong :
       {nlohmann::json("threads=2"), nlohmann::json(nullptr), nlohmann::json::object(),
        nlohmann::json{{"baseline", "default"}},
        nlohmann::json{{"baseline", "default"}, {"candidate", 2}},
        nlohmann::json{{"baseline", "default"}, {"candidate", "threads=2"}, {"x", 1}}}) {
    const auto refused = read({{"settings", wrong}});
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().text(), Contains("settings must have baseline and candidate"));
  }
}

TEST_CASE("a workload in the place of another one needs a runner, too") {
  const auto sides = parse_sides("default", "workload=dlrm").value();
  CHECK(with_alternatives(sides, {"resnet18"}) == std::vector<std::string>{"resnet18", "dlrm"});
  CHECK(with_alternatives(sides, {"dlrm"}) == std::vector<std::string>{"dlrm"});
}
