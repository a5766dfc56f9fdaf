#include <charconv>
#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "torchwatch/models/registry.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

using nlohmann::json;

struct Options {
  const models::Entry* entry = nullptr;
  models::Setup setup{.preset = models::Preset::paper, .fill = models::Fill::formula};
  bool json = false;
};

Status apply_option(Options& options, const std::string& option, const std::string& value) {
  const auto wrong = [&](const char* allowed) {
    return fail(ErrorCode::invalid,
                "values: invalid " + option + " \"" + value + "\": must be " + allowed);
  };
  if (option == "--mode") {
    if (value != "infer" && value != "grad") return wrong("infer or grad");
    options.setup.mode = value == "grad" ? models::Mode::train : models::Mode::infer;
  } else if (option == "--preset") {
    if (value != "paper" && value != "small") return wrong("paper or small");
    options.setup.preset = value == "paper" ? models::Preset::paper : models::Preset::small;
  } else if (option == "--batch") {
    const auto* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, options.setup.batch);
    if (error != std::errc{} || stop != end || options.setup.batch < 1) {
      return wrong("a number from 1");
    }
  } else {
    return fail(ErrorCode::invalid, "values: unknown option " + option);
  }
  return {};
}

Result<Options> parse(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return fail(ErrorCode::invalid, "values needs a workload");
  Options options;
  options.entry = models::find(arguments[0]);
  if (options.entry == nullptr) return fail(ErrorCode::invalid, unknown_workload(arguments[0]));
  bool has_mode = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--json") {
      options.json = true;
      continue;
    }
    if (i + 1 == arguments.size()) {
      return fail(ErrorCode::invalid, "values: " + arguments[i] + " needs a value");
    }
    has_mode = has_mode || arguments[i] == "--mode";
    TW_TRY_VOID(apply_option(options, arguments[i], arguments[i + 1]));
    ++i;
  }
  if (!has_mode) return fail(ErrorCode::invalid, "values needs --mode infer or --mode grad");
  const auto reason = models::unsupported_reason(options.entry->definition, options.setup);
  if (!reason.empty()) return fail(ErrorCode::invalid, reason);
  return options;
}

json describe(const models::OutputFigures& output) {
  return {{"name", output.name},  {"shape", output.shape}, {"type", output.type},
          {"sum", output.sum},    {"mean", output.mean},   {"std", output.std},
          {"first", output.first}};
}

json describe(const models::Values& values, bool with_gradients) {
  json outputs = json::array();
  for (const auto& output : values.outputs) outputs.push_back(describe(output));
  json all = {{"parameter_sum", values.parameter_sum}, {"outputs", outputs}};
  if (with_gradients) {
    all["loss"] = values.loss;
    all["gradient_norm"] = values.gradient_norm;
  }
  return all;
}

}  // namespace

ExitStatus values_command(const Call& call) {
  const auto options = parse(call.arguments);
  if (!options) return wrong_use(call, options.error().text());
  set_threads(1);
  const auto workload = models::build(options->entry->definition, options->setup);
  const auto values = describe(workload->values(), options->setup.mode == models::Mode::train);
  call.out << values.dump(options->json ? 2 : 1) << "\n";
  return ExitStatus::done;
}

}  // namespace torchwatch::runner
