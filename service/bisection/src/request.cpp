#include "torchwatch/bisection/request.hpp"

#include <nlohmann/json.hpp>

namespace torchwatch::bisection {
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
  return object.dump();
}

std::vector<Series> named_series(const BisectionRequest& request) {
  const auto& asked = request.selection;
  std::vector<Series> all_series;
  for (const auto& workload : asked.workloads) {
    for (const auto& configuration : or_default(asked.configurations, both_modes(Device::cpu))) {
      for (const auto& variant : or_default(asked.variants, {Variant{}})) {
        for (const auto metric : or_default(asked.metrics, {Metric::time})) {
          all_series.push_back({{workload, configuration, variant}, metric});
        }
      }
    }
  }
  return all_series;
}

}  // namespace torchwatch::bisection
