#include "torchwatch/models/network_workload.hpp"

#include <optional>
#include <set>

#include "compiled_forward.hpp"
#include "precision.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace {

/// The type's name in Python.
std::string type_of(const torch::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kFloat32:
      return "float32";
    case torch::kFloat64:
      return "float64";
    case torch::kInt64:
      return "int64";
    default:
      return c10::toString(tensor.scalar_type());
  }
}

OutputFigures figures_of(const std::string& name, const torch::Tensor& tensor) {
  const auto flat = tensor.detach().to(torch::kCPU).to(torch::kFloat64).flatten().contiguous();
  OutputFigures figures;
  figures.name = name;
  figures.shape = tensor.sizes().vec();
  figures.type = type_of(tensor);
  figures.sum = flat.sum().item<double>();
  figures.mean = flat.mean().item<double>();
  figures.std = flat.numel() > 1 ? flat.std().item<double>() : 0.0;
  const auto* data = flat.data_ptr<double>();
  figures.first.assign(data, data + std::min<std::int64_t>(8, flat.numel()));
  return figures;
}

std::vector<OutputFigures> figures_of(const NamedTensors& tensors) {
  std::vector<OutputFigures> figures;
  for (const auto& [name, tensor] : tensors) figures.push_back(figures_of(name, tensor));
  return figures;
}

