#include "torchwatch/runner/output_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <span>

#include "torchwatch/runner/measure.hpp"

namespace torchwatch::runner {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> kRounding{"mobilenet_v2_quantized_qat",
                                                    "resnet50_quantized_qat"};
constexpr std::array<std::string_view, 2> kDrawing{"hf_Reformer", "tacotron2"};
/// Which boxes are learned from is drawn, and what an agent does.
constexpr std::array<std::string_view, 14> kDrawingInTraining{"detectron2_fasterrcnn_r_101_c4",
                                                              "detectron2_fasterrcnn_r_101_dc5",
                                                              "detectron2_fasterrcnn_r_101_fpn",
                                                              "detectron2_fasterrcnn_r_50_c4",
                                                              "detectron2_fasterrcnn_r_50_dc5",
                                                              "detectron2_fasterrcnn_r_50_fpn",
                                                              "detectron2_maskrcnn",
                                                              "detectron2_maskrcnn_r_101_c4",
                                                              "detectron2_maskrcnn_r_101_fpn",
                                                              "detectron2_maskrcnn_r_50_c4",
                                                              "detectron2_maskrcnn_r_50_fpn",
                                                              "drq",
                                                              "soft_actor_critic",
                                                              "vision_maskrcnn"};

bool is_among(Names names, std::string_view workload) {
  return std::ranges::find(names, workload) != names.end();
}

/// "logits float32 [4, 1000]": outputs of another shape or type have nothing to compare.
std::string full_name(const models::OutputFigures& output) {
  std::string shape;
  for (const auto size : output.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(size);
  const std::string name = output.name.empty() ? "output" : output.name;
  return name + " " + output.type + " [" + shape + "]";
}

OutputFigures compared(const models::OutputFigures& output) {
  OutputFigures figures{.name = full_name(output),
                        .scale = std::hypot(output.mean, output.std),
                        .figures = {output.mean, output.std}};
  figures.figures.insert(figures.figures.end(), output.first.begin(), output.first.end());
  return figures;
}

OutputFigures scalar(const char* name, double value) {
  return {.name = name, .scale = std::abs(value), .figures = {value}};
}

}  // namespace

bool has_comparable_outputs(const Benchmark& benchmark) {
  const auto& workload = benchmark.workload;
  if (benchmark.variant.precision == Precision::amp) return false;
  if (is_among(kRounding, workload) || is_among(kDrawing, workload)) return false;
  return benchmark.configuration.mode != Mode::train || !is_among(kDrawingInTraining, workload);
}

std::vector<OutputFigures> outputs_of(const models::Definition& definition, models::Setup setup) {
  setup.fill = models::Fill::formula;
  const auto workload = models::build(definition, setup);
  workload->compile();
  const auto values = workload->values();
  std::vector<OutputFigures> outputs;
  for (const auto& output : values.outputs) outputs.push_back(compared(output));
  if (setup.mode == models::Mode::train) {
    outputs.push_back(scalar("loss", values.loss));
    outputs.push_back(scalar("gradients", values.gradient_norm));
  }
  return outputs;
}

void add_outputs(const std::function<std::vector<OutputFigures>()>& compute, RunResult& result) {
  try {
    result.outputs = compute();
  } catch (const std::exception& error) {
    result.reason = "its outputs could not be computed: " + reason_of(error);
  }
}

}  // namespace torchwatch::runner
