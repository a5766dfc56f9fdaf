#include "torchwatch/requests/bisection_request.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/documents/vocabulary_json.hpp"

namespace torchwatch::requests {
namespace {

using nlohmann::json;

std::vector<Configuration> both_modes(Device device) {
  return {{device, Mode::train}, {device, Mode::infer}};
}

/// Takes the members over that name one thing each.
Status take_single(const json& object, comparison::Selection& selection) {
  const auto text = [&](const char* name) { return object.value(name, std::string()); };
  if (object.contains("device") || object.contains("mode")) {
    TW_TRY(const auto device, parse_device(object.value("device", "cpu")));
    selection.configurations = both_modes(device);
    if (object.contains("mode")) {
      TW_TRY(const auto mode, parse_mode(text("mode")));
      selection.configurations = {{device, mode}};
    }
  }
  if (object.contains("variant")) {
    TW_TRY(const auto variant, parse_variant(text("variant")));
    selection.variants = {variant};
  }
  if (object.contains("metric")) {
    TW_TRY(const auto metric, parse_judged_metric(text("metric")));
    selection.metrics = {metric};
  }
  return {};
}

template <typename T>
std::vector<T> or_default(const std::vector<T>& asked, std::vector<T> otherwise) {
  return asked.empty() ? std::move(otherwise) : asked;
}

std::vector<Configuration> configurations_of(const config::ExternalWorkload& workload) {
  std::vector<Configuration> configurations;
  for (const auto mode : workload.modes) configurations.push_back({workload.device, mode});
  return configurations;
}

/// Returns the words of the values: "cpu-train, cpu-infer".
template <typename T>
std::string listed(const std::vector<T>& values) {
  std::string text;
  for (const auto& value : values)
    text += (text.empty() ? "" : ", ") + std::string(to_string(value));
  return text;
}

/// Refuses what an external workload is never measured for.
Status require_stated(const config::ExternalWorkload& workload, Configuration configuration,
                      Metric metric) {
  const auto configurations = configurations_of(workload);
  if (std::ranges::find(configurations, configuration) == configurations.end()) {
    return fail(ErrorCode::invalid,
                "workload " + workload.name + " is not measured in " + to_string(configuration),
                "its [[suite.external]] names " + listed(configurations));
  }
  if (std::ranges::find(workload.metrics, metric) == workload.metrics.end()) {
    return fail(ErrorCode::invalid,
                "workload " + workload.name + " does not state " + std::string(to_string(metric)),
                "its [[suite.external]] names the metrics " + listed(workload.metrics));
  }
  return {};
}

}  // namespace

Result<BisectionRequest> parse_bisection_request(const std::string& text) {
  try {
    const auto object = json::parse(text);
    BisectionRequest request;
    request.good = object.value("good", "");
    request.bad = object.value("bad", "");
    request.suspect = object.value("suspect", "");
    TW_TRY(request.selection, comparison::parse_selection(object));
    TW_TRY_VOID(take_single(object, request.selection));
    return request;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::invalid, std::string("invalid bisection request: ") + exception.what());
  }
}

std::string to_json(const BisectionRequest& request) {
  auto object = comparison::to_json(request.selection);
  if (!request.good.empty()) object["good"] = request.good;
  if (!request.bad.empty()) object["bad"] = request.bad;
  if (!request.suspect.empty()) object["suspect"] = request.suspect;
  return stored_text(object);
}

Result<std::vector<Series>> named_series(const config::Config& config,
                                         const BisectionRequest& request) {
  const auto& asked = request.selection;
  std::vector<Series> all_series;
  for (const auto& workload : asked.workloads) {
    const auto* external = comparison::external_workload(config, workload);
    const auto otherwise =
        external == nullptr ? both_modes(Device::cpu) : configurations_of(*external);
    for (const auto& configuration : or_default(asked.configurations, otherwise)) {
      for (const auto metric : or_default(asked.metrics, {Metric::time})) {
        if (external != nullptr) TW_TRY_VOID(require_stated(*external, configuration, metric));
        for (const auto& variant : or_default(asked.variants, {Variant{}})) {
          all_series.push_back({{workload, configuration, variant}, metric});
        }
      }
    }
  }
  std::set<Series> seen;
  std::erase_if(all_series, [&](const Series& each) { return !seen.insert(each).second; });
  return all_series;
}

}  // namespace torchwatch::requests
