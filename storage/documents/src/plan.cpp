#include "torchwatch/documents/plan.hpp"

namespace torchwatch::comparison {

using nlohmann::json;

std::string to_json(const Plan& plan) {
  return json(plan).dump();
}

Result<Plan> parse_plan(std::string_view text) {
  try {
    return json::parse(text).get<Plan>();
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, std::string("stored plan: ") + exception.what());
  }
}

}  // namespace torchwatch::comparison
