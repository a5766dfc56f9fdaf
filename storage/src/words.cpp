#include "words.hpp"

#include <array>
#include <cstddef>

namespace torchwatch::storage {
namespace {

// Spellings in the order of the enumerators.
constexpr std::array<std::string_view, 4> kBuildOrigins{"nightly", "commit", "folder", "release"};
constexpr std::array<std::string_view, 3> kBuildStates{"discovered", "ready", "rejected"};
constexpr std::array<std::string_view, 3> kNightKinds{"nightly", "compare", "self_test"};
constexpr std::array<std::string_view, 8> kNightStates{
    "discovered", "ready", "measured", "judged", "bisected", "reported", "accepted", "refused"};
constexpr std::array<std::string_view, 5> kAttemptStates{"issued", "done", "failed", "abandoned",
                                                         "stale"};
constexpr std::array<std::string_view, 3> kIncidentStates{"open", "acknowledged", "closed"};
constexpr std::array<std::string_view, 2> kBisectionStates{"open", "ended"};
constexpr std::array<std::string_view, 3> kOutboxKinds{"open", "comment", "close"};
constexpr std::array<std::string_view, 4> kOutboxStates{"pending", "sending", "sent", "dead"};
constexpr std::array<std::string_view, 2> kRequestKinds{"nightly", "bisection"};
constexpr std::array<std::string_view, 4> kRequestStates{"pending", "running", "done", "failed"};

template <std::size_t kSize, typename Enum>
std::string_view spell(const std::array<std::string_view, kSize>& words, Enum value) {
  return words.at(static_cast<std::size_t>(value));
}

template <std::size_t kSize, typename Enum>
bool find(const std::array<std::string_view, kSize>& words, std::string_view text, Enum& value) {
  for (std::size_t i = 0; i < kSize; ++i) {
    if (words.at(i) != text) continue;
    value = static_cast<Enum>(i);
    return true;
  }
  return false;
}

template <typename T>
bool take(const Result<T>& parsed, T& value) {
  if (parsed) value = *parsed;
  return parsed.has_value();
}

}  // namespace

std::string_view to_string(BuildOrigin value) {
  return spell(kBuildOrigins, value);
}
std::string_view to_string(BuildState value) {
  return spell(kBuildStates, value);
}
std::string_view to_string(NightKind value) {
  return spell(kNightKinds, value);
}
std::string_view to_string(NightState value) {
  return spell(kNightStates, value);
}
std::string_view to_string(AttemptState value) {
  return spell(kAttemptStates, value);
}
std::string_view to_string(IncidentState value) {
  return spell(kIncidentStates, value);
}
std::string_view to_string(BisectionState value) {
  return spell(kBisectionStates, value);
}
std::string_view to_string(OutboxKind value) {
  return spell(kOutboxKinds, value);
}
std::string_view to_string(OutboxState value) {
  return spell(kOutboxStates, value);
}
std::string_view to_string(RequestKind value) {
  return spell(kRequestKinds, value);
}
std::string_view to_string(RequestState value) {
  return spell(kRequestStates, value);
}

bool parse(std::string_view text, BuildOrigin& value) {
  return find(kBuildOrigins, text, value);
}
bool parse(std::string_view text, BuildState& value) {
  return find(kBuildStates, text, value);
}
bool parse(std::string_view text, NightKind& value) {
  return find(kNightKinds, text, value);
}
bool parse(std::string_view text, NightState& value) {
  return find(kNightStates, text, value);
}
bool parse(std::string_view text, AttemptState& value) {
  return find(kAttemptStates, text, value);
}
bool parse(std::string_view text, IncidentState& value) {
  return find(kIncidentStates, text, value);
}
bool parse(std::string_view text, BisectionState& value) {
  return find(kBisectionStates, text, value);
}
bool parse(std::string_view text, OutboxKind& value) {
  return find(kOutboxKinds, text, value);
}
bool parse(std::string_view text, OutboxState& value) {
  return find(kOutboxStates, text, value);
}
bool parse(std::string_view text, RequestKind& value) {
  return find(kRequestKinds, text, value);
}
bool parse(std::string_view text, RequestState& value) {
  return find(kRequestStates, text, value);
}

bool parse(std::string_view text, Configuration& value) {
  return take(parse_configuration(text), value);
}
bool parse(std::string_view text, Variant& value) {
  return take(parse_variant(text), value);
}
bool parse(std::string_view text, Metric& value) {
  return take(parse_metric(text), value);
}
bool parse(std::string_view text, Pass& value) {
  return take(parse_pass(text), value);
}
bool parse(std::string_view text, Verdict& value) {
  return take(parse_verdict(text), value);
}
bool parse(std::string_view text, RunStatus& value) {
  return take(parse_run_status(text), value);
}
bool parse(std::string_view text, IncidentKind& value) {
  return take(parse_incident_kind(text), value);
}

}  // namespace torchwatch::storage