/// "Conv2d" of torch::nn::Conv2dImpl.
std::string class_of(const torch::nn::Module& module) {
  std::string name = module.name();
  if (const auto scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

void set_training(const Modules& modules, bool on) {
  for (const auto& module : modules) module->train(on);
}

/// The parameters by name; a tied one appears once.
NamedTensors distinct_parameters(const Modules& modules) {
  NamedTensors distinct;
  std::set<const void*> seen;
  for (const auto& module : modules) {
    for (const auto& each : module->named_parameters()) {
      if (seen.insert(each.value().unsafeGetTensorImpl()).second) {
        distinct.emplace_back(each.key(), each.value());
      }
    }
  }
  return distinct;
}

NamedTensors buffers_of(const Modules& modules) {
  NamedTensors buffers;
  for (const auto& module : modules) {
    for (const auto& each : module->named_buffers()) buffers.emplace_back(each.key(), each.value());
  }
  return buffers;
}

/// Gives the tensors their values back when it ends.
class KeptValues {
 public:
  explicit KeptValues(const NamedTensors& tensors) {
    for (const auto& [name, tensor] : tensors) {
      if (tensor.defined()) kept_.emplace_back(tensor, tensor.detach().clone());
    }
  }
  KeptValues(const KeptValues&) = delete;
  KeptValues& operator=(const KeptValues&) = delete;
  ~KeptValues() {
    // Not a copy: observers of ranges are resized by what they see.
    for (auto& [tensor, value] : kept_) tensor.set_data(value);
  }

 private:
  std::vector<std::pair<torch::Tensor, torch::Tensor>> kept_;
};

/// What a forward may read of the modules.
NamedTensors held_by(const Modules& modules) {
  auto held = distinct_parameters(modules);
  for (auto& buffer : buffers_of(modules)) held.push_back(std::move(buffer));
  return held;
}

/// Module::to would cast whole numbers as well.
void cast(torch::nn::Module& module, torch::ScalarType type) {
  if (type == torch::kFloat32) return;
  for (auto& tensor : module.parameters()) tensor.set_data(tensor.to(type));
  for (auto& tensor : module.buffers()) {
    if (tensor.is_floating_point()) tensor.set_data(tensor.to(type));
  }
}

double sum_of(const NamedTensors& parameters) {
  const torch::NoGradGuard no_gradients;
  double sum = 0;
  for (const auto& [name, tensor] : parameters) {
    sum += tensor.to(torch::kCPU).sum(torch::kFloat64).item<double>();
  }
  return sum;
}

double gradient_norm(const NamedTensors& parameters) {
  double squares = 0;
  for (const auto& [name, tensor] : parameters) {
    if (!tensor.grad().defined()) continue;
    const auto gradient =
        tensor.grad().is_sparse() ? tensor.grad().coalesce().values() : tensor.grad();
    squares += gradient.to(torch::kCPU).to(torch::kFloat64).pow(2).sum().item<double>();
  }
  return std::sqrt(squares);
}

}  // namespace

std::unique_ptr<Workload> build(const Definition& definition, Setup setup) {
  setup.batch = batch_of(definition, setup);
  torch::manual_seed(setup.seed);
  return definition.build(setup);
}

NetworkWorkload::NetworkWorkload(const Setup& setup)
    : setup_(setup),
      device_(setup.device == Device::cuda ? torch::kCUDA : torch::kCPU),
      draw_(setup.fill) {}

void NetworkWorkload::adopt(Modules modules) {
  modules_ = std::move(modules);
  if (setup_.fill == Fill::formula) {
    fill_by_formula(distinct_parameters(modules_), buffers_of(modules_));
  }
  for (const auto& module : modules_) {
    module->to(device_);
    cast(*module, storage_type(setup_.precision));
  }
  set_training(modules_, is_training());
}

torch::Tensor NetworkWorkload::place(const torch::Tensor& tensor) const {
  const auto type = storage_type(setup_.precision);
  const bool is_cast = type != torch::kFloat32 && tensor.is_floating_point();
  return is_cast ? tensor.to(device_, type) : tensor.to(device_);
}

std::vector<torch::Tensor> NetworkWorkload::parameters() const {
  std::vector<torch::Tensor> tensors;
  for (const auto& [name, tensor] : distinct_parameters(modules_)) tensors.push_back(tensor);
  return tensors;
}

Census NetworkWorkload::census() const {
  Census census;
  for (const auto& [name, tensor] : distinct_parameters(modules_)) {
    census.params_all += tensor.numel();
    if (tensor.requires_grad()) census.params_trainable += tensor.numel();
    ++census.param_tensors;
  }
  for (const auto& module : modules_) {
    for (const auto& buffer : module->buffers()) census.buffers += buffer.numel();
    for (const auto& part : module->modules()) {
      if (!part->parameters(/*recurse=*/false).empty()) ++census.modules[class_of(*part)];
    }
  }
  return census;
}

std::int64_t NetworkWorkload::compile() {
  if (setup_.backend == Backend::eager) return 0;
  const auto held = held_by(modules_);
  if (is_training()) {
    const KeptValues buffers(buffers_of(modules_));
    const auto traced = [this] { return NamedTensors{{"loss", loss()}}; };
    compiled_ = trained_graph(trace_of(traced, held, setup_.seed), parameters(), setup_.seed);
    return 0;
  }
  const torch::NoGradGuard no_gradients;
  auto trace = trace_of([this] { return forward(); }, held, setup_.seed);
  compiled_ = setup_.backend == Backend::torchscript
                  ? optimised_graph(std::move(trace), setup_.seed)
                  : packaged_model(std::move(trace), setup_.seed, setup_.package);
  iterate();
  if (!has_run_compiled_) {
    throw UnsupportedSetup("its iteration is more than one forward, which alone is traced");
  }
  // The graph has what it needs of them; an application that runs graphs has no network beside.
  for (const auto& [name, tensor] : held) tensor.set_data(torch::empty({0}, tensor.options()));
  return compiled_->bytes_outside();
}

void export_forward(Workload& workload, const std::string& folder) {
  auto* network = dynamic_cast<NetworkWorkload*>(&workload);
  if (network == nullptr) throw UnsupportedSetup("only networks have a graph");
  const torch::NoGradGuard no_gradients;
  const auto forward = [network] { return network->forward(); };
  save(trace_of(forward, held_by(network->modules_), network->setup_.seed), folder);
}

void NetworkWorkload::step() {
  iterate();
  if (is_training() && setup_.zero_gradients && !has_cleared_as_asked_) {
    throw UnsupportedSetup("this workload clears its gradients in a step of its own");
  }
  if (compiled_ && !has_run_compiled_) {
    throw UnsupportedSetup(
        "its step is more than one loss and its gradients, which alone is traced");
  }
}

void NetworkWorkload::iterate() {
  std::optional<Autocast> autocast;
  if (setup_.precision == Precision::amp) autocast.emplace(device_);
  if (is_training()) {
    train_step();
    return;
  }
  const torch::NoGradGuard no_gradients;
  if (!compiled_) {
    forward();
    return;
  }
  compiled_->run();
  has_run_compiled_ = true;
}

torch::Tensor NetworkWorkload::training_loss() {
  if (!compiled_) return loss();
  has_run_compiled_ = true;
  return compiled_->run().front().second;
}

void NetworkWorkload::train_step() {
  optimizer_->zero_grad(/*set_to_none=*/!setup_.zero_gradients);
  has_cleared_as_asked_ = true;
  const auto value = training_loss();
  value.backward();
  optimizer_->step();
  last_loss_ = value.detach();
}

double NetworkWorkload::last_loss() const {
  return last_loss_.defined() ? last_loss_.to(torch::kCPU).to(torch::kFloat64).item<double>() : 0.0;
}

std::vector<OutputFigures> NetworkWorkload::outputs() {
  const torch::NoGradGuard no_gradients;
  set_training(modules_, false);
  const bool is_graph = compiled_ && !is_training();
  auto figures = figures_of(is_graph ? compiled_->run() : forward());
  set_training(modules_, is_training());
  return figures;
}

void NetworkWorkload::reference_forward() {
  const torch::NoGradGuard no_gradients;
  set_training(modules_, false);
  counted_forward();
  set_training(modules_, is_training());
}

Values NetworkWorkload::values() {
  if (compiled_ && !is_training()) return {.outputs = outputs()};
  set_training(modules_, false);
  Values values;
  values.parameter_sum = sum_of(distinct_parameters(modules_));
  // The loss before the outputs: a forward of moco moves what the next one starts from.
  if (is_training()) {
    const auto value = loss();
    value.backward();
    values.loss = value.to(torch::kCPU).to(torch::kFloat64).item<double>();
    values.gradient_norm = gradient_norm(distinct_parameters(modules_));
  }
  const torch::NoGradGuard no_gradients;
  values.outputs = figures_of(forward());
  return values;
}

}  // namespace torchwatch::models
