#include <catch2/catch.hpp>

#include "other/parts/sample_hooks.hpp"
#include "other/parts/shared_weights.hpp"

using namespace torchwatch::models;

namespace {

constexpr std::int64_t kSamples = 3;

/// A network, and images with labels of their own. In double precision: groups of two values in its
/// last stages leave gradients that are differences of nearly equal numbers.
struct Classifier {
  Classifier() {
    torch::manual_seed(1);
    network = GroupNormResNet18(8, 10);
    network->to(torch::kFloat64);
    images = torch::randn({kSamples, 3, 32, 32}, torch::kFloat64);
    labels = torch::randint(10, {kSamples}, torch::kInt64);
  }

  torch::Tensor loss(Layers& layers, std::int64_t reduction) {
    return torch::cross_entropy_loss(network->forward(images, layers), labels, {}, reduction);
  }

  std::vector<torch::Tensor> gradients_of(std::int64_t sample) {
    Layers layers;
    const auto logits = network->forward(images.narrow(0, sample, 1), layers);
    const auto value = torch::cross_entropy_loss(logits, labels.narrow(0, sample, 1));
    return torch::autograd::grad({value}, network->parameters());
  }

  GroupNormResNet18 network{nullptr};
  torch::Tensor images;
  torch::Tensor labels;
};

void check_each_sample(Classifier& classifier, const std::vector<torch::Tensor>& found) {
  REQUIRE(found.size() == classifier.network->parameters().size());
  for (std::int64_t sample = 0; sample < kSamples; ++sample) {
    const auto expected = classifier.gradients_of(sample);
    for (std::size_t i = 0; i < found.size(); ++i) {
      INFO("sample " << sample << ", parameter " << i);
      CHECK(torch::allclose(found[i][sample], expected[i], 1e-6, 1e-9));
    }
  }
}

/// Equal weights, one for each owner.
torch::Tensor repeated(const torch::Tensor& weight, std::int64_t owners) {
  auto shape = weight.sizes().vec();
  shape.insert(shape.begin(), owners);
  return weight.detach().expand(shape).requires_grad_();
}

}  // namespace

TEST_CASE("hooks yield each sample's gradient") {
  Classifier classifier;
  SampleHooks layers;
  classifier.loss(layers, at::Reduction::Mean).backward();
  check_each_sample(classifier, layers.take());
}

TEST_CASE("one weight a sample yields each sample's gradient") {
  Classifier classifier;
  std::vector<torch::Tensor> weights;
  for (const auto& each : classifier.network->parameters()) {
    weights.push_back(repeated(each, kSamples));
  }
  SampleWeights layers(weights);
  const auto sum = classifier.loss(layers, at::Reduction::Sum);
  check_each_sample(classifier, torch::autograd::grad({sum}, weights));
}

TEST_CASE("a shared convolution can be differentiated twice") {
  torch::manual_seed(1);
  constexpr std::int64_t kOwners = 2;
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  const auto x = torch::randn({3 * kOwners, 2, 6, 6}, options);
  const auto weight = torch::randn({4, 2, 3, 3}, options);
  const auto bias = torch::randn({4}, options);
  const auto curvature = [](const torch::Tensor& y, const torch::Tensor& w) {
    const auto first = torch::autograd::grad({y.pow(3).sum()}, {w}, {}, true, true).front();
    return torch::autograd::grad({first.pow(2).sum()}, {w}).front();
  };

  const auto weights = repeated(weight, kOwners);
  const auto shared = SharedConvolution::apply(x, weights, repeated(bias, kOwners), 2, 1);
  const auto found = curvature(shared, weights);

  for (std::int64_t owner = 0; owner < kOwners; ++owner) {
    const auto own = weight.detach().clone().requires_grad_();
    const auto rows = x.unflatten(0, {-1, kOwners}).select(1, owner);
    const auto expected = curvature(torch::conv2d(rows, own, bias, 2, 1), own);
    CHECK(torch::allclose(found[owner], expected));
  }
}
