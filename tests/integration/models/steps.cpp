// steps NAME: checks the rules for every workload's iterations, at the small preset. Prints each
// violation; exit status 1 if there is one, 2 for wrong use.

#include <bit>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "torchwatch/models/registry.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace {

using namespace torchwatch::models;

constexpr int kSteps = 2;

/// The state after some iterations, bit by bit: a loss may be NaN by the original's construction.
using Traces = std::vector<std::uint64_t>;

/// Workloads whose training step, as in the original, does not change the network whose outputs are
/// shown.
const std::set<std::string_view> kNeverUpdated{
    "DALLE2_pytorch",           // has no optimiser
    "LearningToPaint",          // updates after forty steps only
    "detectron2_maskrcnn",      // has a learning rate of 0
    "fastNLP_Bert",             // collects gradients of ten batches
    "functorch_maml_omniglot",  // updates copies, so that each step begins alike
    "pytorch_stargan",          // updates the discriminator, shows the generator
    "tts_angular",              // its loss is NaN, and so are its weights
};

void add_outputs(Workload& workload, Traces& traces) {
  for (const auto& output : workload.outputs()) {
    traces.push_back(std::bit_cast<std::uint64_t>(output.sum));
    for (const double value : output.first) traces.push_back(std::bit_cast<std::uint64_t>(value));
  }
}

Traces outputs_of(Workload& workload) {
  Traces traces;
  add_outputs(workload, traces);
  return traces;
}

Traces traces_of(const Definition& definition, Mode mode, std::uint64_t seed) {
  const auto workload = build(definition, {.mode = mode, .seed = seed});
  auto traces = outputs_of(*workload);
  for (int i = 0; i < kSteps; ++i) {
    workload->step();
    if (mode == Mode::train) traces.push_back(std::bit_cast<std::uint64_t>(workload->last_loss()));
  }
  add_outputs(*workload, traces);
  return traces;
}

/// Checks both modes, as far as the original has them.
Traces traces_of(const Definition& definition, std::uint64_t seed) {
  Traces traces;
  for (const auto mode : {Mode::train, Mode::infer}) {
    if (!unsupported_reason(definition, {.mode = mode}).empty()) continue;
    for (const auto trace : traces_of(definition, mode, seed)) traces.push_back(trace);
  }
  return traces;
}

bool training_changes_it(const Definition& definition) {
  const auto workload = build(definition, {.mode = Mode::train});
  const auto before = outputs_of(*workload);
  for (int i = 0; i < kSteps; ++i) workload->step();
  return outputs_of(*workload) != before;
}

class Findings {
 public:
  void require(bool holds, const char* what) {
    if (holds) return;
    std::printf("%s\n", what);
    ++count_;
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

/// Checks nothing if the workload does not have the precision.
std::string what_throws(const Definition& definition, Mode mode, Precision precision) {
  const Setup setup{.mode = mode, .precision = precision};
  if (!unsupported_reason(definition, setup).empty()) return {};
  try {
    build(definition, setup)->step();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// oneDNN refuses an operator for which it has no kernel of this precision on this processor: of
/// LibTorch 2.13.0 on some with AVX-512, the LSTM in bfloat16. Nothing that a workload can mend.
bool lacks_kernel(const std::string& thrown) {
  return thrown.starts_with("could not create a primitive");
}

void require_precisions(const Definition& definition, Findings& findings) {
  for (const auto precision : {Precision::fp16, Precision::bf16, Precision::amp}) {
    for (const auto mode : {Mode::train, Mode::infer}) {
      const auto thrown = what_throws(definition, mode, precision);
      if (lacks_kernel(thrown)) {
        std::printf("skipped: no kernel on this processor: %s\n", thrown.c_str());
        continue;
      }
      findings.require(thrown.empty(), thrown.c_str());
    }
  }
}

int check(const Entry& entry) {
  Findings findings;
  require_precisions(entry.definition, findings);
  const auto traces = traces_of(entry.definition, 7);
  findings.require(traces == traces_of(entry.definition, 7),
                   "one seed gives two different results");
  findings.require(traces != traces_of(entry.definition, 8), "the seed makes no difference");
  const bool trains = unsupported_reason(entry.definition, {.mode = Mode::train}).empty();
  if (trains && !kNeverUpdated.contains(entry.name)) {
    findings.require(training_changes_it(entry.definition), "training changes nothing");
  }
  return findings.count() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto* entry = find(argc == 2 ? argv[1] : "");
  if (entry == nullptr) {
    std::fprintf(stderr, "steps: wants the name of a workload that is compiled in\n");
    return 2;
  }
  torchwatch::runner::set_threads(1);
  return check(*entry);
}
