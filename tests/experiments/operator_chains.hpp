#pragma once

#include <torch/torch.h>

#include <functional>
#include <map>
#include <string>

/// Chains of operators of some 5 to 80 us, for two programs that time them. Plain LibTorch, as the
/// Timer of torch.utils.benchmark compiles this as well.
namespace torchwatch::experiments {

using Step = std::function<void()>;

inline Step ten_small_additions() {
  return [a = torch::ones({8}), b = torch::ones({8})] {
    auto c = a + b;
    for (int i = 0; i < 9; ++i) c = c + b;
  };
}

inline Step pointwise() {
  return [a = torch::randn({64, 256})] { torch::sigmoid(a * 2 + 1).mul_(a); };
}

inline Step linear() {
  return [a = torch::randn({32, 256}), w = torch::randn({256, 256}), b = torch::randn({256})] {
    torch::relu(torch::nn::functional::linear(a, w, b));
  };
}

inline Step softmax() {
  return [a = torch::randn({64, 512})] { torch::softmax(a, 1).sum(0); };
}

inline Step lookup() {
  return [table = torch::randn({10'000, 64}), rows = torch::arange(0, 9'984, 39, torch::kLong)] {
    table.index_select(0, rows).sum(0);
  };
}

inline Step convolution() {
  return [a = torch::randn({1, 16, 28, 28}), w = torch::randn({16, 16, 3, 3})] {
    torch::relu(torch::conv2d(a, w, {}, 1, 1));
  };
}

inline Step forward_and_backward() {
  return [a = torch::randn({16, 64}), w = torch::randn({64, 64}, torch::requires_grad())] {
    torch::relu(torch::mm(a, w)).sum().backward();
    w.mutable_grad() = torch::Tensor();
  };
}

/// What builds each, by name.
inline const std::map<std::string, Step (*)()>& operator_chains() {
  static const std::map<std::string, Step (*)()> chains{
      {"ten_small_additions", ten_small_additions},
      {"pointwise", pointwise},
      {"linear", linear},
      {"softmax", softmax},
      {"lookup", lookup},
      {"convolution", convolution},
      {"forward_and_backward", forward_and_backward}};
  return chains;
}

}  // namespace torchwatch::experiments
