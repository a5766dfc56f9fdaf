#include "suite_options.hpp"

namespace torchwatch::cli {
namespace {

/// Leaves `list` as it is where nothing was said.
template <typename T>
Status replace(std::vector<T>& list, const std::vector<std::string>& texts,
               Result<T> (*parse)(std::string_view)) {
  if (texts.empty()) return {};
  list.clear();
  for (const auto& text : texts) {
    TW_TRY(const auto element, parse(text));
    list.push_back(element);
  }
  return {};
}

}  // namespace

void SuiteOptions::add_to(CLI::App& command) {
  command.add_option("--workload", workloads, "Only this workload");
  command.add_option("--configuration", configurations,
                     "Only this one: cpu-train, cpu-infer, cuda-train or cuda-infer");
  command.add_option("--variant", variants,
                     "In this precision (fp32, tf32, fp16, bf16, amp), batch=N, threads=N, joined "
                     "by commas");
  command.add_option("--preset", preset, "small (seconds on two cores) or paper (Table 1's sizes)");
}

Status SuiteOptions::apply(config::Config& config) const {
  if (!workloads.empty()) config.suite.workloads = workloads;
  if (!preset.empty()) {
    TW_TRY(config.suite.preset, parse_preset(preset));
  }
  TW_TRY_VOID(replace(config.suite.configurations, configurations, parse_configuration));
  return replace(config.suite.variants, variants, parse_variant);
}

}  // namespace torchwatch::cli
