#include "torchwatch/comparison/selection.hpp"

#include <algorithm>

#include "torchwatch/documents/vocabulary_json.hpp"

namespace torchwatch::comparison {
namespace {

using nlohmann::json;

template <typename T>
void put(json& object, const char* name, const std::vector<T>& values) {
  if (!values.empty()) object[name] = values;
}

template <typename T>
void take(const json& object, const char* name, std::vector<T>& values) {
  if (object.contains(name)) object.at(name).get_to(values);
}

/// The passes that give the metrics, in the plan's order.
std::vector<Pass> passes_for(const std::vector<Metric>& metrics, const std::vector<Pass>& all) {
  if (metrics.empty()) return all;
  std::vector<Pass> passes;
  std::ranges::copy_if(all, std::back_inserter(passes), [&](Pass pass) {
    return std::ranges::find(metrics, pass, pass_of) != metrics.end();
  });
  return passes;
}

}  // namespace

bool is_selected(const Selection& selection, Metric metric) {
  return selection.metrics.empty() ||
         std::ranges::find(selection.metrics, metric) != selection.metrics.end();
}

bool is_selected(const Selection& selection, const Series& series) {
  const auto& [workload, configuration, variant] = series.benchmark;
  const auto is_among = [](const auto& asked, const auto& value) {
    return asked.empty() || std::ranges::find(asked, value) != asked.end();
  };
  return is_among(selection.workloads, workload) &&
         is_among(selection.configurations, configuration) &&
         is_among(selection.variants, variant) && is_selected(selection, series.metric);
}

config::Config narrowed(config::Config config, const Selection& selection) {
  auto& suite = config.suite;
  if (!selection.workloads.empty()) suite.workloads = selection.workloads;
  if (!selection.configurations.empty()) suite.configurations = selection.configurations;
  if (!selection.variants.empty()) suite.variants = selection.variants;
  if (selection.preset) suite.preset = *selection.preset;
  return config;
}

Result<Plan> plan_of(Services& services, const Selection& selection) {
  TW_TRY(auto plan, plan_of_config(services, narrowed(services.config, selection)));
  TW_TRY_VOID(check_plan(services, plan));
  plan.passes = passes_for(selection.metrics, plan.passes);
  const bool may_have_outputs = plan.outputs || !selection.metrics.empty();
  plan.outputs = may_have_outputs && is_selected(selection, Metric::output_difference);
  return plan;
}

json to_json(const Selection& selection) {
  auto object = json::object();
  put(object, "workloads", selection.workloads);
  put(object, "configurations", selection.configurations);
  put(object, "variants", selection.variants);
  put(object, "metrics", selection.metrics);
  if (selection.preset) object["preset"] = *selection.preset;
  return object;
}

Result<Selection> parse_selection(const json& object) {
  try {
    Selection selection;
    take(object, "workloads", selection.workloads);
    take(object, "configurations", selection.configurations);
    take(object, "variants", selection.variants);
    take(object, "metrics", selection.metrics);
    if (object.contains("preset")) selection.preset = object.at("preset").get<Preset>();
    return selection;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::invalid, exception.what());
  }
}

}  // namespace torchwatch::comparison
