#include <algorithm>
#include <catch2/catch.hpp>

#include "torchwatch/models/registry.hpp"

using namespace torchwatch::models;

namespace {

/// Counted by building the original Python classes of pytorch/benchmark 73871abc with its defaults
/// (torchvision 0.28, transformers 4.27.4 where those define the network).
struct Original {
  const char* name;
  std::int64_t params_trainable;
  int param_tensors;
  std::int64_t buffers;
  std::vector<std::int64_t> output;  ///< -1 stands for the batch
  int train_batch;
  int eval_batch;
};

const Original kOriginals[] = {
    {"resnet18", 11'689'512, 62, 9'620, {-1, 1000}, 16, 8},
    {"hf_DistilBert", 66'985'530, 105, 512, {-1, 512, 30'522}, 8, 1},
    {"nvidia_deeprecommender", 204'475'711, 12, 0, {-1, 197'951}, 256, 256},
    {"dlrm", 514'499'137, 20, 0, {-1, 1}, 2048, 2048},
    {"soft_actor_critic", 3'167'236, 18, 0, {1}, 256, 256},
    {"tts_angular", 9'381'888, 15, 0, {-1, 256}, 64, 64},
};

void check(const char* name) {
  const auto* original =
      std::find_if(std::begin(kOriginals), std::end(kOriginals),
                   [&](const auto& each) { return each.name == std::string(name); });
  const auto* entry = find(name);
  REQUIRE(entry != nullptr);
  const auto& definition = entry->definition;
  REQUIRE(definition.paper.train == original->train_batch);
  REQUIRE(definition.paper.infer == original->eval_batch);

  const int batch = definition.batch_rule == BatchRule::fixed ? 0 : 2;
  const auto workload =
      build(definition, {.mode = Mode::infer, .preset = Preset::paper, .batch = batch});
  const auto census = workload->census();
  REQUIRE(census.params_trainable == original->params_trainable);
  REQUIRE(census.params_all == original->params_trainable);
  REQUIRE(census.param_tensors == original->param_tensors);
  REQUIRE(census.buffers == original->buffers);

  auto shape = original->output;
  if (shape.front() == -1) shape.front() = batch;
  const auto outputs = workload->outputs();
  REQUIRE(outputs.size() == 1);
  REQUIRE(outputs.front().shape == shape);
  REQUIRE(outputs.front().type == "float32");
}

}  // namespace

// One case each, so that each is built in a process of its own: the largest needs 2 GB.
TEST_CASE("resnet18 at paper size is the original by its counts") {
  check("resnet18");
}
TEST_CASE("hf_DistilBert at paper size is the original by its counts") {
  check("hf_DistilBert");
}
TEST_CASE("nvidia_deeprecommender at paper size is the original by its counts") {
  check("nvidia_deeprecommender");
}
TEST_CASE("dlrm at paper size is the original by its counts") {
  check("dlrm");
}
TEST_CASE("soft_actor_critic at paper size is the original by its counts") {
  check("soft_actor_critic");
}
TEST_CASE("tts_angular at paper size is the original by its counts") {
  check("tts_angular");
}

TEST_CASE("a small workload has as many parameter tensors as the original") {
  for (const auto& original : kOriginals) {
    INFO(original.name);
    const auto workload = build(find(original.name)->definition, {.mode = Mode::infer});
    REQUIRE(workload->census().param_tensors == original.param_tensors);
  }
}

TEST_CASE("a batch size that is part of the model cannot be changed") {
  const auto& definition = find("soft_actor_critic")->definition;
  REQUIRE(unsupported_reason(definition, {.batch = 256}).empty());
  REQUIRE(unsupported_reason(definition, {.batch = 8}).find("256") != std::string::npos);
  REQUIRE(unsupported_reason(find("resnet18")->definition, {.batch = 8}).empty());
}

TEST_CASE("a workload that trains on whole groups says so") {
  const auto& definition = find("tts_angular")->definition;
  REQUIRE(unsupported_reason(definition, {.batch = 16}).empty());
  REQUIRE(unsupported_reason(definition, {.batch = 12}).find("multiples of a batch of 8") !=
          std::string::npos);
  REQUIRE(unsupported_reason(definition, {.mode = Mode::infer, .batch = 12}).empty());
}

TEST_CASE("a workload that is not compiled in is not found") {
  REQUIRE(find("resnet") == nullptr);
}
