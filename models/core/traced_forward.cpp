#include "traced_forward.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <string_view>

#include "torchwatch/models/memory_estimate.hpp"

namespace torchwatch::models {
namespace {

namespace jit = torch::jit;

/// The first run records shapes, the second compiles for them; from the third on all are alike.
constexpr int kRunsUntilOptimised = 3;

/// How often this thread's operators have handed a tensor's value to the program.
thread_local int values_read = 0;

std::unique_ptr<at::ObserverContext> count_value_read(const at::RecordFunction& function) {
  if (std::string_view(function.name()) == "aten::_local_scalar_dense") ++values_read;
  return nullptr;
}

/// Counts the values that the program reads while it lives: what it decides by them is not in a
/// trace.
class ValueReads {
 public:
  ValueReads()
      : callback_(at::addThreadLocalCallback(
            at::RecordFunctionCallback(count_value_read).scopes({at::RecordScope::FUNCTION}))),
        before_(values_read) {}
  ValueReads(const ValueReads&) = delete;
  ValueReads& operator=(const ValueReads&) = delete;
  ~ValueReads() { at::removeCallback(callback_); }

  int count() const { return values_read - before_; }

 private:
  at::CallbackHandle callback_;
  int before_;
};

c10::IValue tuple_of(const NamedTensors& named) {
  std::vector<c10::IValue> tensors;
  for (const auto& [name, tensor] : named) tensors.emplace_back(tensor);
  return c10::ivalue::Tuple::create(std::move(tensors));
}

/// A module that holds the tensors, under names of its own: those of several networks may agree.
jit::Module holder_of(const NamedTensors& held) {
  jit::Module module("Traced");
  module.register_attribute("training", c10::BoolType::get(), false);
  int index = 0;
  for (const auto& [name, tensor] : held) {
    if (!tensor.defined()) continue;
    const auto own_name = "held_" + std::to_string(index++);
    if (tensor.requires_grad()) {
      module.register_parameter(own_name, tensor, /*is_buffer=*/false);
    } else {
      module.register_buffer(own_name, tensor);
    }
  }
  return module;
}

/// One element is a number that the forward made for itself.
bool is_input(const torch::Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 1;
}

/// Makes inputs of the tensors that the trace took for constants, and returns them.
std::vector<c10::IValue> take_inputs(jit::Graph& graph) {
  std::vector<c10::IValue> inputs;
  std::map<const void*, jit::Value*> known;
  for (auto* node : graph.nodes()) {
    if (node->kind() != c10::prim::Constant || node->outputs().size() != 1) continue;
    const auto value = jit::toIValue(node->output());
    if (!value || !value->isTensor() || !is_input(value->toTensor())) continue;
    auto& input = known[value->toTensor().unsafeGetTensorImpl()];
    if (input == nullptr) {
      input = graph.addInput()->setType(c10::TensorType::get());
      inputs.push_back(*value);
    }
    node->output()->replaceAllUsesWith(input);
  }
  jit::EliminateDeadCode(graph.block());
  return inputs;
}

bool are_close(const torch::Tensor& expected, const torch::Tensor& found) {
  if (expected.sizes() != found.sizes() || expected.scalar_type() != found.scalar_type()) {
    return false;
  }
  if (!expected.is_floating_point() || expected.numel() == 0) return expected.equal(found);
  const bool is_short = expected.element_size() < 4;
  const auto exact = expected.to(torch::kFloat64);
  const auto difference = (exact - found.to(torch::kFloat64)).abs().max().item<double>();
  return difference <= (is_short ? 2e-2 : 1e-3) * exact.abs().max().item<double>();
}

void require_same(const NamedTensors& expected, const NamedTensors& found) {
  const auto fits = [](const auto& one, const auto& other) {
    return are_close(one.second, other.second);
  };
  const bool same = std::ranges::equal(expected, found, fits);
  if (!same) throw UnsupportedSetup("its TorchScript graph computes other values than eager mode");
}

/// What went wrong, without stacks and addresses: the first line, or that of the operator that
/// failed in a graph.
std::string reason_of(const std::exception& error) {
  const std::string text = error.what();
  constexpr std::string_view kOfOperator = "\nRuntimeError: ";
  const auto at = text.find(kOfOperator);
  const auto begin = at == std::string::npos ? 0 : at + kOfOperator.size();
  const auto line = text.substr(begin, text.find('\n', begin) - begin);
  return std::regex_replace(line, std::regex(" object at 0x[0-9a-f]+"), "");
}

}  // namespace

TracedForward::TracedForward(const Forward& forward, const NamedTensors& held, std::uint64_t seed)
    : module_(holder_of(held)) {
  try {
    torch::manual_seed(seed);
    const auto expected = trace(forward);
    optimise();
    torch::manual_seed(seed);
    require_same(expected, run());
  } catch (const UnsupportedSetup&) {
    throw;
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw;
    throw UnsupportedSetup("TorchScript cannot take it: " + reason_of(error));
  }
}

NamedTensors TracedForward::trace(const Forward& forward) {
  NamedTensors outputs;
  const auto as_stack = [&](const jit::Stack&) {
    outputs = forward();
    return jit::Stack{tuple_of(outputs)};
  };
  const auto no_name = [](const torch::Tensor&) { return std::string(); };
  const ValueReads reads;
  const auto traced = jit::tracer::trace({}, as_stack, no_name, /*strict=*/false,
                                         /*force_outplace=*/false, &module_);
  if (reads.count() > 0) {
    throw UnsupportedSetup("its forward reads values of tensors (" + std::to_string(reads.count()) +
                           "), which a trace would freeze");
  }
  const auto graph = traced.first->graph;
  inputs_ = take_inputs(*graph);
  // From here on the tensors are the graph's own, whatever becomes of the network's.
  for (const auto& each : module_.named_attributes(/*recurse=*/false)) {
    if (each.value.isTensor()) module_.setattr(each.name, each.value.toTensor().detach());
  }
  module_.type()->addMethod(module_._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module_.type()->name(), "forward"), graph));
  for (const auto& [name, tensor] : outputs) names_.push_back(name);
  return outputs;
}

void TracedForward::optimise() {
  const auto traced = module_;
  const auto settle = [this] {
    for (int i = 0; i < kRunsUntilOptimised; ++i) run();
  };
  try {
    module_ = jit::optimize_for_inference(module_);
    settle();
  } catch (const std::exception&) {
    // oneDNN's layout, which that chooses for convolutions, lacks some operators.
    module_ = jit::freeze(traced);
    settle();
  }
}

NamedTensors TracedForward::run() {
  const auto result = module_.forward(inputs_);
  NamedTensors outputs;
  auto name = names_.begin();
  for (const auto& each : result.toTupleRef().elements()) {
    outputs.emplace_back(*name++, each.toTensor());
  }
  return outputs;
}

}  // namespace torchwatch::models
