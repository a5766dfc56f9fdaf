#include <atomic>

#include "operator_watch.hpp"
#include "torchwatch/models/torch.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

using Inputs = c10::ArrayRef<const c10::IValue>;

/// The product a x b: two operations for each of a's elements and each of b's columns.
std::int64_t product_flops(const torch::Tensor& a, const torch::Tensor& b) {
  return 2 * a.numel() * b.size(-1);
}

/// Positions of a convolution's output, all spatial dimensions together.
std::int64_t output_positions(const torch::Tensor& input, const torch::Tensor& weight,
                              Inputs inputs) {
  // A list of one number holds for every dimension.
  const auto at = [&inputs](std::size_t argument, std::int64_t dimension) {
    const auto list = inputs[argument].toIntVector();
    return list[list.size() == 1 ? 0 : static_cast<std::size_t>(dimension - 2)];
  };
  std::int64_t positions = 1;
  for (std::int64_t dimension = 2; dimension < input.dim(); ++dimension) {
    const auto reach = at(5, dimension) * (weight.size(dimension) - 1) + 1;
    const auto padded = input.size(dimension) + 2 * at(4, dimension);
    positions *= (padded - reach) / at(3, dimension) + 1;
  }
  return positions;
}

/// 2 * B * positions * C_out * (C_in / groups) * kernel; transposed, the positions are the input's.
std::int64_t convolution_flops(Inputs inputs) {
  const auto input = inputs[0].toTensor();
  const auto weight = inputs[1].toTensor();
  const bool transposed = inputs[6].toBool();
  const auto positions = transposed ? input.numel() / input.size(0) / input.size(1)
                                    : output_positions(input, weight, inputs);
  return 2 * input.size(0) * positions * weight.numel();
}

/// The gradients of input and weight, if wanted, cost a convolution each; the bias's is a sum.
std::int64_t convolution_backward_flops(Inputs inputs) {
  const auto gradient = inputs[0].toTensor();
  const auto input = inputs[1].toTensor();
  const auto weight = inputs[2].toTensor();
  const bool transposed = inputs[7].toBool();
  const auto wanted = inputs[10].toBoolList();
  const auto& positions = transposed ? input : gradient;
  const auto one = 2 * positions.numel() / positions.size(1) * weight.numel();
  return one * (static_cast<int>(wanted[0]) + static_cast<int>(wanted[1]));
}

/// A packed sequence comes with its batch sizes, before the states and the parameters.
std::int64_t lstm_flops(Inputs inputs) {
  const auto input = inputs[0].toTensor();
  const std::size_t parameters = inputs[1].isTensor() ? 3 : 2;
  std::int64_t per_position = 0;
  for (const auto& parameter : inputs[parameters].toTensorVector()) {
    if (parameter.dim() == 2) per_position += 2 * parameter.numel();
  }
  return input.numel() / input.size(-1) * per_position;
}

/// The gradients of a fused layer, which shows no matrix products inside: of the two matrices and
/// of their inputs.
std::int64_t fused_lstm_backward_flops(Inputs inputs) {
  const auto input = inputs[0].toTensor();
  const auto per_position = 2 * (inputs[1].toTensor().numel() + inputs[2].toTensor().numel());
  return 2 * input.numel() / input.size(-1) * per_position;
}

/// The scores of all queries with all keys, and the sums of the values weighted by them. The fused
/// operator shows no matrix products inside.
std::int64_t attention_flops(Inputs inputs) {
  const auto query = inputs[0].toTensor();
  const auto key = inputs[1].toTensor();
  const auto value = inputs[2].toTensor();
  const auto scores = query.numel() / query.size(-1) * key.size(-2);
  return 2 * scores * (query.size(-1) + value.size(-1));
}

/// The backward of the fused operator computes the scores once more and four products of their
/// size.
std::int64_t attention_backward_flops(Inputs inputs) {
  return attention_flops(inputs.slice(1)) / 2 * 5;
}

/// Autograd's threads count as well.
std::atomic<std::int64_t>* counter = nullptr;
thread_local int within_lstm = 0;

/// Lives as long as a call of a recurrent layer, which counts as a whole: some builds fuse it and
/// show no matrix products inside.
struct WithinLstm final : at::ObserverContext {};

// Inputs are read only for operators known by name, as not every inner call has them.
std::int64_t flops_of(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  const auto tensor = [&call](std::size_t i) { return call.inputs()[i].toTensor(); };
  if (name == "aten::convolution") return convolution_flops(call.inputs());
  if (name == "aten::convolution_backward") return convolution_backward_flops(call.inputs());
  if (name == "aten::lstm") return lstm_flops(call.inputs());
  if (name == "aten::mkldnn_rnn_layer_backward") return fused_lstm_backward_flops(call.inputs());
  if (name == "aten::_scaled_dot_product_flash_attention_for_cpu") {
    return attention_flops(call.inputs());
  }
  if (name == "aten::_scaled_dot_product_flash_attention_for_cpu_backward") {
    return attention_backward_flops(call.inputs());
  }
  if (name == "aten::mm" || name == "aten::bmm") return product_flops(tensor(0), tensor(1));
  if (name == "aten::addmm" || name == "aten::baddbmm") {
    return product_flops(tensor(1), tensor(2));
  }
  return 0;
}

std::unique_ptr<at::ObserverContext> on_enter(const at::RecordFunction& call) {
  if (within_lstm > 0) return nullptr;
  *counter += flops_of(call);
  if (std::string_view(call.name()) != "aten::lstm") return nullptr;
  ++within_lstm;
  return std::make_unique<WithinLstm>();
}

void on_exit(const at::RecordFunction&, at::ObserverContext* context) {
  if (context != nullptr) --within_lstm;
}

}  // namespace

std::int64_t count_flops(const std::function<void()>& work) {
  std::atomic<std::int64_t> flops = 0;
  const OperatorWatch watch(counter, flops,
                            at::RecordFunctionCallback(on_enter, on_exit).needsInputs(true));
  work();
  return flops;
}

}  // namespace torchwatch::runner
