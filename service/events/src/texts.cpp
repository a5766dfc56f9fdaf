#include "texts.hpp"

#include <nlohmann/json.hpp>

#include "torchwatch/events/feed.hpp"

namespace torchwatch::events {
namespace {

constexpr int kComeAgainAfterMs = 2'000;

/// Where the API says more.
std::string url_of(const storage::EventRow& event) {
  if (event.kind == "message") return "/api/v1/outbox";
  return "/api/v1/" + event.kind + "s/" + event.item;
}

std::string framed(storage::Id id, const std::string& name, const nlohmann::json& data) {
  return "id: " + std::to_string(id) + "\nevent: " + name +
         "\ndata: " + data.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n\n";
}

}  // namespace

nlohmann::json data_of(const storage::EventRow& event) {
  return {
      {"kind", event.kind}, {"item", event.item}, {"state", event.state}, {"url", url_of(event)}};
}

std::string text_of(const storage::EventRow& event) {
  return framed(event.id, event.kind, data_of(event));
}

std::string reset_text(storage::Id newest) {
  return framed(newest, "reset", {{"newest", newest}});
}

std::string greeting(storage::Id after) {
  return "retry: " + std::to_string(kComeAgainAfterMs) + "\nid: " + std::to_string(after) + "\n\n";
}

}  // namespace torchwatch::events
