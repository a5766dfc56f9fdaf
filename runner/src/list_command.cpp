#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "torchwatch/models/registry.hpp"
#include "torchwatch/runner/libtorch.hpp"
#include "torchwatch/runner/measure.hpp"

namespace torchwatch::runner {
namespace {

using nlohmann::json;

/// Not a size of any network, so that the batch is recognised among an output's dimensions.
constexpr int kTellingBatch = 3;

bool has_fixed_batch(const models::Definition& definition) {
  return definition.batch_rule == models::BatchRule::fixed;
}

models::Setup inference(const models::Definition& definition, int batch) {
  models::Setup setup{.mode = models::Mode::infer, .preset = models::Preset::paper};
  setup.batch = has_fixed_batch(definition) ? 0 : batch;
  return setup;
}

/// "Bx1000:float32", B being the batch; several outputs by name: "logits:Bx10:float32; ...".
std::string describe(const std::vector<models::OutputFigures>& outputs, int batch) {
  std::string text;
  for (const auto& output : outputs) {
    std::string shape;
    for (std::size_t i = 0; i < output.shape.size(); ++i) {
      const auto size = output.shape[i];
      shape += (i == 0 ? "" : "x") + (size == batch && i == 0 ? "B" : std::to_string(size));
    }
    text += (text.empty() ? "" : "; ") + output.name + (output.name.empty() ? "" : ":") + shape +
            ":" + output.type;
  }
  return text;
}

json configurations_of(const models::Entry& entry) {
  json configurations = json::array();
  for (const auto device : {Device::cpu, Device::cuda}) {
    for (const auto mode : {Mode::train, Mode::infer}) {
      protocol::Request request;
      request.cell.configuration = {device, mode};
      const auto reason = unsupported_reason(entry.definition, request);
      configurations.push_back({{"configuration", to_string(request.cell.configuration)},
                                {"supported", reason.empty()},
                                {"reason", reason}});
    }
  }
  return configurations;
}

json describe(const models::Entry& entry) {
  const auto& definition = entry.definition;
  json row = {{"name", entry.name},
              {"domain", definition.domain},
              {"task", definition.task},
              {"train_batch", definition.paper.train},
              {"eval_batch", definition.paper.infer},
              {"configurations", configurations_of(entry)}};
  {
    const auto workload = models::build(definition, inference(definition, kTellingBatch));
    const auto census = workload->census();
    row["params_trainable"] = census.params_trainable;
    row["params_all"] = census.params_all;
    row["param_tensors"] = census.param_tensors;
    row["buffers"] = census.buffers;
    row["outputs"] = describe(workload->outputs(), has_fixed_batch(definition) ? 0 : kTellingBatch);
  }
  const auto one = models::build(definition, inference(definition, 1));
  row["flops_forward_batch1"] = count_forward_flops(*one);
  return row;
}

void print_table(const json& rows, std::ostream& out) {
  out << std::left << std::setw(26) << "workload" << std::setw(24) << "domain" << std::right
      << std::setw(14) << "parameters" << std::setw(18) << "forward flops" << "  outputs\n";
  for (const auto& row : rows) {
    out << std::left << std::setw(26) << row["name"].get<std::string>() << std::setw(24)
        << row["domain"].get<std::string>() << std::right << std::setw(14)
        << row["params_trainable"].get<std::int64_t>() << std::setw(18)
        << row["flops_forward_batch1"].get<std::int64_t>() << "  "
        << row["outputs"].get<std::string>() << "\n";
  }
}

}  // namespace

ExitStatus list_command(const Call& call) {
  const bool as_json = call.arguments == std::vector<std::string>{"--json"};
  if (!as_json && !call.arguments.empty()) return wrong_use(call, "list takes only --json");
  set_threads(1);
  json rows = json::array();
  for (const auto& entry : models::registry()) rows.push_back(describe(entry));
  if (as_json) {
    call.out << json{{"workloads", rows}}.dump(2) << "\n";
  } else {
    print_table(rows, call.out);
  }
  return ExitStatus::done;
}

}  // namespace torchwatch::runner
