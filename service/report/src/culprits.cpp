#include "torchwatch/report/culprits.hpp"

#include <algorithm>
#include <cmath>

#include "torchwatch/report/view.hpp"

namespace torchwatch::report {
namespace {

using nlohmann::json;

CommitFacts commit_of(const std::string& sha) {
  CommitFacts commit;
  commit.sha = sha;
  return commit;
}

double number_or_zero(const json& value) {
  return value.is_number() ? value.get<double>() : 0;
}

/// Throws json::exception where the row is damaged; nothing for a word that is not known.
std::optional<EffectFacts> stored_effect(const json& stored) {
  EffectFacts effect;
  const auto configuration = parse_configuration(stored.at("configuration").get<std::string>());
  const auto variant = parse_variant(stored.at("variant").get<std::string>());
  const auto metric = parse_metric(stored.at("metric").get<std::string>());
  if (!configuration || !variant || !metric) return std::nullopt;
  effect.series = {{stored.at("workload").get<std::string>(), *configuration, *variant}, *metric};
  effect.runs = stored.at("pairs").get<int>() * 2;
  effect.ratio = number_or_zero(stored.at("ratio"));
  if (const auto& interval = stored.at("interval"); interval.is_array()) {
    effect.interval_low = number_or_zero(interval.at(0));
    effect.interval_high = number_or_zero(interval.at(1));
  }
  if (!(effect.ratio > 0)) effect.difference = number_or_zero(stored.at("effect"));
  return effect;
}

CulpritFacts cause_of(const json& stored) {
  CulpritFacts cause;
  for (const auto& sha : stored.at("commits")) cause.commits.push_back(commit_of(sha));
  cause.confidence = number_or_zero(stored.at("confidence"));
  cause.verified = stored.at("verified").get<std::string>();
  for (const auto& each : stored.at("effects")) {
    if (auto effect = stored_effect(each)) cause.effects.push_back(*std::move(effect));
  }
  return cause;
}

std::vector<CulpritFacts> causes_in(const json& result) {
  std::vector<CulpritFacts> causes;
  for (const auto& each : result.at("culprits")) causes.push_back(cause_of(each));
  CulpritFacts suspects;
  for (const auto& sha : result.at("suspects")) suspects.commits.push_back(commit_of(sha));
  suspects.confidence = number_or_zero(result.at("suspects_confidence"));
  if (!suspects.commits.empty()) causes.push_back(std::move(suspects));
  return causes;
}

}  // namespace

std::vector<CulpritFacts> causes_of(const storage::BisectionRow& row) {
  const auto result = embedded(row.result_json);
  if (!result.is_object()) return {};
  try {
    return causes_in(result);
  } catch (const json::exception&) {
    return {};
  }
}

const CulpritFacts* leading(const std::vector<CulpritFacts>& causes) {
  if (causes.empty()) return nullptr;
  const auto single = std::ranges::find(causes, std::size_t{1},
                                        [](const auto& cause) { return cause.commits.size(); });
  return single == causes.end() ? &causes.front() : &*single;
}

}  // namespace torchwatch::report
