#include "row_json.hpp"

#include <cmath>

#include "torchwatch/doors/clock.hpp"

namespace torchwatch::web {

using nlohmann::json;

json json_of(const Target& target) {
  return {{"workload", target.cell.workload},
          {"configuration", to_string(target.cell.configuration)},
          {"variant", to_string(target.cell.variant)},
          {"metric", to_string(target.metric)}};
}

json embedded(const std::string& text) {
  json value = text.empty() ? json(nullptr) : json::parse(text, nullptr, false);
  return value.is_discarded() ? json(nullptr) : value;
}

json time_of(storage::WallMillis at) {
  return at == 0 ? json(nullptr) : json(doors::iso_utc(at));
}

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json number_or_null(double value) {
  return value == 0 || !std::isfinite(value) ? json(nullptr) : json(value);
}

json interval_of(double low, double high) {
  const bool is_known = std::isfinite(low) && std::isfinite(high) && high > 0;
  return is_known ? json::array({low, high}) : json(nullptr);
}

}  // namespace torchwatch::web
