#pragma once

#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "listing.hpp"
#include "torchwatch/api/api.hpp"
#include "torchwatch/evidence/context.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/http/exchange.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::api {

using http::Reply;
using http::Request;

// One function per endpoint; openapi.json says what each takes and answers. One file per resource.

Result<Reply> list_comparisons(const Request&, const Backend&);
Result<Reply> get_comparison(const Request&, const Backend&);
Result<Reply> get_current_comparison(const Request&, const Backend&);
Result<Reply> get_matrix(const Request&, const Backend&);
Result<Reply> get_sparklines(const Request&, const Backend&);
Result<Reply> ask_for_nightly(const Request&, const Backend&);
Result<Reply> ask_for_comparison(const Request&, const Backend&);
Result<Reply> cancel_comparison(const Request&, const Backend&);
Result<Reply> retry_comparison(const Request&, const Backend&);

Result<Reply> list_incidents(const Request&, const Backend&);
Result<Reply> get_incident(const Request&, const Backend&);
Result<Reply> get_evidence(const Request&, const Backend&);
Result<Reply> acknowledge_incident(const Request&, const Backend&);
Result<Reply> accept_incident(const Request&, const Backend&);
Result<Reply> close_incident(const Request&, const Backend&);
Result<Reply> reopen_incident(const Request&, const Backend&);
Result<Reply> dispute_incident(const Request&, const Backend&);
Result<Reply> retest_incident(const Request&, const Backend&);
Result<Reply> list_mutes(const Request&, const Backend&);
Result<Reply> get_mute(const Request&, const Backend&);
Result<Reply> lift_mute(const Request&, const Backend&);

Result<Reply> list_bisections(const Request&, const Backend&);
Result<Reply> get_bisection(const Request&, const Backend&);
Result<Reply> get_steps(const Request&, const Backend&);
Result<Reply> ask_for_bisection(const Request&, const Backend&);
Result<Reply> cancel_bisection(const Request&, const Backend&);

Result<Reply> follow_events(const Request&, const Backend&);

Result<Reply> list_runs_of_comparison(const Request&, const Backend&);
Result<Reply> list_runs_of_bisection(const Request&, const Backend&);
Result<Reply> get_run(const Request&, const Backend&);
Result<Reply> get_samples(const Request&, const Backend&);

Result<Reply> list_workloads(const Request&, const Backend&);
Result<Reply> get_workload(const Request&, const Backend&);
Result<nlohmann::json> named_workload(const Backend&, const std::string& name);
/// One build is run in passes that time nothing.
Result<Reply> ask_for_measurement(const Request&, const Backend&);
Result<Reply> list_machines(const Request&, const Backend&);
Result<Reply> compare_machines(const Request&, const Backend&);
Result<Reply> get_machine(const Request&, const Backend&);

Result<Reply> list_builds(const Request&, const Backend&);
Result<Reply> get_build(const Request&, const Backend&);
Result<Reply> fetch_build(const Request&, const Backend&);
Result<Reply> pin_build(const Request&, const Backend&);
Result<Reply> unpin_build(const Request&, const Backend&);
Result<Reply> remove_build(const Request&, const Backend&);

Result<Reply> get_breakdown(const Request&, const Backend&);
Result<Reply> get_coverage(const Request&, const Backend&);

Result<Reply> list_queue(const Request&, const Backend&);
Result<Reply> get_audits(const Request&, const Backend&);
Result<Reply> search(const Request&, const Backend&);

Result<Reply> list_nightlies(const Request&, const Backend&);
Result<Reply> get_nightly(const Request&, const Backend&);
Result<Reply> list_series(const Request&, const Backend&);
Result<Reply> get_history(const Request&, const Backend&);
Result<Reply> get_past(const Request&, const Backend&);
Result<Reply> get_metrics(const Request&, const Backend&);
Result<Reply> get_description(const Request&, const Backend&);

Result<Reply> list_requests(const Request&, const Backend&);
Result<Reply> list_outbox(const Request&, const Backend&);
Result<Reply> get_request(const Request&, const Backend&);
Result<Reply> cancel_request(const Request&, const Backend&);
Result<Reply> retry_message(const Request&, const Backend&);

