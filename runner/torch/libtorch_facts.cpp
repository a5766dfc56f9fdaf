#include <array>
#include <cstdio>

#include "torchwatch/models/torch.hpp"
#include "torchwatch/runner/libtorch.hpp"

namespace torchwatch::runner {
namespace {

/// FNV-1a, 64 bits: short enough to read, long enough to notice a change.
std::string digest(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char each : text) {
    hash ^= static_cast<unsigned char>(each);
    hash *= 0x100000001b3U;
  }
  std::array<char, 17> spelled{};
  std::snprintf(spelled.data(), spelled.size(), "%016llx", static_cast<unsigned long long>(hash));
  return spelled.data();
}

/// The version of the libraries in use, which differs from the headers' where a kit was compiled
/// for another build with equal headers.
std::string version_in(const std::string& config) {
  constexpr std::string_view kLabel = "TORCH_VERSION=";
  const auto at = config.find(kLabel);
  if (at == std::string::npos) return TORCH_VERSION;
  const auto begin = at + kLabel.size();
  return config.substr(begin, config.find(',', begin) - begin);
}

using Inputs = c10::ArrayRef<const c10::IValue>;

/// a x b: two operations for each of a's elements and each of b's columns.
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

/// Scores of all queries with all keys, and the values added up by them. The fused operator shows
/// no matrix products inside.
std::int64_t attention_flops(Inputs inputs) {
  const auto query = inputs[0].toTensor();
  const auto key = inputs[1].toTensor();
  const auto value = inputs[2].toTensor();
  const auto scores = query.numel() / query.size(-1) * key.size(-2);
  return 2 * scores * (query.size(-1) + value.size(-1));
}

struct FlopCounter {
  std::int64_t flops = 0;
  int within_lstm = 0;
};

/// LibTorch's callbacks are plain functions; the count in progress is reached here.
thread_local FlopCounter* counter = nullptr;

/// Lives as long as a call of a recurrent layer, which counts as a whole: some builds fuse it and
/// show no matrix products inside.
struct WithinLstm final : at::ObserverContext {};

// The inputs are asked for by name only: not every inner call shows them.
std::int64_t flops_of(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  const auto tensor = [&call](std::size_t i) { return call.inputs()[i].toTensor(); };
  if (name == "aten::convolution") return convolution_flops(call.inputs());
  if (name == "aten::lstm") return lstm_flops(call.inputs());
  if (name == "aten::_scaled_dot_product_flash_attention_for_cpu") {
    return attention_flops(call.inputs());
  }
  if (name == "aten::mm" || name == "aten::bmm") return product_flops(tensor(0), tensor(1));
  if (name == "aten::addmm" || name == "aten::baddbmm") {
    return product_flops(tensor(1), tensor(2));
  }
  return 0;
}

std::unique_ptr<at::ObserverContext> on_enter(const at::RecordFunction& call) {
  if (counter->within_lstm > 0) return nullptr;
  counter->flops += flops_of(call);
  if (std::string_view(call.name()) != "aten::lstm") return nullptr;
  ++counter->within_lstm;
  return std::make_unique<WithinLstm>();
}

void on_exit(const at::RecordFunction&, at::ObserverContext* context) {
  if (context != nullptr) --counter->within_lstm;
}

}  // namespace

std::map<std::string, std::string> libtorch_facts() {
  const auto config = at::show_config();
  return {{"build.torch_version", version_in(config)},
          {"build.config_digest", digest(config)},
          {"cpu_capability", at::get_cpu_capability()},
          {"threads", std::to_string(at::get_num_threads())}};
}

std::int64_t count_flops(const std::function<void()>& work) {
  FlopCounter mine;
  counter = &mine;
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(on_enter, on_exit)
                                                     .needsInputs(true)
                                                     .scopes({at::RecordScope::FUNCTION}));
  work();
  at::removeCallback(handle);
  counter = nullptr;
  return mine.flops;
}

}  // namespace torchwatch::runner
