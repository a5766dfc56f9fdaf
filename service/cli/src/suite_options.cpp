#include "suite_options.hpp"

namespace torchwatch::cli {

void SuiteOptions::add_to(CLI::App& command) {
  command.add_option("--workload", workloads, "Only this workload; may be given again");
  command.add_option("--configuration", configurations,
                     "Only this one: cpu-train, cpu-infer, cuda-train, cuda-infer; again for more");
  command.add_option("--preset", preset, "small (seconds on two cores) or paper (Table 1's sizes)");
}

Status SuiteOptions::apply(config::Config& config) const {
  if (!workloads.empty()) config.suite.workloads = workloads;
  if (!preset.empty()) {
    TW_TRY(config.suite.preset, parse_preset(preset));
  }
  if (configurations.empty()) return {};
  config.suite.configurations.clear();
  for (const auto& text : configurations) {
    TW_TRY(const auto configuration, parse_configuration(text));
    config.suite.configurations.push_back(configuration);
  }
  return {};
}

}  // namespace torchwatch::cli
