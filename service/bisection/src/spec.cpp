#include "torchwatch/bisection/spec.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "torchwatch/comparison/benchmark_json.hpp"
#include "torchwatch/detect/memory_verdict.hpp"

namespace torchwatch::bisection {

using nlohmann::json;

bool is_relative(Metric metric) {
  return pass_of(metric) == Pass::timing;
}

double minimum_effect(Metric metric, double baseline_value, const detect::Settings& settings) {
  if (is_relative(metric)) return std::log1p(settings.threshold) / 2;
  const double of_value = is_leak(metric) ? 0 : settings.threshold * baseline_value;
  return std::max(of_value, static_cast<double>(detect::floor_bytes(metric, settings))) / 2;
}

std::string to_json(const BisectionSpec& spec) {
  json all_series = json::array();
  for (const auto& searched : spec.series) {
    auto item = comparison::series_to_json(searched.series);
    item["noise_sd"] = searched.noise_sd;
    item["minimum_effect"] = searched.minimum_effect;
    all_series.push_back(std::move(item));
  }
  return json{{"good", spec.good},
              {"bad", spec.bad},
              {"series", all_series},
              {"plan", json::parse(to_json(spec.plan))},
              {"cannot_change", spec.cannot_change},
              {"base_folder", spec.base_folder},
              {"confidence", spec.confidence},
              {"builds_max", spec.builds_max},
              {"runs_max", spec.runs_max},
              {"verify_by_revert", spec.verify_by_revert}}
      .dump();
}

Result<BisectionSpec> parse_bisection_spec(std::string_view text) {
  try {
    const auto object = json::parse(text);
    BisectionSpec spec;
    object.at("good").get_to(spec.good);
    object.at("bad").get_to(spec.bad);
    for (const auto& item : object.at("series")) {
      SearchedSeries searched;
      TW_TRY(searched.series, comparison::series_from_json(item));
      item.at("noise_sd").get_to(searched.noise_sd);
      item.at("minimum_effect").get_to(searched.minimum_effect);
      spec.series.push_back(std::move(searched));
    }
    TW_TRY(spec.plan, comparison::parse_plan(object.at("plan").dump()));
    object.at("cannot_change").get_to(spec.cannot_change);
    object.at("base_folder").get_to(spec.base_folder);
    object.at("confidence").get_to(spec.confidence);
    object.at("builds_max").get_to(spec.builds_max);
    object.at("runs_max").get_to(spec.runs_max);
    object.at("verify_by_revert").get_to(spec.verify_by_revert);
    return spec;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt,
                std::string("stored bisection specification: ") + exception.what());
  }
}

}  // namespace torchwatch::bisection
