#include "torchwatch/bisection/request.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace torchwatch::bisection {
namespace {

using nlohmann::json;

template <typename Value, typename Parse>
Status read_word(const json& object, const char* name, std::optional<Value>& to, Parse parse) {
  if (!object.contains(name)) return {};
  TW_TRY(to, parse(object.at(name).get<std::string>()));
  return {};
}

std::vector<Benchmark> named_benchmarks(const BisectionRequest& request) {
  std::vector<Benchmark> benchmarks;
  for (const auto& workload : request.workloads) {
    for (const auto mode : {Mode::train, Mode::infer}) {
      if (request.mode && *request.mode != mode) continue;
      benchmarks.push_back(Benchmark{workload,
                                     {request.device.value_or(Device::cpu), mode},
                                     request.variant.value_or(Variant{})});
    }
  }
  return benchmarks;
}

}  // namespace

Result<BisectionRequest> parse_bisection_request(const std::string& text) {
  try {
    const auto object = json::parse(text);
    BisectionRequest request;
    request.good = object.value("good", "");
    request.bad = object.value("bad", "");
    request.suspect = object.value("suspect", "");
    if (object.contains("workloads")) object.at("workloads").get_to(request.workloads);
    TW_TRY_VOID(read_word(object, "device", request.device, parse_device));
    TW_TRY_VOID(read_word(object, "mode", request.mode, parse_mode));
    TW_TRY_VOID(read_word(object, "variant", request.variant, parse_variant));
    TW_TRY_VOID(read_word(object, "metric", request.metric, parse_metric));
    return request;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::invalid, std::string("invalid bisection request: ") + exception.what());
  }
}

std::string to_json(const BisectionRequest& request) {
  json object{{"good", request.good},
              {"bad", request.bad},
              {"suspect", request.suspect},
              {"workloads", request.workloads}};
  if (request.device) object["device"] = to_string(*request.device);
  if (request.mode) object["mode"] = to_string(*request.mode);
  if (request.variant) object["variant"] = to_string(*request.variant);
  if (request.metric) object["metric"] = to_string(*request.metric);
  return object.dump();
}

std::vector<Series> named_series(const BisectionRequest& request) {
  std::vector<Series> all_series;
  for (const auto& benchmark : named_benchmarks(request)) {
    all_series.push_back({benchmark, request.metric.value_or(Metric::time)});
  }
  return all_series;
}

}  // namespace torchwatch::bisection
