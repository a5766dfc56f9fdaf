#include "torchwatch/documents/study.hpp"

#include <algorithm>

namespace torchwatch::comparison {
namespace {

/// The setting without the switches that say what a run does anyway.
Setting in_effect(Setting setting) {
  if (setting.fixed_heap == true) setting.fixed_heap.reset();
  if (setting.flushes_denormals == false) setting.flushes_denormals.reset();
  if (setting.zeroes_gradients == false) setting.zeroes_gradients.reset();
  return setting;
}

/// Also of two settings that mean the same, which earlier versions measured and stored.
Result<Sides> read_sides(const std::string& baseline, const std::string& candidate) {
  Sides sides;
  TW_TRY(sides.baseline, parse_setting(baseline));
  TW_TRY(sides.candidate, parse_setting(candidate));
  return sides;
}

}  // namespace

Result<Sides> parse_sides(const std::string& baseline, const std::string& candidate) {
  TW_TRY(const auto sides, read_sides(baseline, candidate));
  if (in_effect(sides.baseline) != in_effect(sides.candidate)) return sides;
  const auto [a, b] = std::pair(to_string(sides.baseline), to_string(sides.candidate));
  return fail(ErrorCode::invalid,
              (a == b ? "both settings are " + a : a + " and " + b + " mean the same") +
                  ": there is nothing to compare",
              "name two that differ; `torchwatch compare A A` compares a build with itself");
}

std::string in_words(const storage::StudyRow& study) {
  const auto both = study.candidate + " against " + study.baseline;
  return study.name.empty() ? both : study.name + ", " + both;
}

nlohmann::json settings_json(const storage::StudyRow& study) {
  nlohmann::json object{{"baseline", study.baseline}, {"candidate", study.candidate}};
  if (!study.name.empty()) object["name"] = study.name;
  return object;
}

Result<std::optional<storage::StudyRow>> parse_study(const nlohmann::json& body) {
  constexpr std::size_t kNameMax = 200;
  if (!body.contains("settings")) return std::nullopt;
  const auto& object = body.at("settings");
  const auto text = [&object](const char* name) {
    const auto found = object.find(name);
    const bool is_text = found != object.end() && found->is_string();
    return is_text ? found->get<std::string>() : std::string();
  };
  const auto known = object.is_object() ? object.count("baseline") + object.count("candidate") +
                                              object.count("name")
                                        : 0;
  const bool is_whole = known > 0 && known == object.size() && !text("baseline").empty() &&
                        !text("candidate").empty() && text("name").size() <= kNameMax;
  if (!is_whole) {
    return fail(ErrorCode::invalid,
                "settings must have baseline and candidate, two texts such as \"threads=2\", and "
                "may have a name of at most " +
                    std::to_string(kNameMax) + " characters");
  }
  TW_TRY(const auto sides, parse_sides(text("baseline"), text("candidate")));
  return storage::StudyRow{.name = text("name"),
                           .baseline = to_string(sides.baseline),
                           .candidate = to_string(sides.candidate)};
}

Result<Sides> sides_of(storage::Database& database, storage::Id comparison) {
  TW_TRY(const auto study, storage::StudyStore(database).find(comparison));
  if (!study) return Sides{};
  auto sides = read_sides(study->baseline, study->candidate);
  if (!sides)
    return fail(sides.error()
                    .within("settings of comparison " + std::to_string(comparison))
                    .as(ErrorCode::corrupt));
  return sides;
}

std::vector<std::string> with_alternatives(const Sides& sides, std::vector<std::string> workloads) {
  for (const auto* side : {&sides.baseline, &sides.candidate}) {
    const bool is_new =
        !side->workload.empty() && std::ranges::find(workloads, side->workload) == workloads.end();
    if (is_new) workloads.push_back(side->workload);
  }
  return workloads;
}

}  // namespace torchwatch::comparison
