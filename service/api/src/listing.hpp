#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
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

/// Answers with a page of the rows of a store that `fits` accepts. `entry_of` makes a Result<json>
/// of a row.
template <typename Store, typename Fits, typename EntryOf>
Result<http::Reply> list_fitting(const char* name, const http::Page& page, const Backend& backend,
                                 const Fits& fits, const EntryOf& entry_of) {
  const auto list = [&backend](int limit, std::int64_t before) {
    return Store(backend.database).list(limit, before);
  };
  TW_TRY(const auto listed, http::rows_fitting(page, list, fits));
  auto entries = nlohmann::json::array();
  for (const auto& row : listed.rows) {
    TW_TRY(entries.emplace_back(), entry_of(row));
  }
  return list_reply(name, std::move(entries), page, listed.next);
}

}  // namespace torchwatch::api
