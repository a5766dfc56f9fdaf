#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/http/exchange.hpp"

namespace torchwatch::http {

/// A part of a list: at most `limit` entries with an id below `before`, newest first.
struct Page {
  int limit = 50;
  std::int64_t before = INT64_MAX;
};

/// Reads ?limit= (1 to 200) and ?before=. Errors: invalid, also for any other parameter.
Result<Page> page_of(const Request&);

/// Accepts no query at all. Errors: invalid.
Status refuse_parameters(const Request&);

/// Reads the path parameter "id", a positive number. Errors: not_found.
Result<std::int64_t> id_of(const Request&);

/// Makes 200 with {"<name>": entries, "next": the next page's `before`, or null}. Entries have an
/// "id".
Reply list_reply(const char* name, nlohmann::json entries, const Page&);

/// Makes 200 with a JSON object.
Reply object_reply(const nlohmann::json&);

}  // namespace torchwatch::http
