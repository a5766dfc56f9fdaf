#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "torchwatch/api/api.hpp"
#include "torchwatch/paging/paging.hpp"

namespace torchwatch::api {

/// Makes 200 with {"<name>": entries, "next": the next page's `before`} and a Link header (RFC
/// 8288) that leads there; null and without it on the last page. `next` is an id, or the name of
/// the last entry.
http::Reply list_reply(const char* name, nlohmann::json entries, const http::Page&,
                       const nlohmann::json& next);

/// The same of entries with an "id", of which there is one more than the page holds unless it is
/// the last page.
http::Reply list_reply(const char* name, nlohmann::json entries, const http::Page&);

using Filters = std::map<std::string, std::string>;

/// Reads parameters that a path knows, where it lists nothing. Errors: invalid, for any other and
/// for one that is given twice.
Result<Filters> filters_of(const http::Request&, std::initializer_list<std::string_view> known);

/// Reads a parameter that is an id. Errors: invalid, naming it.
Result<std::int64_t> id_in(const std::string& parameter, const std::string& text);

/// An entry of a list that has an order of its own, by names.
struct NamedEntry {
  std::string name;
  nlohmann::json entry;
};

/// A part of such a list: at most `page.limit` entries after the one of that name.
struct NamedPage {
  http::Page page;
  std::string begun_after;  ///< empty: the first page
};

/// Reads ?limit=, the filters, and ?before= as the name at which the page before ended. Errors:
/// invalid.
Result<NamedPage> named_page_of(const http::Request&,
                                std::initializer_list<std::string_view> filters);

/// Answers with the page of all entries that fit. Errors: not_found, when none has the name that
/// the page begins after.
Result<http::Reply> list_named(const char* name, std::vector<NamedEntry> all, const NamedPage&);

/// How many rows a page looks at: a filter that fits nothing must not read the whole database.
constexpr int kScannedMax = 5'000;
constexpr int kScannedAtOnce = 200;

/// A page of what a store lists.
template <typename Row>
struct Listed {
  std::vector<Row> rows;
  nlohmann::json next;  ///< the next page's `before`; null on the last one
};

/// Reads one page of the rows that `list(limit, before)` gives and `fits` accepts, newest first.
/// Errors: those of `list`.
template <typename List, typename Fits>
auto rows_fitting(const http::Page& page, const List& list, const Fits& fits) -> Result<
    Listed<typename std::invoke_result_t<List, int, std::int64_t>::value_type::value_type>> {
  Listed<typename std::invoke_result_t<List, int, std::int64_t>::value_type::value_type> listed;
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

/// Answers with such a page of what a store lists. `entry_of` makes a Result<json> of a row.
template <typename Store, typename Fits, typename EntryOf>
Result<http::Reply> list_fitting(const char* name, const http::Page& page, const Backend& backend,
                                 const Fits& fits, const EntryOf& entry_of) {
  const auto list = [&backend](int limit, std::int64_t before) {
    return Store(backend.database).list(limit, before);
  };
  TW_TRY(const auto listed, rows_fitting(page, list, fits));
  auto entries = nlohmann::json::array();
  for (const auto& row : listed.rows) {
    TW_TRY(entries.emplace_back(), entry_of(row));
  }
  return list_reply(name, std::move(entries), page, listed.next);
}

}  // namespace torchwatch::api
