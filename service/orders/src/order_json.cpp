#include "order_json.hpp"

namespace torchwatch::orders {

using nlohmann::json;

std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<json> parse_object(std::string_view text) {
  constexpr int kDepthMax = 6;
  bool is_deep = false;
  const auto guard = [&](int depth, json::parse_event_t, json&) {
    is_deep = is_deep || depth > kDepthMax;
    return !is_deep;
  };
  auto object = json::parse(text, guard, false);
  if (is_deep || !object.is_object()) return {};
  return object;
}

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace torchwatch::orders
