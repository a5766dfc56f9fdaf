#include "torchwatch/commands/selection_options.hpp"

#include <ostream>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/records/words.hpp"
#include "torchwatch/requests/check.hpp"

namespace torchwatch::commands {
namespace {

template <typename T>
Result<std::vector<T>> parsed(const std::vector<std::string>& texts,
                              Result<T> (*parse)(std::string_view)) {
  std::vector<T> values;
  for (const auto& text : texts) {
    TW_TRY(values.emplace_back(), parse(text));
  }
  return values;
}

std::string default_of(const std::string& key, Otherwise otherwise) {
  return "; default: " + (otherwise == Otherwise::all ? "all" : "[suite] " + key);
}

}  // namespace

std::string judged_metrics() {
  std::string words;
  for (const auto& word : Words<Metric>::kAll) {
    if (!is_judged(word.value)) continue;
    words.append(words.empty() ? "" : ", ").append(word.spelling);
  }
  return words;
}

void SelectionOptions::add_to(CLI::App& command, Otherwise otherwise) {
  command.add_option("--workload", workloads_,
                     "Only this workload, such as resnet18" + default_of("workloads", otherwise));
  auto* configuration =
      command.add_option("--configuration", configurations_,
                         "Only this one: cpu-train, cpu-infer, cuda-train or cuda-infer" +
                             default_of("configurations", otherwise));
  command.add_option("--variant", variants_,
                     "Only this variant: a precision (fp32, tf32, fp16, bf16, amp), a backend "
                     "(torchscript, aot_inductor), batch=N, threads=N, joined by commas; "
                     "operator=NAME measures that operator of LibTorch alone" +
                         default_of("variants", otherwise));
  command
      .add_option("--device", device_,
                  "cpu or cuda: both configurations of that device; cpu if only --mode is given")
      ->excludes(configuration);
  command.add_option("--mode", mode_, "train or infer: only that configuration of the device")
      ->excludes(configuration);
}

void SelectionOptions::add_metric_to(CLI::App& command) {
  command.add_option("--metric", metrics_,
                     "Only this metric: " + judged_metrics() +
                         "; default: all, the last one where [measure] outputs is set");
}

void SelectionOptions::add_preset_to(CLI::App& command) {
  command.add_option("--preset", preset_,
                     "small (seconds on two cores) or paper (TorchBench's sizes); default: [suite] "
                     "preset");
}

Result<std::vector<Configuration>> SelectionOptions::configurations() const {
  if (!configurations_.empty()) return parsed(configurations_, parse_configuration);
  std::vector<Configuration> configurations;
  if (device_.empty() && mode_.empty()) return configurations;
  TW_TRY(const auto device, parse_device(device_.empty() ? "cpu" : device_));
  for (const auto mode : {Mode::train, Mode::infer}) configurations.push_back({device, mode});
  if (mode_.empty()) return configurations;
  TW_TRY(const auto mode, parse_mode(mode_));
  return std::vector<Configuration>{{device, mode}};
}

Result<comparison::Selection> SelectionOptions::selection() const {
  comparison::Selection selection;
  selection.workloads = workloads_;
  TW_TRY(selection.configurations, configurations());
  TW_TRY(selection.variants, parsed(variants_, parse_variant));
  TW_TRY(selection.metrics, parsed(metrics_, parse_judged_metric));
  if (!preset_.empty()) {
    TW_TRY(const auto preset, parse_preset(preset_));
    selection.preset = preset;
  }
  return selection;
}

Status SelectionOptions::apply(config::Config& config) const {
  TW_TRY(const auto asked, selection());
  config = comparison::narrowed(std::move(config), asked);
  return {};
}

void warn_of_unknown_workloads(const Invocation& invocation, const config::Config& config,
                               const comparison::Selection& selection) {
  comparison::Selection named;
  named.workloads = selection.workloads;
  const auto checked = check_selection(config, named);
  if (!checked) invocation.err << "torchwatch: warning: " << checked.error().text() << '\n';
}

Status check_selection(const config::Config& config, const comparison::Selection& selection) {
  std::vector<std::string> workloads;
  if (!selection.workloads.empty()) {
    TW_TRY(workloads, daemon::suite_workloads(config));
  }
  return requests::check_selection(
      {.config = config, .workloads = std::move(workloads), .has_gpu = requests::has_gpu()},
      selection);
}

Status check_measured(const config::Config& config, const comparison::Selection& selection) {
  TW_TRY_VOID(check_selection(config, selection));
  return requests::check_measured({.config = config, .has_gpu = requests::has_gpu()}, selection);
}

}  // namespace torchwatch::commands
