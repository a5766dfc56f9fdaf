#include "torchwatch/nightly/search_order.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cell_json.hpp"

namespace torchwatch::nightly {

using nlohmann::json;

namespace {

std::int64_t floor_bytes(Metric metric, const detect::Settings& settings) {
  switch (metric) {
    case Metric::leak_growth:
      return settings.growth_floor_bytes;
    case Metric::leak_retained:
      return settings.retained_floor_bytes;
    case Metric::heap_growth:
      return settings.heap_growth_floor_bytes;
    case Metric::cpu_peak_resident:
      return settings.resident_floor_bytes;
    default:
      return settings.memory_floor_bytes;
  }
}

}  // namespace

bool is_relative(Metric metric) {
  return pass_of(metric) == Pass::timing;
}

double minimum_effect(Metric metric, double baseline_value, const detect::Settings& settings) {
  if (is_relative(metric)) return std::log1p(settings.threshold) / 2;
  const double of_value = is_leak(metric) ? 0 : settings.threshold * baseline_value;
  return std::max(of_value, static_cast<double>(floor_bytes(metric, settings))) / 2;
}

std::string to_json(const SearchOrder& order) {
  json targets = json::array();
  for (const auto& searched : order.targets) {
    auto item = target_to_json(searched.target);
    item["noise_sd"] = searched.noise_sd;
    item["minimum_effect"] = searched.minimum_effect;
    targets.push_back(std::move(item));
  }
  return json{{"good", order.good},
              {"bad", order.bad},
              {"targets", targets},
              {"plan", json::parse(to_json(order.plan))},
              {"cannot_change", order.cannot_change},
              {"base_folder", order.base_folder},
              {"confidence", order.confidence},
              {"builds_max", order.builds_max},
              {"runs_max", order.runs_max},
              {"verify_by_revert", order.verify_by_revert}}
      .dump();
}

Result<SearchOrder> parse_search_order(std::string_view text) {
  try {
    const auto object = json::parse(text);
    SearchOrder order;
    object.at("good").get_to(order.good);
    object.at("bad").get_to(order.bad);
    for (const auto& item : object.at("targets")) {
      SearchedTarget searched;
      TW_TRY(searched.target, target_from_json(item));
      item.at("noise_sd").get_to(searched.noise_sd);
      item.at("minimum_effect").get_to(searched.minimum_effect);
      order.targets.push_back(std::move(searched));
    }
    TW_TRY(order.plan, parse_plan(object.at("plan").dump()));
    object.at("cannot_change").get_to(order.cannot_change);
    object.at("base_folder").get_to(order.base_folder);
    object.at("confidence").get_to(order.confidence);
    object.at("builds_max").get_to(order.builds_max);
    object.at("runs_max").get_to(order.runs_max);
    object.at("verify_by_revert").get_to(order.verify_by_revert);
    return order;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, std::string("stored search order: ") + exception.what());
  }
}

}  // namespace torchwatch::nightly
