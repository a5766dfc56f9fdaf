#pragma once

#include <array>
#include <nlohmann/json.hpp>

#include "torchwatch/api/api.hpp"
#include "torchwatch/http/exchange.hpp"
#include "torchwatch/http/paging.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::api {

using http::Reply;
using http::Request;

// One function per endpoint; openapi.json says what each takes and answers. One file per resource.

Result<Reply> list_comparisons(const Request&, const Backend&);
Result<Reply> get_comparison(const Request&, const Backend&);
Result<Reply> ask_for_nightly(const Request&, const Backend&);
Result<Reply> ask_for_comparison(const Request&, const Backend&);
Result<Reply> cancel_comparison(const Request&, const Backend&);
Result<Reply> retry_comparison(const Request&, const Backend&);

Result<Reply> list_incidents(const Request&, const Backend&);
Result<Reply> get_incident(const Request&, const Backend&);
Result<Reply> acknowledge_incident(const Request&, const Backend&);
Result<Reply> accept_incident(const Request&, const Backend&);
Result<Reply> close_incident(const Request&, const Backend&);
Result<Reply> reopen_incident(const Request&, const Backend&);
Result<Reply> dispute_incident(const Request&, const Backend&);
Result<Reply> retest_incident(const Request&, const Backend&);

Result<Reply> list_bisections(const Request&, const Backend&);
Result<Reply> get_bisection(const Request&, const Backend&);
Result<Reply> ask_for_bisection(const Request&, const Backend&);
Result<Reply> cancel_bisection(const Request&, const Backend&);

Result<Reply> list_builds(const Request&, const Backend&);

Result<Reply> get_request(const Request&, const Backend&);
Result<Reply> cancel_request(const Request&, const Backend&);
Result<Reply> retry_message(const Request&, const Backend&);

Result<Reply> list_tokens(const Request&, const Backend&);
Result<Reply> add_token(const Request&, const Backend&);
Result<Reply> revoke_token(const Request&, const Backend&);

Result<Reply> get_self_tests(const Request&, const Backend&);
Result<Reply> get_health(const Request&, const Backend&);

/// A build's name; null where it is a path of this machine and a stranger asks.
inline nlohmann::json name_of(const storage::BuildRow& build, const Request& request) {
  const bool is_private = build.origin == storage::BuildOrigin::folder && !request.is_trusted;
  return is_private ? nlohmann::json(nullptr) : nlohmann::json(build.name);
}

/// A text that may hold paths and the output of programs: null where there is none, and for
/// strangers.
inline nlohmann::json text_of(const std::string& text, const Request& request) {
  return text.empty() || !request.is_trusted ? nlohmann::json(nullptr) : nlohmann::json(text);
}

/// Errors: invalid, for an Idempotency-Key that is no key.
Status check_key(const Request&);

/// Answers one page of what a store lists, newest first. `entry_of` makes a Result<json> of a row.
template <typename Store, typename EntryOf>
Result<Reply> list_page(const char* name, const Request& request, const Backend& backend,
                        const EntryOf& entry_of) {
  TW_TRY(const auto page, http::page_of(request));
  TW_TRY(const auto rows, Store(backend.database).list(page.limit, page.before));
  auto entries = nlohmann::json::array();
  for (const auto& row : rows) {
    TW_TRY(entries.emplace_back(), entry_of(row));
  }
  return http::list_reply(name, std::move(entries), page);
}

/// Checks the members that say what of the suite is measured: "workloads", "configurations",
/// "variants", "metrics". Errors: invalid, naming the member and what is allowed.
Status check_selection(const nlohmann::json& body);

/// Stores requested work, wakes the daemon and answers 202 with the request's id. Repeating an
/// Idempotency-Key repeats the same request. Errors: conflict (the key was used for another
/// request), invalid (malformed key).
Result<Reply> submit(const Request&, const Backend&, storage::RequestKind,
                     const nlohmann::json& body);

}  // namespace torchwatch::api
