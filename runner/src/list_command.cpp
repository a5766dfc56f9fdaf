#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "commands.hpp"
#include "torchwatch/models/memory_estimate.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

using nlohmann::json;

bool has_fixed_batch(const models::Definition& definition) {
  return definition.batch_rule == models::BatchRule::fixed;
}

/// The setup to count in: inference, or training if the original has no inference; a batch of 1
/// where the batch is free.
models::Setup counted_setup(const models::Definition& definition) {
  const bool infers = definition.refusals.infer.empty();
  return {.mode = infers ? models::Mode::infer : models::Mode::train,
          .preset = models::Preset::paper,
          .batch = has_fixed_batch(definition) ? 0 : 1};
}

/// "1000:float32" for a 1-d output. Where the batch is free, a leading 1 stands for it:
/// "Bx1000:float32".
std::string describe(const models::OutputFigures& output, bool batch_is_free) {
  std::string text = output.name + (output.name.empty() ? "" : ":");
  for (std::size_t i = 0; i < output.shape.size(); ++i) {
    const bool is_batch = i == 0 && batch_is_free && output.shape[i] == 1;
    text += (i == 0 ? "" : "x") + (is_batch ? "B" : std::to_string(output.shape[i]));
  }
  return text + ":" + output.type;
}

/// Several outputs by name: "logits:Bx10:float32; ...".
std::string describe(const std::vector<models::OutputFigures>& outputs, bool batch_is_free) {
  std::string text;
  for (const auto& output : outputs) {
    text += (text.empty() ? "" : "; ") + describe(output, batch_is_free);
  }
  return text;
}

/// The precisions in which the workload can be measured as `request` asks.
json precisions_of(const models::Entry& entry, protocol::Request request) {
  json precisions = json::array();
  for (const auto precision :
       {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::amp}) {
    request.benchmark.variant.precision = precision;
    if (unsupported_reason(entry.definition, request).empty()) {
      precisions.push_back(to_string(precision));
    }
  }
  return precisions;
}

json configurations_of(const models::Entry& entry) {
  json configurations = json::array();
  for (const auto device : {Device::cpu, Device::cuda}) {
    for (const auto mode : {Mode::train, Mode::infer}) {
      protocol::Request request;
      request.benchmark.configuration = {device, mode};
      const auto reason = unsupported_reason(entry.definition, request);
      configurations.push_back({{"configuration", to_string(request.benchmark.configuration)},
                                {"supported", reason.empty()},
                                {"reason", reason},
                                {"precisions", precisions_of(entry, request)}});
    }
  }
  return configurations;
}

/// The bytes needed at the paper's sizes and batch, on a CPU; null if nothing was measured.
json memory_of(const models::Entry& entry, models::Mode mode) {
  const auto estimate =
      models::estimate_memory(entry, {.mode = mode, .preset = models::Preset::paper});
  return estimate ? json(estimate->resident) : json();
}

/// The facts known without building the network.
json registered(const models::Entry& entry) {
  const auto& definition = entry.definition;
  return {{"name", entry.name},
          {"domain", definition.domain},
          {"task", definition.task},
          {"train_batch", definition.paper.train},
          {"eval_batch", definition.paper.infer},
          {"small_cut", definition.cut},
          {"train_memory_bytes", memory_of(entry, models::Mode::train)},
          {"eval_memory_bytes", memory_of(entry, models::Mode::infer)},
          {"configurations", configurations_of(entry)}};
}

/// All facts; builds the network at the paper's sizes and runs it once.
json counted(const models::Entry& entry) {
  const auto& definition = entry.definition;
  json row = registered(entry);
  const auto workload = models::build(definition, counted_setup(definition));
  const auto census = workload->census();
  row["params_trainable"] = census.params_trainable;
  row["params_all"] = census.params_all;
  row["param_tensors"] = census.param_tensors;
  row["buffers"] = census.buffers;
  row["modules"] = census.modules;
  row["flops_forward_batch1"] = count_flops([&] { workload->reference_forward(); });
  row["outputs"] = describe(workload->outputs(), !has_fixed_batch(definition));
  return row;
}

constexpr int kNameWidth = 34;
constexpr int kDomainWidth = 24;

void print_counted(const json& rows, std::ostream& out) {
  out << std::left << std::setw(kNameWidth) << "workload" << std::setw(kDomainWidth) << "domain"
      << std::right << std::setw(14) << "parameters" << std::setw(18) << "forward flops"
      << "  outputs\n";
  for (const auto& row : rows) {
    out << std::left << std::setw(kNameWidth) << row["name"].get<std::string>()
        << std::setw(kDomainWidth) << row["domain"].get<std::string>() << std::right
        << std::setw(14) << row["params_trainable"].get<std::int64_t>() << std::setw(18)
        << row["flops_forward_batch1"].get<std::int64_t>() << "  "
        << row["outputs"].get<std::string>() << "\n";
  }
}

void print_registered(const json& rows, std::ostream& out) {
  for (const auto& row : rows) {
    out << std::left << std::setw(kNameWidth) << row["name"].get<std::string>()
        << std::setw(kDomainWidth) << row["domain"].get<std::string>()
        << row["task"].get<std::string>() << "\n";
  }
}

struct Options {
  bool json = false;
  bool registered = false;  ///< no network is built
  std::vector<const models::Entry*> entries;
};

Result<Options> parse(const std::vector<std::string>& arguments) {
  Options options;
  for (const auto& argument : arguments) {
    if (argument == "--json") {
      options.json = true;
      continue;
    }
    if (argument == "--registered") {
      options.registered = true;
      continue;
    }
    const auto* entry = models::find(argument);
    if (entry == nullptr) return fail(ErrorCode::invalid, unknown_workload(argument));
    options.entries.push_back(entry);
  }
  if (!options.entries.empty()) return options;
  for (const auto& entry : models::registry()) options.entries.push_back(&entry);
  return options;
}

}  // namespace

ExitStatus list_command(const Call& call) {
  const auto options = parse(call.arguments);
  if (!options) return wrong_use(call, options.error().text());
  set_threads(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  json rows = json::array();
  for (const auto* entry : options->entries)
    rows.push_back(options->registered ? registered(*entry) : counted(*entry));
  if (options->json) {
    call.out << json{{"workloads", rows}}.dump(2) << "\n";
  } else if (options->registered) {
    print_registered(rows, call.out);
  } else {
    print_counted(rows, call.out);
  }
  return ExitStatus::done;
}

}  // namespace torchwatch::runner
