#include "torchwatch/documents/request.hpp"

#include <nlohmann/json.hpp>

namespace torchwatch::requests {

std::string kind_text(const storage::RequestRow& row) {
  const auto body = nlohmann::json::parse(row.body_json, nullptr, false);
  const bool names_builds = row.kind == storage::RequestKind::nightly && body.is_object() &&
                            (body.contains("candidate") || body.contains("pull"));
  if (!names_builds) return std::string(to_string(row.kind));
  return body.contains("passes") ? "measurement" : "comparison";
}

}  // namespace torchwatch::requests
