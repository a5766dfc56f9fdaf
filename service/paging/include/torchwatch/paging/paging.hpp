#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
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

/// Reads a parameter that is an id. Errors: invalid, naming it.
Result<std::int64_t> id_in(const std::string& parameter, const std::string& text);

using Filters = std::map<std::string, std::string>;

/// Reads parameters that a path knows, where it lists nothing. Errors: invalid, for any other and
/// for one that is given twice.
Result<Filters> filters_of(const Request&, std::initializer_list<std::string_view> known);

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

/// How many rows a page looks at: a filter that fits nothing must not read the whole database.
constexpr int kScannedMax = 5'000;
constexpr int kScannedAtOnce = 200;

/// A page of what a store lists.
template <typename Row>
struct Listed {
  std::vector<Row> rows;
  nlohmann::json next;  ///< the next page's `before`; null on the last one
};

/// The rows that `list(limit, before)` gives.
template <typename List>
using RowOf = typename std::invoke_result_t<List, int, std::int64_t>::value_type::value_type;

/// Reads one page of the rows that `list(limit, before)` gives and `fits` accepts, newest first.
/// Errors: those of `list`.
template <typename List, typename Fits>
Result<Listed<RowOf<List>>> rows_fitting(const Page& page, const List& list, const Fits& fits) {
  Listed<RowOf<List>> listed;
  const bool has_filters = !page.filters.empty();
  const int at_once = has_filters ? kScannedAtOnce : page.limit + 1;
  auto before = page.before;
  for (int scanned = 0; scanned < kScannedMax; scanned += at_once) {
    TW_TRY(auto rows, list(at_once, before));
    for (auto& row : rows) {
      if (!fits(row)) continue;
      if (static_cast<int>(listed.rows.size()) == page.limit) {
        listed.next = listed.rows.back().id;
        return listed;
      }
      listed.rows.push_back(row);
    }
    if (static_cast<int>(rows.size()) < at_once) return listed;
    before = rows.back().id;
  }
  listed.next = before;
  return listed;
}

}  // namespace torchwatch::http
