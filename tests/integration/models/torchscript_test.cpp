#include <torch/csrc/jit/serialization/import.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "temporary_folder.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

using namespace torchwatch::models;
using Catch::Matchers::Contains;
namespace nn = torch::nn;

namespace {

constexpr Setup kTraced{.mode = Mode::infer, .batch = 2, .backend = Backend::torchscript};
constexpr Setup kTrained{.mode = Mode::train, .batch = 2, .backend = Backend::torchscript};

/// Two convolutions with normalisation, which freezing folds into them.
struct NetworkImpl : nn::Module {
  NetworkImpl()
      : layers(register_module(
            "layers", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 4, 3)), nn::BatchNorm2d(4),
                                     nn::ReLU(), nn::Conv2d(nn::Conv2dOptions(4, 2, 3))))) {}
  torch::Tensor forward(const torch::Tensor& x) { return layers->forward(x); }

  nn::Sequential layers;
  torch::Tensor unregistered = torch::full({2}, 1.5).requires_grad_();
};
TORCH_MODULE(Network);

/// What a test's workload does in its forward.
using Forward = torch::Tensor (*)(Network&, const torch::Tensor& image);

torch::Tensor plainly(Network& network, const torch::Tensor& image) {
  return network(image);
}

class TestWorkload : public NetworkWorkload {
 public:
  TestWorkload(const Setup& setup, Forward network_of)
      : NetworkWorkload(setup), forward_(network_of) {
    adopt({network_.ptr()});
    image_ = place(draw().normal({setup.batch, 3, 8, 8}));
    if (!is_training()) return;
    optimizer_ = std::make_unique<torch::optim::SGD>(parameters(), torch::optim::SGDOptions(0.01));
  }

  NamedTensors forward() override {
    ++calls_;
    return {{"scores", forward_(network_, image_)}};
  }
  torch::Tensor loss() override {
    ++calls_;
    return forward_(network_, image_).square().mean();
  }
  torch::Tensor& image() { return image_; }
  Network& network() { return network_; }
  int calls() const { return calls_; }

 private:
  Network network_;
  Forward forward_;
  torch::Tensor image_;
  int calls_ = 0;
};

std::unique_ptr<TestWorkload> made(Forward forward, const Setup& setup = kTraced) {
  torch::manual_seed(setup.seed);
  auto workload = std::make_unique<TestWorkload>(setup, forward);
  workload->compile();
  return workload;
}

/// Why TorchScript cannot take that forward.
std::string refusal_of(Forward forward, const Setup& setup = kTraced) {
  try {
    made(forward, setup)->step();
    return {};
  } catch (const UnsupportedSetup& error) {
    return error.what();
  }
}

std::vector<c10::IValue> tensors_in(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
  return torch::pickle_load(bytes).toTuple()->elements().vec();
}

/// Whether an operator of the graph changes its operand: its name ends in an underscore.
bool changes_in_place(const torch::jit::Graph& graph) {
  for (const auto* node : graph.nodes()) {
    if (std::string_view(node->kind().toUnqualString()).ends_with('_')) return true;
  }
  return false;
}

double eager_sum_of(Forward forward) {
  return made(forward, {.mode = Mode::infer, .batch = 2})->outputs().front().sum;
}

}  // namespace

TEST_CASE("a traced forward computes what eager mode does, and is the graph alone") {
  const auto workload = made(plainly);
  const auto calls = workload->calls();
  for (int i = 0; i < 3; ++i) workload->step();
  const auto outputs = workload->outputs();
  REQUIRE(workload->calls() == calls);
  REQUIRE(outputs.size() == 1);
  REQUIRE(outputs.front().name == "scores");
  REQUIRE(outputs.front().shape == std::vector<std::int64_t>{2, 2, 4, 4});
  REQUIRE(outputs.front().sum == Approx(eager_sum_of(plainly)).epsilon(1e-3));
}

TEST_CASE("a graph does not keep the network's weights beside its own") {
  const auto workload = made(plainly);
  REQUIRE(workload->census().params_all == 0);
  workload->step();
}

TEST_CASE("what a forward reads beside its parameters stays an input of the graph") {
  const auto workload = made(plainly);
  const auto before = workload->outputs().front().sum;
  workload->image().mul_(2);
  REQUIRE(workload->outputs().front().sum != Approx(before).epsilon(1e-3));
}

TEST_CASE("a graph for a compiler changes nothing in place, and computes the same") {
  const auto counting = [](Network& network, const torch::Tensor& image) {
    auto positions = torch::arange(8) * 2;
    positions += torch::arange(8);
    auto scores = network(image + positions);
    scores += 1;
    return scores;
  };
  torch::manual_seed(kTraced.seed);
  TestWorkload workload(kTraced, counting);
  const torchwatch::test::TemporaryFolder folder;
  export_forward(workload, folder.path().string());

  auto graph = torch::jit::load(folder.path() / "graph.pt");
  CHECK_FALSE(changes_in_place(*graph.get_method("forward").graph()));
  const auto computed = graph.forward(tensors_in(folder.path() / "inputs.pt"));
  const auto scores = computed.toTuple()->elements()[0].toTensor();
  REQUIRE(scores.sum().item<double>() == Approx(eager_sum_of(counting)).epsilon(1e-3));
}

