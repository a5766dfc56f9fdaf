#include "torchwatch/documents/vocabulary_json.hpp"

namespace torchwatch {

using nlohmann::json;

std::string stored_text(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

void to_json(json& to, const Configuration& configuration) {
  to = to_string(configuration);
}
void from_json(const json& from, Configuration& configuration) {
  configuration = parsed_or_throw(parse_configuration(from.get<std::string>()));
}

void to_json(json& to, const Variant& variant) {
  to = to_string(variant);
}
void from_json(const json& from, Variant& variant) {
  variant = parsed_or_throw(parse_variant(from.get<std::string>()));
}

void to_json(json& to, const Series& series) {
  to = series.benchmark;
  to["metric"] = series.metric;
}
void from_json(const json& from, Series& series) {
  from.get_to(series.benchmark);
  from.at("metric").get_to(series.metric);
}

}  // namespace torchwatch
