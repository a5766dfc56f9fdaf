#include <charconv>

#include "handlers.hpp"
#include "torchwatch/http/problem.hpp"
#include "torchwatch/storage/event_store.hpp"

namespace torchwatch::api {
namespace {

/// Reads the number of an event, or nothing if none is given. Errors: invalid.
Result<std::optional<storage::Id>> event_number(const std::string& text, const std::string& what) {
  if (text.empty()) return std::nullopt;
  storage::Id id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc{} && end == text.data() + text.size() && id >= 0) return id;
  return fail(ErrorCode::invalid, "invalid " + what + " \"" + text.substr(0, 100) +
                                      "\": must be the id of an event, or 0 for all that are kept");
}

/// The last event that the client has: what a browser says when it comes again counts before the
/// address that it began with. Errors: invalid.
Result<std::optional<storage::Id>> last_seen(const Request& request) {
  for (const auto& [name, text] : request.query) {
    if (name == "after" && request.query.count(name) == 1 && !text.empty()) continue;
    return fail(ErrorCode::invalid, "invalid parameter \"" + name.substr(0, 100) +
                                        "\": only after is known, with the id of an event");
  }
  TW_TRY(const auto again, event_number(request.last_event_id, "Last-Event-ID"));
  if (again) return again;
  const auto after = request.query.find("after");
  return event_number(after == request.query.end() ? "" : after->second, "after");
}

}  // namespace

Result<Reply> follow_events(const Request& request, const Backend& backend) {
  TW_TRY(const auto seen, last_seen(request));
  if (backend.feed == nullptr || !backend.feed->has_place_for(request.remote_address)) {
    return http::problem(503, "too many clients follow the events", {{"Retry-After", "10"}},
                         "try again later");
  }
  TW_TRY(const auto kept, storage::EventStore(backend.database).kept());
  const auto after = seen.value_or(kept.newest);
  Reply reply{.status = 200, .content_type = "text/event-stream", .body = {}, .headers = {}};
  reply.takes_over = [feed = backend.feed, address = request.remote_address,
                      token = request.token_name, after](UniqueFd socket, std::string unsent) {
    feed->add({.socket = std::move(socket),
               .unsent = std::move(unsent) + events::greeting(after),
               .address = address,
               .after = after,
               .token = token});
  };
  return reply;
}

}  // namespace torchwatch::api
