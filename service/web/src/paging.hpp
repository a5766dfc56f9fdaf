#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exchange.hpp"

namespace torchwatch::web {

/// Which part of a list is asked for: at most `limit` entries with an id below `before`.
struct Page {
  int limit = 50;
  std::int64_t before = INT64_MAX;
};

/// From ?limit= (1 to 200) and ?before=. Errors: invalid, also for any other parameter.
Result<Page> page_of(const Request&);

/// Errors: invalid when there is any parameter at all.
Status refuse_parameters(const Request&);

/// A positive id from the path; not_found when it is none.
Result<std::int64_t> id_of(const Request&);

/// {"<name>": entries, "next": the `before` of the next page or null}.
Reply list_reply(const char* name, nlohmann::json entries, const Page&);

/// 200 with a JSON object.
Reply object_reply(const nlohmann::json&);

}  // namespace torchwatch::web