Result<Reply> list_audit(const Request&, const Backend&);
Result<Reply> list_tokens(const Request&, const Backend&);
Result<Reply> add_token(const Request&, const Backend&);
Result<Reply> revoke_token(const Request&, const Backend&);

Result<Reply> get_self_tests(const Request&, const Backend&);
Result<Reply> get_health(const Request&, const Backend&);
Result<Reply> back_up_database(const Request&, const Backend&);
Result<Reply> check_database(const Request&, const Backend&);
Result<Reply> tidy_caches(const Request&, const Backend&);

/// A build's name; null where it is a path of this machine and a stranger asks.
inline nlohmann::json name_of(storage::BuildOrigin origin, const std::string& name,
                              const Request& request) {
  const bool is_private = origin == storage::BuildOrigin::folder && !request.is_trusted;
  return is_private ? nlohmann::json(nullptr) : nlohmann::json(name);
}
inline nlohmann::json name_of(const storage::BuildRow& build, const Request& request) {
  return name_of(build.origin, build.name, request);
}

/// A text that may hold paths and the output of programs: null without one, and for strangers.
inline nlohmann::json text_of(const std::string& text, const Request& request) {
  return text.empty() || !request.is_trusted ? nlohmann::json(nullptr) : nlohmann::json(text);
}

/// Who asks, whatever name the body says.
inline storage::Asker asker_of(const Request& request) {
  return {.user = request.peer, .token = request.peer ? "" : request.token_name};
}

/// Keeps who asked for a change that was made. Errors: of storage.
Status note_asker(const Request&, const Backend&);

/// Errors: invalid, for an Idempotency-Key that is not a key.
Status check_key(const Request&);

/// Returns an entry with the "url" of what it lists: the collection's path and the entry's id.
inline nlohmann::json with_url(nlohmann::json entry, std::string_view collection) {
  entry["url"] = std::string(collection) + "/" + std::to_string(entry.at("id").get<storage::Id>());
  return entry;
}

/// The path of a series' values.
std::string path_of(const Series&);
/// The same without what all of them begin with: "resnet18/cpu-train/default/time".
std::string name_of(const Series&);
inline constexpr std::string_view kSeriesPath = "/api/v1/series/";

/// Makes the members of comparisons for who asks, a list. What cannot be read is null, and "unread"
/// of its comparison names it.
nlohmann::json comparisons_json(const std::vector<storage::ListedComparison>&, const Request&,
                                const Backend&);

/// Makes {"id", "url"} of a run.
nlohmann::json run_link(storage::Id run);
/// The values of a run as the API has them.
nlohmann::json values_json(const std::map<Metric, std::int64_t>& stated);

/// Makes {"likely_seconds", "at_most_seconds", "of"}; null without an estimate.
nlohmann::json estimate_json(const std::optional<evidence::Estimate>&);

/// What evidence is read from, for who asks.
inline evidence::Context context_of(const Request& request, const Backend& backend) {
  return {.database = backend.database, .is_trusted = request.is_trusted};
}

/// What explains steps in values of a series, which stand oldest first, since the first of them:
/// its incidents, the commits that were named, other machines. Errors: of storage.
Result<nlohmann::json> annotations_of(const Series&, const std::vector<storage::RunValue>&,
                                      const Backend&);

/// Refuses a filter's text that is not a word of the enumeration. Errors: invalid, with all words.
template <typename Enum>
Status check_word(const http::Page& page, const std::string& filter,
                  const std::vector<std::string>& more = {}) {
  const auto given = page.filters.find(filter);
  if (given == page.filters.end() || std::ranges::count(more, given->second) > 0) return {};
  std::string allowed;
  for (int i = 0; to_string(static_cast<Enum>(i)) != "?"; ++i) {
    const auto word = to_string(static_cast<Enum>(i));
    if (word == given->second) return {};
    allowed.append(allowed.empty() ? "" : ", ").append(word);
  }
  for (const auto& word : more) allowed += ", " + word;
  return fail(ErrorCode::invalid, "invalid " + filter + " \"" + given->second.substr(0, 100) +
                                      "\": must be one of " + allowed);
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
