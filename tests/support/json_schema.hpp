#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace torchwatch::test {

/// What of `value` breaks `schema`, each with the place ("/labels/0: is a number, not string");
/// empty when nothing does. Knows the parts of OpenAPI 3.0's JSON Schema that our descriptions
/// use: $ref into `document`, type, nullable, enum, required, properties, additionalProperties,
/// items, oneOf, anyOf, allOf, lengths, item counts, minimum, maximum, pattern.
std::vector<std::string> schema_violations(const nlohmann::json& document,
                                           const nlohmann::json& schema,
                                           const nlohmann::json& value,
                                           const std::string& where = "");

/// `node` itself, or what its $ref leads to.
const nlohmann::json& resolved(const nlohmann::json& document, const nlohmann::json& node);

}  // namespace torchwatch::test
