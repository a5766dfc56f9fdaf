#include "events.hpp"

#include <nlohmann/json.hpp>

#include "torchwatch/documents/vocabulary_json.hpp"

namespace torchwatch::bisection {
namespace {

using nlohmann::json;
using Values = std::map<std::size_t, std::vector<double>>;

template <typename Event>
constexpr EventKind kKind = Event::kKind;
template <>
constexpr EventKind kKind<bisect::SameLibrary> = EventKind::same_library;

json reference_to_json(const bisect::Reference& reference) {
  return reference ? json(*reference) : json(nullptr);
}

bisect::Reference reference_from_json(const json& value) {
  return value.is_null() ? bisect::Reference{} : bisect::Reference{value.get<std::size_t>()};
}

json values_to_json(const Values& values) {
  json by_series = json::object();
  for (const auto& [series, list] : values) by_series[std::to_string(series)] = list;
  return by_series;
}

Values values_from_json(const json& by_series) {
  Values values;
  for (const auto& [series, list] : by_series.items()) {
    values[std::stoul(series)] = list.get<std::vector<double>>();
  }
  return values;
}

Result<bisect::Purpose> purpose_in(const json& body) {
  return parse_word<bisect::Purpose>(body.at("purpose").get<std::string>());
}

json body_of(const CommitsWeighed& event) {
  return {{"weights", event.weights}, {"reason", event.reason}};
}

json body_of(const PairsMeasured& event) {
  return {{"candidate", event.readings.candidate},
          {"reference", reference_to_json(event.readings.reference)},
          {"purpose", spelling(event.purpose)},
          {"effects", values_to_json(event.readings.effects)},
          {"references", values_to_json(event.readings.references)},
          {"posterior", event.posterior}};
}

json body_of(const RunsMeasured& event) {
  return {{"candidate", event.readings.candidate},
          {"purpose", spelling(event.purpose)},
          {"readings", values_to_json(event.readings.readings)},
          {"posterior", event.posterior}};
}

json body_of(const CommitBuilt& event) {
  return {{"candidate", reference_to_json(event.candidate)},
          {"commit", event.commit},
          {"content_hash", event.content_hash},
          {"origin", event.origin},
          {"at_hand", event.at_hand}};
}

json body_of(const CommitUnbuildable& event) {
  return {{"candidate", event.candidate},
          {"commit", event.commit},
          {"reason", event.reason},
          {"fault", event.fault}};
}

json body_of(const BuildSetAside& event) {
  return {{"side", reference_to_json(event.side)},
          {"beside", reference_to_json(event.beside)},
          {"recipe_alone", event.recipe_alone}};
}

json body_of(const bisect::SameLibrary& event) {
  return {{"earlier", reference_to_json(event.earlier)}, {"later", event.later}};
}

json body_of(const SeriesDropped& event) {
  json body{{"series", event.series}, {"reason", event.reason}};
  if (event.candidate) body["candidate"] = *event.candidate;
  return body;
}

json body_of(const MachineChanged& event) {
  return {{"reason", event.reason}};
}

json body_of(const RevertCheck& check) {
  json effects = json::object();
  for (const auto& [series, effect] : check.effects) effects[std::to_string(series)] = effect;
  return {{"candidate", check.culprit}, {"applies", check.applies}, {"builds", check.builds},
          {"effects", effects},         {"gone", check.gone},       {"reason", check.reason}};
}

void read(const json& body, CommitsWeighed& event) {
  body.at("weights").get_to(event.weights);
  body.at("reason").get_to(event.reason);
}

void read(const json& body, PairsMeasured& event) {
  body.at("candidate").get_to(event.readings.candidate);
  event.readings.reference = reference_from_json(body.at("reference"));
  event.readings.effects = values_from_json(body.at("effects"));
  // Older events do not have them; their searches continue in pairs.
  event.readings.references = values_from_json(body.value("references", json::object()));
  event.purpose = purpose_in(body).value_or(event.purpose);
  body.at("posterior").get_to(event.posterior);
}

void read(const json& body, RunsMeasured& event) {
  body.at("candidate").get_to(event.readings.candidate);
  event.readings.readings = values_from_json(body.at("readings"));
  event.purpose = purpose_in(body).value_or(event.purpose);
  body.at("posterior").get_to(event.posterior);
}

void read(const json& body, CommitBuilt& event) {
  event.candidate = reference_from_json(body.at("candidate"));
  body.at("commit").get_to(event.commit);
  event.content_hash = body.value("content_hash", "");
  event.origin = body.value("origin", "");
  event.at_hand = body.value("at_hand", false);
}

void read(const json& body, CommitUnbuildable& event) {
  body.at("candidate").get_to(event.candidate);
  body.at("commit").get_to(event.commit);
  body.at("reason").get_to(event.reason);
  body.at("fault").get_to(event.fault);
}

void read(const json& body, BuildSetAside& event) {
  event.side = reference_from_json(body.at("side"));
  event.beside = reference_from_json(body.at("beside"));
  body.at("recipe_alone").get_to(event.recipe_alone);
}

void read(const json& body, bisect::SameLibrary& event) {
  event.earlier = reference_from_json(body.at("earlier"));
  body.at("later").get_to(event.later);
}

void read(const json& body, SeriesDropped& event) {
  body.at("series").get_to(event.series);
  event.reason = body.value("reason", "");
  event.candidate = reference_from_json(body.value("candidate", json(nullptr)));
}

void read(const json& body, MachineChanged& event) {
  event.reason = body.value("reason", "");
}

void read(const json& body, RevertCheck& check) {
  body.at("candidate").get_to(check.culprit);
  body.at("applies").get_to(check.applies);
  body.at("builds").get_to(check.builds);
  body.at("reason").get_to(check.reason);
  body.at("gone").get_to(check.gone);
  for (const auto& [series, effect] : body.at("effects").items()) {
    check.effects[std::stoul(series)] = effect.get<double>();
  }
}

template <std::size_t index = 0>
std::optional<BisectionEvent> read_kind(EventKind kind, const json& body) {
  if constexpr (index == std::variant_size_v<BisectionEvent>) {
    return std::nullopt;
  } else {
    using Event = std::variant_alternative_t<index, BisectionEvent>;
    if (kind != kKind<Event>) return read_kind<index + 1>(kind, body);
    Event event;
    read(body, event);
    return event;
  }
}

std::optional<bisect::SearchEvent> applied(const CommitsWeighed& event) {
  return bisect::Weighed{event.weights};
}
std::optional<bisect::SearchEvent> applied(const PairsMeasured& event) {
  return event.readings;
}
std::optional<bisect::SearchEvent> applied(const RunsMeasured& event) {
  return event.readings;
}
std::optional<bisect::SearchEvent> applied(const CommitBuilt& event) {
  if (!event.candidate) return std::nullopt;
  return bisect::Built{*event.candidate};
}
std::optional<bisect::SearchEvent> applied(const CommitUnbuildable& event) {
  return bisect::Unbuildable{event.candidate};
}
std::optional<bisect::SearchEvent> applied(const BuildSetAside& event) {
  return bisect::SetAside{event.side};
}
std::optional<bisect::SearchEvent> applied(const bisect::SameLibrary& event) {
  return event;
}
std::optional<bisect::SearchEvent> applied(const SeriesDropped& event) {
  return bisect::SeriesLost{event.series, event.candidate};
}
std::optional<bisect::SearchEvent> applied(const MachineChanged&) {
  return bisect::LevelLost{};
}
std::optional<bisect::SearchEvent> applied(const RevertCheck&) {
  return std::nullopt;
}

}  // namespace

EventKind kind_of(const BisectionEvent& event) {
  return std::visit([]<typename Event>(const Event&) { return kKind<Event>; }, event);
}

storage::BisectionEventRow row_of(const BisectionEvent& event, int ordinal) {
  const auto body = std::visit([](const auto& known) { return body_of(known); }, event);
  return {.ordinal = ordinal,
          .kind = std::string(spelling(kind_of(event))),
          .body_json = stored_text(body)};
}

Result<BisectionEvent> parse_event(const storage::BisectionEventRow& row) {
  const auto corrupt = [&](const std::string& why) {
    return fail(ErrorCode::corrupt, "event " + std::to_string(row.ordinal) + ": " + why);
  };
  try {
    const auto body = json::parse(row.body_json);
    if (body.contains("purpose") && !purpose_in(body)) {
      return corrupt("unknown purpose " + body.at("purpose").dump());
    }
    const auto kind = parse_word<EventKind>(row.kind);
    auto event = kind ? read_kind(*kind, body) : std::nullopt;
    if (!event) return corrupt("unknown kind \"" + row.kind + "\"");
    return *std::move(event);
  } catch (const std::exception& exception) {  // of the JSON, or of a series that is not a number
    return corrupt(exception.what());
  }
}

std::optional<bisect::SearchEvent> search_event_of(const BisectionEvent& event) {
  return std::visit([](const auto& known) { return applied(known); }, event);
}

}  // namespace torchwatch::bisection
