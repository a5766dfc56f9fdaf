#include "torchwatch/bisection/spec.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "torchwatch/detect/memory_verdict.hpp"
#include "torchwatch/detect/output_verdict.hpp"
#include "torchwatch/documents/vocabulary_json.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::bisection {

using nlohmann::json;

double minimum_effect(const Series& series, double baseline_value,
                      const detect::Settings& settings) {
  const auto& [benchmark, metric] = series;
  if (metric == Metric::output_difference) {
    const auto tolerated = detect::tolerated_difference(benchmark.variant.precision, settings);
    return static_cast<double>(tolerated) / 2;
  }
  if (is_relative(metric)) return std::log1p(settings.threshold) / 2;
  const double of_value = !has_ratio(metric) ? 0 : settings.threshold * baseline_value;
  return std::max(of_value, static_cast<double>(detect::floor_bytes(metric, settings))) / 2;
}

static void to_json(json& to, const SearchedSeries& searched) {
  to = searched.series;
  to["noise_sd"] = searched.noise_sd;
  to["minimum_effect"] = searched.minimum_effect;
}
static void from_json(const json& from, SearchedSeries& searched) {
  from.get_to(searched.series);
  from.at("noise_sd").get_to(searched.noise_sd);
  from.at("minimum_effect").get_to(searched.minimum_effect);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BisectionSpec, good, bad, series, plan, cannot_change,
                                   confidence, builds_max, runs_max, verify_by_revert)

std::string to_json(const BisectionSpec& spec) {
  json object = spec;
  if (spec.base != 0) object["base"] = spec.base;
  if (!spec.base_folder.empty()) object["base_folder"] = spec.base_folder;
  if (spec.dispute) object["dispute"] = *spec.dispute;
  return stored_text(object);
}

Result<BisectionSpec> parse_bisection_spec(std::string_view text) {
  try {
    const auto object = json::parse(text);
    auto spec = object.get<BisectionSpec>();
    spec.base = object.value("base", storage::Id{0});
    spec.base_folder = object.value("base_folder", "");
    TW_TRY(spec.dispute, parse_dispute(text));
    return spec;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt,
                std::string("stored bisection specification: ") + exception.what());
  }
}

Result<std::string> base_folder(storage::Database& database, const BisectionSpec& spec) {
  if (spec.base == 0) return spec.base_folder;
  TW_TRY(auto build, storage::BuildStore(database).get(spec.base));
  return std::move(build.folder);
}

}  // namespace torchwatch::bisection
