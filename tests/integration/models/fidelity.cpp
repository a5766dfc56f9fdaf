// fidelity NAME: the workload NAME at the paper's sizes and batch 1 against the figures of its
// original. Prints each difference; exit status 1 if there is one, 2 for wrong use.

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/models/registry.hpp"
#include "torchwatch/runner/libtorch.hpp"

namespace {

using namespace torchwatch;
using nlohmann::json;

class Differences {
 public:
  /// `original` null: not known, or not the same from version to version.
  void expect(const std::string& what, const json& ours, const json& original) {
    if (original.is_null() || ours == original) return;
    std::printf("%s: %s, the original has %s\n", what.c_str(), ours.dump().c_str(),
                original.dump().c_str());
    ++count_;
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

json original_of(const std::string& name) {
  std::ifstream file(TORCHWATCH_ORIGINALS);
  const auto originals = json::parse(file).at("originals");
  for (const auto& original : originals) {
    if (original.at("name") == name) return original;
  }
  return nullptr;
}

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

/// One forward answers for both where the figures are those of the plain one.
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

int compare(const models::Definition& definition, const json& original) {
  Differences differences;
  compare_definition(definition, original, differences);
  const bool is_fixed = definition.batch_rule == models::BatchRule::fixed;
  const bool infers = definition.refusals.infer.empty();
  const auto workload =
      models::build(definition, {.mode = infers ? models::Mode::infer : models::Mode::train,
                                 .preset = models::Preset::paper,
                                 .batch = is_fixed ? 0 : 1});
  compare_census(workload->census(), original, differences);
  compare_forward(*workload, infers, original, differences);
  return differences.count() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc == 2 ? argv[1] : "";
  const auto* entry = models::find(name);
  const auto original = original_of(name);
  if (entry == nullptr || original.is_null()) {
    std::fprintf(stderr, "fidelity: no workload \"%s\" here, or no figures of it in %s\n",
                 name.c_str(), TORCHWATCH_ORIGINALS);
    return 2;
  }
  runner::set_threads(1);
  return compare(entry->definition, original);
}
