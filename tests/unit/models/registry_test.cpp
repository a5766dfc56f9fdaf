#include "torchwatch/models/registry.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace torchwatch::models;

namespace {

int param_tensors(const Definition& definition, Preset preset) {
  const Setup setup{.mode = definition.refusals.infer.empty() ? Mode::infer : Mode::train,
                    .preset = preset,
                    .batch = definition.batch_rule == BatchRule::fixed ? 0 : 1};
  return build(definition, setup)->census().param_tensors;
}

/// A line of suite.json.
nlohmann::json line_of(const Entry& entry) {
  const auto& definition = entry.definition;
  auto refusals = nlohmann::json::object();
  const auto add = [&](const char* name, std::string_view reason) {
    if (!reason.empty()) refusals[name] = reason;
  };
  add("train", definition.refusals.train);
  add("infer", definition.refusals.infer);
  add("cuda_infer", definition.refusals.cuda_infer);
  return {{"name", entry.name},
          {"domain", definition.domain},
          {"task", definition.task},
          {"train_batch", definition.paper.train},
          {"eval_batch", definition.paper.infer},
          {"refusals", refusals}};
}

}  // namespace

// After a change of a definition: TORCHWATCH_ACCEPT_GOLDEN=1 rewrites the file.
TEST_CASE("suite.json says of every workload what its definition says") {
  std::string expected = "[\n";
  for (const auto& entry : registry()) {
    expected += (expected.size() > 2 ? ",\n" : "") + line_of(entry).dump();
  }
  expected += "\n]\n";
  const std::string path = TORCHWATCH_SOURCE_DIR "/models/suite.json";
  if (std::getenv("TORCHWATCH_ACCEPT_GOLDEN") != nullptr) std::ofstream(path) << expected;
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  CHECK(nlohmann::json::parse(text) == nlohmann::json::parse(expected));
}

TEST_CASE("a workload's task says more than its domain") {
  for (const auto& entry : registry()) {
    INFO(entry.name);
    CHECK(entry.definition.task != entry.definition.domain);
    CHECK(entry.definition.task != "other");
  }
}

// At the paper's sizes each workload has a test of its own: tests/integration/models.
TEST_CASE("small cuts sizes, never layers that own parameters") {
  CHECK(param_tensors(find("resnet18")->definition, Preset::small) == 62);
  CHECK(param_tensors(find("hf_DistilBert")->definition, Preset::small) == 105);
  CHECK(param_tensors(find("soft_actor_critic")->definition, Preset::small) == 18);
}

TEST_CASE("a batch size that is part of the model cannot be changed") {
  const auto& definition = find("soft_actor_critic")->definition;
  REQUIRE(unsupported_reason(definition, {.batch = 256}).empty());
  REQUIRE(unsupported_reason(definition, {.batch = 8}).find("256") != std::string::npos);
  REQUIRE(unsupported_reason(find("resnet18")->definition, {.batch = 8}).empty());
}

TEST_CASE("a batch size asked for is the one that is used") {
  const auto workload = build(find("resnet18")->definition, {.mode = Mode::infer, .batch = 3});
  REQUIRE(workload->outputs().front().shape == std::vector<std::int64_t>{3, 1000});
}

TEST_CASE("a workload that trains on whole groups says so") {
  const auto& definition = find("tts_angular")->definition;
  REQUIRE(unsupported_reason(definition, {.batch = 16}).empty());
  REQUIRE(unsupported_reason(definition, {.batch = 12}).find("multiples of a batch of 8") !=
          std::string::npos);
  REQUIRE(unsupported_reason(definition, {.mode = Mode::infer, .batch = 12}).empty());
  const auto& remixer = find("demucs")->definition;
  REQUIRE(unsupported_reason(remixer, {.preset = Preset::paper, .batch = 8}).empty());
  REQUIRE(unsupported_reason(remixer, {.preset = Preset::paper, .batch = 6})
              .find("multiples of a batch of 4") != std::string::npos);
}

TEST_CASE("a mode that the original refuses is refused with its reason") {
  Definition definition;
  definition.refusals = {.train = "trains nothing", .cuda_infer = "CPU only"};
  CHECK(unsupported_reason(definition, {.mode = Mode::train}) == "trains nothing");
  CHECK(unsupported_reason(definition, {.mode = Mode::infer}).empty());
  CHECK(unsupported_reason(definition, {.mode = Mode::infer, .device = Device::cuda}) ==
        "CPU only");
}

TEST_CASE("a workload that is not compiled in is not found") {
  REQUIRE(find("resnet") == nullptr);
}