TEST_CASE("a forward that draws random numbers is compared with the same ones") {
  const auto drawing = [](Network& network, const torch::Tensor& image) {
    return network(image + torch::rand_like(image));
  };
  const auto workload = made(drawing);
  const auto first = workload->outputs().front().sum;
  REQUIRE(workload->outputs().front().sum != first);
}

TEST_CASE("a forward that decides by a value is refused: a trace would freeze the decision") {
  const auto deciding = [](Network& network, const torch::Tensor& image) {
    return image.sum().item<double>() > 0 ? network(image) : network(-image);
  };
  CHECK_THAT(refusal_of(deciding),
             Contains("reads values of tensors (1), which a trace would freeze"));
}

TEST_CASE("a graph that computes another result than eager mode is refused") {
  const auto moving = [](Network& network, const torch::Tensor& image) {
    return network(image.add_(1));
  };
  CHECK_THAT(refusal_of(moving), Contains("computes other values than eager mode"));
}

TEST_CASE("what LibTorch refuses to trace is a reason of one line") {
  const auto foreign = [](Network& network, const torch::Tensor& image) {
    return network(image * network->unregistered.sum());
  };
  const auto refusal = refusal_of(foreign);
  CHECK_THAT(refusal, Contains("TorchScript cannot take it: ") && Contains("grad"));
  REQUIRE(refusal.find('\n') == std::string::npos);
}

TEST_CASE("an iteration of more than one forward is not taken for the traced one") {
  struct Twice : TestWorkload {
    using TestWorkload::TestWorkload;
    void iterate() override {
      forward();
      forward();
    }
  };
  torch::manual_seed(1);
  Twice workload(kTraced, plainly);
  CHECK_THROWS_WITH(workload.compile(), Contains("more than one forward"));
}

TEST_CASE("a graph is trained as the network is, by the same optimiser") {
  const auto in_eager = made(plainly, {.mode = Mode::train, .batch = 2});
  const auto traced = made(plainly, kTrained);
  const auto calls = traced->calls();
  for (int i = 0; i < 4; ++i) {
    in_eager->step();
    traced->step();
    REQUIRE(traced->last_loss() == Approx(in_eager->last_loss()).epsilon(1e-3));
  }
  CHECK(traced->calls() == calls);
  CHECK(traced->outputs().front().sum == Approx(in_eager->outputs().front().sum).epsilon(1e-3));
}

TEST_CASE("compiling a training trains nothing and leaves the normalisation as it was") {
  const auto in_eager = made(plainly, {.mode = Mode::train, .batch = 2});
  const auto traced = made(plainly, kTrained);
  const auto expected = in_eager->network()->buffers();
  const auto found = traced->network()->buffers();
  REQUIRE(expected.size() == found.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].equal(expected[i]));
  for (const auto& each : traced->network()->parameters()) CHECK_FALSE(each.grad().defined());
  CHECK(traced->values().loss == in_eager->values().loss);
}

TEST_CASE("a training that draws random numbers is compared with the same ones") {
  const auto dropping = [](Network& network, const torch::Tensor& image) {
    return torch::dropout(network(image), 0.5, network->is_training());
  };
  CHECK(refusal_of(dropping, kTrained).empty());
}

/// Two branches, of which the executor may compute either first.
torch::Tensor branching(Network& network, const torch::Tensor& image) {
  const auto dropped = [&](const torch::Tensor& x) {
    return torch::dropout(x, 0.5, network->is_training());
  };
  auto one = torch::relu(dropped(network(image)));
  auto other = torch::relu(dropped(network(image * 2)));
  for (int i = 0; i < 3; ++i) one = torch::tanh(dropped(one)), other = dropped(torch::tanh(other));
  return one + other;
}

TEST_CASE("a training whose dropouts lie on several branches is taken, whatever their order is") {
  CHECK(refusal_of(branching, kTrained).empty());
}

TEST_CASE("dropout does not excuse a graph that computes something else") {
  const auto moving = [](Network& network, const torch::Tensor& image) {
    return torch::dropout(network(image.sin_()), 0.5, network->is_training());
  };
  CHECK_THAT(refusal_of(moving, kTrained), Contains("computes another loss or gradient"));
}

TEST_CASE("a training graph that computes another loss than eager mode is refused") {
  const auto moving = [](Network& network, const torch::Tensor& image) {
    return network(image.sin_());
  };
  CHECK_THAT(refusal_of(moving, kTrained), Contains("computes another loss or gradient"));
}

TEST_CASE("a training step that does not ask for the traced loss is not taken for it") {
  struct OwnStep : TestWorkload {
    using TestWorkload::TestWorkload;
    void train_step() override { loss().backward(); }
  };
  torch::manual_seed(1);
  OwnStep workload(kTrained, plainly);
  workload.compile();
  CHECK_THROWS_WITH(workload.step(), Contains("more than one loss and its gradients"));
}

TEST_CASE("TorchScript takes both modes, a package inference, and neither autocast") {
  const Definition definition{.domain = "", .task = "", .paper = {1, 1}, .small = {1, 1}};
  REQUIRE(unsupported_reason(definition, kTraced).empty());
  REQUIRE(unsupported_reason(definition, kTrained).empty());
  CHECK_THAT(unsupported_reason(definition, {.backend = Backend::aot_inductor}),
             Contains("does not train"));
  auto with_autocast = kTraced;
  with_autocast.precision = Precision::amp;
  CHECK_THAT(unsupported_reason(definition, with_autocast), Contains("no autocast"));
}
