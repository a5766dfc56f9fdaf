#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {

// registry_table.inc is generated: one line TORCHWATCH_WORKLOAD(name) for each workload compiled
// in. Each workload's file defines the function declared here.
#define TORCHWATCH_WORKLOAD(name) TORCHWATCH_DEFINE(name);
#include "registry_table.inc"
#undef TORCHWATCH_WORKLOAD

const std::vector<Entry>& registry() {
  static const std::vector<Entry> kEntries = {
#define TORCHWATCH_WORKLOAD(name) Entry{#name, define_##name()},
#include "registry_table.inc"
#undef TORCHWATCH_WORKLOAD
  };
  return kEntries;
}

const Entry* find(std::string_view name) {
  for (const auto& entry : registry()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

int default_batch(const Definition& definition, Mode mode, Preset preset) {
  const auto& sizes = preset == Preset::paper ? definition.paper : definition.small;
  return mode == Mode::train ? sizes.train : sizes.infer;
}

int batch_of(const Definition& definition, const Setup& setup) {
  return setup.batch != 0 ? setup.batch : default_batch(definition, setup.mode, setup.preset);
}

namespace {

std::string_view refusal_of(const Refusals& refusals, const Setup& setup) {
  if (setup.mode == Mode::train) return refusals.train;
  if (setup.device == Device::cuda && !refusals.cuda_infer.empty()) return refusals.cuda_infer;
  return refusals.infer;
}

std::string_view refusal_of_precision(const Definition& definition, const Setup& setup) {
  const bool is_16_bit = setup.precision == Precision::fp16 || setup.precision == Precision::bf16;
  if (is_16_bit && !definition.runs_in_16_bits) return "it is not built in 16 bits";
  if (setup.precision == Precision::amp) return definition.no_autocast;
  if (setup.precision == Precision::tf32 && setup.device == Device::cpu) {
    return "tf32 is a format of GPUs";
  }
  return {};
}

std::string_view refusal_of_backend(const Setup& setup) {
  if (setup.backend == Backend::eager) return {};
  if (setup.precision == Precision::amp) return "a traced graph has no autocast";
  const bool is_packaged = setup.backend == Backend::aot_inductor;
  if (is_packaged && setup.mode == Mode::train)
    return "a package holds a forward: it does not train";
  if (is_packaged && setup.device == Device::cuda) return "packages are made for CPUs alone";
  return {};
}

/// A training batch must be a multiple of this; `usual` is the preset's batch.
int training_group(BatchRule rule, int usual) {
  if (rule == BatchRule::train_in_wholes) return usual;
  return rule == BatchRule::train_in_fours ? 4 : 1;
}

}  // namespace

std::string unsupported_reason(const Definition& definition, const Setup& setup) {
  const auto refusal = refusal_of(definition.refusals, setup);
  if (!refusal.empty()) return std::string(refusal);
  const auto precision_refusal = refusal_of_precision(definition, setup);
  if (!precision_refusal.empty()) return std::string(precision_refusal);
  const auto backend_refusal = refusal_of_backend(setup);
  if (!backend_refusal.empty()) return std::string(backend_refusal);
  const int usual = default_batch(definition, setup.mode, setup.preset);
  if (definition.batch_rule == BatchRule::fixed && setup.batch != 0 && setup.batch != usual) {
    return "the batch size is part of the model and cannot be changed from " +
           std::to_string(usual);
  }
  const int group = setup.mode == Mode::train ? training_group(definition.batch_rule, usual) : 1;
  if (setup.batch % group != 0) {
    return "training takes whole multiples of a batch of " + std::to_string(group);
  }
  return {};
}

}  // namespace torchwatch::models
