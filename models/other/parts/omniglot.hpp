#pragma once

#include "torchwatch/models/draw.hpp"
#include "torchwatch/models/torch.hpp"

// Parts shared by the meta-learners of the Omniglot characters: the tasks, and the network of two
// of them. The original reads its tasks from a file; here they are drawn.

namespace torchwatch::models::omniglot {

constexpr std::int64_t kWays = 5;
constexpr std::int64_t kImage = 28;
constexpr std::int64_t kChannels = 64;
constexpr int kInnerSteps = 5;

struct TaskSize {
  std::int64_t tasks = 32;
  std::int64_t queries = 75;  ///< images of a task that judge what it has learnt
};
constexpr TaskSize kPaper{};
constexpr TaskSize kSmall{.tasks = 2, .queries = 15};

/// Each with a leading dimension of tasks; images have one channel.
struct Tasks {
  torch::Tensor support;
  torch::Tensor support_labels;
  torch::Tensor query;
  torch::Tensor query_labels;
};

inline Tasks draw_tasks(Draw& draw, const TaskSize& size, torch::Device device) {
  Tasks tasks;
  tasks.support = draw.normal({size.tasks, kWays, 1, kImage, kImage}).to(device);
  tasks.support_labels = draw.integers(kWays, {size.tasks, kWays}).to(device);
  tasks.query = draw.normal({size.tasks, size.queries, 1, kImage, kImage}).to(device);
  tasks.query_labels = draw.integers(kWays, {size.tasks, size.queries}).to(device);
  return tasks;
}

/// The parameters of one of the network's blocks, in their order.
constexpr std::size_t kBlocks = 3;
constexpr std::size_t kBlockParameters = 4;

/// Three blocks of convolution, normalisation, ReLU and pooling, which leave one pixel, and a
/// linear layer. Called with other parameters than its own by those who learn in an inner loop.
inline torch::nn::Sequential network(const torch::nn::BatchNormOptions& normalisation) {
  namespace nn = torch::nn;
  nn::Sequential layers;
  std::int64_t from = 1;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    layers->push_back(nn::Conv2d(nn::Conv2dOptions(from, kChannels, 3)));
    layers->push_back(nn::BatchNorm2d(normalisation));
    layers->push_back(nn::ReLU(nn::ReLUOptions(/*inplace=*/true)));
    layers->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(2)));
    from = kChannels;
  }
  layers->push_back(nn::Flatten());
  layers->push_back(nn::Linear(kChannels, kWays));
  return layers;
}

}  // namespace torchwatch::models::omniglot
