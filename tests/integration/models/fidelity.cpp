// fidelity NAME: compares the workload NAME at the paper's sizes and batch 1 with the figures of
// its original. Prints each difference; exit status 1 if there is one, 2 for wrong use.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace {

using namespace torchwatch;
using nlohmann::json;
using tests::Differences;

void compare_definition(const models::Definition& definition, const json& original,
                        Differences& differences) {
  differences.expect("domain", definition.domain, original.at("domain"));
  differences.expect("task", definition.task, original.at("task"));
  differences.expect("train", definition.refusals.train.empty(), original.at("trains"));
  differences.expect("infer", definition.refusals.infer.empty(), original.at("infers"));
  if (original.at("trains")) {
    differences.expect("train_batch", definition.paper.train, original.at("train_batch"));
  }
  if (original.at("infers")) {
    differences.expect("eval_batch", definition.paper.infer, original.at("eval_batch"));
  }
}

void compare_census(const models::Census& census, const json& original, Differences& differences) {
  differences.expect("params_trainable", census.params_trainable, original.at("params_trainable"));
  differences.expect("params_all", census.params_all, original.at("params_all"));
  differences.expect("param_tensors", census.param_tensors, original.at("param_tensors"));
  differences.expect("buffers", census.buffers, original.at("buffers"));
  for (const auto& [type, count] : original.at("modules").items()) {
    const auto ours = census.modules.find(type);
    differences.expect("modules of type " + type, ours == census.modules.end() ? 0 : ours->second,
                       count);
  }
}

/// -1 in the original's shapes is the batch.
void compare_outputs(const std::vector<models::OutputFigures>& outputs, int batch, json original,
                     Differences& differences) {
  if (original.is_null()) return;
  for (auto& shape : original) {
    for (auto& size : shape) size = size == -1 ? json(batch) : size;
  }
  json ours = json::array();
  for (const auto& output : outputs) ours.push_back(output.shape);
  differences.expect("outputs", ours, original);
}

/// One forward serves both where the figures are those of the plain one.
void compare_forward(models::Workload& workload, bool infers, const json& original,
                     Differences& differences) {
  const json& wanted = original.at("flops_forward_batch1");
  std::vector<models::OutputFigures> outputs;
  auto flops = runner::count_flops([&] { outputs = workload.outputs(); });
  if (!wanted.is_null() && wanted != flops) {
    flops = runner::count_flops([&] { workload.reference_forward(); });
  }
  differences.expect("flops_forward_batch1", flops, wanted);
  if (infers) compare_outputs(outputs, 1, original.at("outputs"), differences);
}

void compare(const models::Definition& definition, const json& original, Differences& differences) {
  compare_definition(definition, original, differences);
  const bool is_fixed = definition.batch_rule == models::BatchRule::fixed;
  const bool infers = definition.refusals.infer.empty();
  const auto workload =
      models::build(definition, {.mode = infers ? models::Mode::infer : models::Mode::train,
                                 .preset = models::Preset::paper,
                                 .batch = is_fixed ? 0 : 1});
  compare_census(workload->census(), original, differences);
  compare_forward(*workload, infers, original, differences);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::compare_with_original(argc, argv, TORCHWATCH_ORIGINALS, compare);
}
