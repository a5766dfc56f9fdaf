// values NAME: compares what the workload NAME computes at the paper's sizes, filled by the
// formula, with what its original computed. Prints each difference; exit status 1 if there is one,
// 2 for wrong use.

#include <algorithm>
#include <cmath>

#include "comparison.hpp"

namespace {

using namespace torchwatch;
using nlohmann::json;
using tests::Differences;

// Rounding alone, one thread against two, moves outputs by 4e-7 of their spread and the norm of the
// gradients of a deep network by 3e-5 of itself.
constexpr double kOfSpread = 1e-5;
/// Sixteen units in the last place of float32: at the end of a deep network no figure is more
/// exact, however little its neighbours differ from it.
constexpr double kOfItself = 16.0 / (1 << 23);
constexpr double kOfGradientNorm = 1e-4;
/// Sums of the same numbers differ by the order of their additions alone, which is far less.
constexpr double kParameterSum = 1e-6;

/// An output that comparisons decide (accuracies, scores of the boxes that are kept) moves further
/// from one processor's kernels to another's; its `limit` is what those of AVX2, of SSE4.1 and of
/// none do to it, at least doubled: 1.2e-3 for maml's accuracies, 2.8e-5 for vision_maskrcnn's
/// scores.
double own_limit(const json& original) {
  return original.value("limit", 0.0);
}

void compare_output(const std::string& what, const models::OutputFigures& ours,
                    const json& original, Differences& differences) {
  const double spread = original.at("std");
  const auto expect_near = [&](const std::string& figure, double our, double theirs) {
    const double limit =
        std::max(own_limit(original), kOfSpread * spread + kOfItself * std::abs(theirs));
    differences.expect_near(what + " " + figure, our, theirs, limit);
  };
  differences.expect(what + " shape", ours.shape, original.at("shape"));
  expect_near("mean", ours.mean, original.at("mean"));
  expect_near("std", ours.std, spread);
  const auto& first = original.at("first");
  differences.expect(what + " first elements", ours.first.size(), first.size());
  for (std::size_t i = 0; i < std::min(first.size(), ours.first.size()); ++i) {
    expect_near("element " + std::to_string(i), ours.first[i], first[i]);
  }
}

void compare_outputs(const std::vector<models::OutputFigures>& outputs, const json& original,
                     Differences& differences) {
  differences.expect("infer: outputs", outputs.size(), original.size());
  for (std::size_t i = 0; i < std::min(outputs.size(), original.size()); ++i) {
    if (original[i].is_null()) continue;  // cannot be compared
    compare_output("infer: output " + std::to_string(i), outputs[i], original[i], differences);
  }
}

/// A loss has no spread; its own size is what its rounding grows with.
void compare_gradients(const models::Values& ours, const json& original, Differences& differences) {
  const double loss = original.at("loss");
  const double norm = original.at("gradient_norm");
  differences.expect_near("grad: loss", ours.loss, loss, kOfSpread * std::abs(loss));
  differences.expect_near("grad: gradient_norm", ours.gradient_norm, norm, kOfGradientNorm * norm);
}

/// The figures that the workload computes in the mode, from the parameters of the original.
models::Values compute(const models::Definition& definition, models::Mode mode,
                       const json& original, Differences& differences) {
  const auto workload = models::build(definition, {.mode = mode,
                                                   .preset = models::Preset::paper,
                                                   .batch = original.at("batch"),
                                                   .fill = models::Fill::formula});
  auto values = workload->values();
  differences.expect_near("parameter_sum", values.parameter_sum, original.at("parameter_sum"),
                          kParameterSum);
  return values;
}

void compare(const models::Definition& definition, const json& original, Differences& differences) {
  if (original.contains("infer")) {
    const auto& infer = original.at("infer");
    compare_outputs(compute(definition, models::Mode::infer, infer, differences).outputs,
                    infer.at("outputs"), differences);
  }
  if (original.contains("grad")) {
    const auto& grad = original.at("grad");
    compare_gradients(compute(definition, models::Mode::train, grad, differences), grad,
                      differences);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::compare_with_original(argc, argv, TORCHWATCH_VALUES, compare);
}
