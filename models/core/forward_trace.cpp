#include <fstream>
#include <map>
#include <string_view>

#include "compiled_forward.hpp"
#include "refusal.hpp"

namespace torchwatch::models {
namespace {

namespace jit = torch::jit;

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

/// Makes the method of the trace's module; returns its graph.
std::shared_ptr<jit::Graph> add_forward(Trace& trace,
                                        const std::function<NamedTensors()>& forward) {
  const auto as_stack = [&](const jit::Stack&) {
    trace.outputs = forward();
    return jit::Stack{tuple_of(trace.outputs)};
  };
  const auto no_name = [](const torch::Tensor&) { return std::string(); };
  const ValueReads reads;
  const auto traced = jit::tracer::trace({}, as_stack, no_name, /*strict=*/false,
                                         /*force_outplace=*/false, &trace.module);
  if (reads.count() > 0) {
    throw UnsupportedSetup("its forward reads values of tensors (" + std::to_string(reads.count()) +
                           "), which a trace would freeze");
  }
  return traced.first->graph;
}

}  // namespace

void keep_apart(jit::Module& module) {
  for (const auto& each : module.named_attributes(/*recurse=*/false)) {
    if (each.value.isTensor()) module.setattr(each.name, each.value.toTensor().detach());
  }
}

Trace trace_of(const std::function<NamedTensors()>& forward, const NamedTensors& held,
               std::uint64_t seed) {
  return or_refusal("TorchScript cannot take it", [&] {
    Trace trace{.module = holder_of(held), .inputs = {}, .outputs = {}};
    torch::manual_seed(seed);
    const auto graph = add_forward(trace, forward);
    trace.inputs = take_inputs(*graph);
    const auto& module = trace.module;
    module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(
        c10::QualifiedName(*module.type()->name(), "forward"), graph));
    return trace;
  });
}

void save(Trace trace, const std::string& folder) {
  keep_apart(trace.module);
  // What depends on no input is a constant for PyTorch's exporter, and refused where it is changed.
  jit::RemoveTensorMutation(trace.module.get_method("forward").graph());
  trace.module.save(folder + "/graph.pt");
  const auto inputs = torch::pickle_save(c10::ivalue::Tuple::create(trace.inputs));
  std::ofstream file(folder + "/inputs.pt", std::ios::binary);
  file.write(inputs.data(), static_cast<std::streamsize>(inputs.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + folder + "/inputs.pt");
}

}  // namespace torchwatch::models
