#include "torchwatch/nightly/search_log.hpp"

#include <nlohmann/json.hpp>

namespace torchwatch::nightly {

using nlohmann::json;

namespace {

json reference_to_json(const bisect::Reference& reference) {
  return reference ? json(*reference) : json(nullptr);
}

bisect::Reference reference_from_json(const json& value) {
  return value.is_null() ? bisect::Reference{} : bisect::Reference{value.get<std::size_t>()};
}

using Values = std::map<std::size_t, std::vector<double>>;

json values_to_json(const Values& values) {
  json by_target = json::object();
  for (const auto& [target, list] : values) by_target[std::to_string(target)] = list;
  return by_target;
}

Values values_from_json(const json& by_target) {
  Values values;
  for (const auto& [target, list] : by_target.items()) {
    values[std::stoul(target)] = list.get<std::vector<double>>();
  }
  return values;
}

bisect::Measured measured_from_json(const json& body) {
  bisect::Measured event;
  body.at("candidate").get_to(event.candidate);
  event.reference = reference_from_json(body.at("reference"));
  event.effects = values_from_json(body.at("effects"));
  // Older logs do not have them; their searches go on in pairs.
  event.references = values_from_json(body.value("references", json::object()));
  return event;
}

RevertCheck revert_from_json(const json& body) {
  RevertCheck check;
  body.at("candidate").get_to(check.culprit);
  body.at("applies").get_to(check.applies);
  body.at("builds").get_to(check.builds);
  body.at("reason").get_to(check.reason);
  body.at("gone").get_to(check.gone);
  for (const auto& [target, effect] : body.at("effects").items()) {
    check.effects[std::stoul(target)] = effect.get<double>();
  }
  return check;
}

}  // namespace

Status SearchLog::load() {
  TW_TRY(const auto rows, store_.events_of(bisection_));
  events_.clear();
  reverts_.clear();
  reasons_.clear();
  ordinal_ = 0;
  faults_ = 0;
  for (const auto& row : rows) TW_TRY_VOID(take(row));
  return {};
}

Status SearchLog::take(const storage::BisectionEventRow& row) {
  try {
    const auto body = json::parse(row.body_json);
    ordinal_ = row.ordinal + 1;
    if (row.kind == "measured") {
      events_.emplace_back(measured_from_json(body));
    } else if (row.kind == "measured_alone") {
      events_.emplace_back(bisect::MeasuredAlone{body.at("candidate").get<std::size_t>(),
                                                 values_from_json(body.at("readings"))});
    } else if (row.kind == "level_lost") {
      events_.emplace_back(bisect::LevelLost{});
    } else if (row.kind == "built") {
      events_.emplace_back(bisect::Built{body.at("candidate").get<std::size_t>()});
      faults_ = 0;
    } else if (row.kind == "unbuildable") {
      const auto candidate = body.at("candidate").get<std::size_t>();
      events_.emplace_back(bisect::Unbuildable{candidate});
      reasons_[candidate] = body.at("reason").get<std::string>();
      faults_ = body.at("fault").get<bool>() ? faults_ + 1 : 0;
    } else if (row.kind == "same_library") {
      events_.emplace_back(bisect::SameLibrary{reference_from_json(body.at("earlier")),
                                               body.at("later").get<std::size_t>()});
    } else if (row.kind == "target_lost") {
      events_.emplace_back(bisect::TargetLost{body.at("target").get<std::size_t>()});
    } else if (row.kind == "reverted") {
      reverts_.push_back(revert_from_json(body));
    } else {
      return fail(ErrorCode::corrupt, "bisection event of unknown kind \"" + row.kind + "\"");
    }
    return {};
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, "bisection " + std::to_string(bisection_) + ", event " +
                                        std::to_string(row.ordinal) + ": " + exception.what());
  }
}

std::string SearchLog::reason_of(std::size_t candidate) const {
  const auto found = reasons_.find(candidate);
  return found == reasons_.end() ? std::string{} : found->second;
}

Status SearchLog::append(const std::string& kind, const std::string& body_json) {
  const storage::BisectionEventRow row{ordinal_, kind, body_json};
  TW_TRY_VOID(store_.happened(bisection_, row));
  return take(row);
}

Status SearchLog::measured(const bisect::Measured& event, bisect::Purpose purpose,
                           const std::vector<double>& posterior) {
  return append("measured", json{{"candidate", event.candidate},
                                 {"reference", reference_to_json(event.reference)},
                                 {"purpose", bisect::to_string(purpose)},
                                 {"effects", values_to_json(event.effects)},
                                 {"references", values_to_json(event.references)},
                                 {"posterior", posterior}}
                                .dump());
}

Status SearchLog::measured_alone(const bisect::MeasuredAlone& event, bisect::Purpose purpose,
                                 const std::vector<double>& posterior) {
  return append("measured_alone", json{{"candidate", event.candidate},
                                       {"purpose", bisect::to_string(purpose)},
                                       {"readings", values_to_json(event.readings)},
                                       {"posterior", posterior}}
                                      .dump());
}

Status SearchLog::level_lost(const std::string& reason) {
  return append("level_lost", json{{"reason", reason}}.dump());
}

Status SearchLog::built(std::size_t candidate, const std::string& commit,
                        const std::string& content_hash) {
  return append(
      "built",
      json{{"candidate", candidate}, {"commit", commit}, {"content_hash", content_hash}}.dump());
}

Status SearchLog::unbuildable(std::size_t candidate, const std::string& commit,
                              const std::string& reason, bool fault) {
  return append(
      "unbuildable",
      json{{"candidate", candidate}, {"commit", commit}, {"reason", reason}, {"fault", fault}}
          .dump());
}

Status SearchLog::same_library(const bisect::SameLibrary& event) {
  return append("same_library",
                json{{"earlier", reference_to_json(event.earlier)}, {"later", event.later}}.dump());
}

Status SearchLog::target_lost(std::size_t target, const std::string& reason) {
  return append("target_lost", json{{"target", target}, {"reason", reason}}.dump());
}

Status SearchLog::reverted(const RevertCheck& check) {
  json effects = json::object();
  for (const auto& [target, effect] : check.effects) effects[std::to_string(target)] = effect;
  return append("reverted", json{{"candidate", check.culprit},
                                 {"applies", check.applies},
                                 {"builds", check.builds},
                                 {"effects", effects},
                                 {"gone", check.gone},
                                 {"reason", check.reason}}
                                .dump());
}

}  // namespace torchwatch::nightly
