#include "torchwatch/nightly/search_order.hpp"

#include <nlohmann/json.hpp>

#include "cell_json.hpp"

namespace torchwatch::nightly {

using nlohmann::json;

bool is_relative(Metric metric) { return pass_of(metric) == Pass::timing; }

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
