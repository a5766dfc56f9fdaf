#pragma once

#include <string>
#include <variant>
#include <vector>

#include "item_errors.hpp"
#include "torchwatch/platform/http_client.hpp"

namespace torchwatch::test {

/// How a server answers, or why it does not.
using Refusal = std::variant<int, ErrorCode>;

/// Every status by which a server may refuse or fail, and every error about an item of work.
inline std::vector<Refusal> every_refusal() {
  std::vector<Refusal> all{301, 400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503};
  all.insert(all.end(), kItemErrors.begin(), kItemErrors.end());
  return all;
}

inline Result<platform::HttpResponse> refused(const Refusal& refusal) {
  if (const auto* code = std::get_if<ErrorCode>(&refusal)) return fail(*code, "planted");
  return platform::HttpResponse{
      .status = std::get<int>(refusal), .headers = {}, .body = R"({"message": "planted"})"};
}

inline std::string name_of(const Refusal& refusal) {
  if (const auto* code = std::get_if<ErrorCode>(&refusal)) return std::string(to_string(*code));
  return std::to_string(std::get<int>(refusal));
}

}  // namespace torchwatch::test
