#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/http/exchange.hpp"

namespace torchwatch::http {

/// A part of a list: at most `limit` entries with an id below `before`, newest first.
struct Page {
  int limit = 50;
  std::int64_t before = INT64_MAX;
  std::map<std::string, std::string> filters;  ///< those that were given
  std::string path = {};                       ///< of the list

  /// Returns whether no filter of that name was given, or one that is equal to the value.
  bool admits(const std::string& filter, std::string_view value) const;
};

/// Reads ?limit= (1 to 200), ?before= and the filters that the list knows. Errors: invalid, also
/// for any other parameter.
Result<Page> page_of(const Request&, std::initializer_list<std::string_view> filters = {});

/// The days that ?from= and ?to= name, both included, in UTC, in milliseconds since 1970.
struct Days {
  std::int64_t from = 0;
  std::int64_t until = INT64_MAX;  ///< the first moment after them

  bool have(std::int64_t time) const { return time >= from && time < until; }
};

/// Reads the filters `from` and `to`. Errors: invalid, for what is not a date.
Result<Days> days_of(const Page&);

/// Accepts no query at all. Errors: invalid.
Status refuse_parameters(const Request&);

/// Accepts those parameters; `limit` and `before` only where they are named. Errors: invalid, for
/// any other.
Status refuse_others(const Request&, std::initializer_list<std::string_view> known);

/// Reads parameters that are ids, those that were given. Errors: invalid, for what is not an id,
/// for any other parameter and for one that is given twice.
Result<std::map<std::string, std::int64_t>> ids_of(const Request&,
                                                   std::initializer_list<std::string_view> known);

/// Reads the path parameter "id", a positive number. Errors: not_found.
Result<std::int64_t> id_of(const Request&);

/// Encodes a part of a path or a value in a query, where a space, an ampersand and the like have a
/// meaning of their own.
std::string percent_encoded(std::string_view text);
/// The same for a path of several parts: its slashes stay.
std::string percent_encoded_path(std::string_view path);

/// Makes 200 with a JSON object.
Reply object_reply(const nlohmann::json&);

}  // namespace torchwatch::http
