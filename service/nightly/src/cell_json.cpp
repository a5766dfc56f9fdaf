#include "cell_json.hpp"

namespace torchwatch::nightly {

using nlohmann::json;

json cell_to_json(const Cell& cell) {
  return json{{"workload", cell.workload},
              {"configuration", to_string(cell.configuration)},
              {"variant", to_string(cell.variant)}};
}

Result<Cell> cell_from_json(const json& object) {
  Cell cell;
  cell.workload = object.at("workload").get<std::string>();
  TW_TRY(cell.configuration, parse_configuration(object.at("configuration").get<std::string>()));
  TW_TRY(cell.variant, parse_variant(object.at("variant").get<std::string>()));
  return cell;
}

json target_to_json(const Target& target) {
  json object = cell_to_json(target.cell);
  object["metric"] = to_string(target.metric);
  return object;
}

Result<Target> target_from_json(const json& object) {
  Target target;
  TW_TRY(target.cell, cell_from_json(object));
  TW_TRY(target.metric, parse_metric(object.at("metric").get<std::string>()));
  return target;
}

}  // namespace torchwatch::nightly
