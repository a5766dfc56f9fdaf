#include "torchwatch/nightly/search_result.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cell_json.hpp"
#include "torchwatch/nightly/search_order.hpp"

namespace torchwatch::nightly {

using nlohmann::json;

namespace {

json target_effect_to_json(const TargetEffect& effect) {
  auto object = target_to_json(effect.target);
  object["effect"] = effect.effect;
  object["effect_interval"] = {effect.low, effect.high};
  object["pairs"] = effect.pairs;
  if (is_relative(effect.target.metric)) {
    object["ratio"] = std::exp(effect.effect);
    object["interval"] = {std::exp(effect.low), std::exp(effect.high)};
  } else {
    object["ratio"] = nullptr;
    object["interval"] = nullptr;
  }
  object["unit"] = is_relative(effect.target.metric) ? "log ratio" : unit_of(effect.target.metric);
  return object;
}

Result<TargetEffect> target_effect_from_json(const json& object) {
  TargetEffect effect;
  TW_TRY(effect.target, target_from_json(object));
  // A number that JSON cannot hold (an unbounded interval) was written as null.
  const auto number = [](const json& value) { return value.is_null() ? NAN : value.get<double>(); };
  effect.effect = number(object.at("effect"));
  effect.low = number(object.at("effect_interval").at(0));
  effect.high = number(object.at("effect_interval").at(1));
  object.at("pairs").get_to(effect.pairs);
  return effect;
}

json effects_to_json(const std::vector<TargetEffect>& effects) {
  json array = json::array();
  for (const auto& effect : effects) array.push_back(target_effect_to_json(effect));
  return array;
}

Result<std::vector<TargetEffect>> effects_from_json(const json& array) {
  std::vector<TargetEffect> effects;
  for (const auto& item : array) {
    TW_TRY(auto effect, target_effect_from_json(item));
    effects.push_back(std::move(effect));
  }
  return effects;
}

json culprit_to_json(const CulpritFinding& culprit) {
  return json{{"commits", culprit.commits},
              {"parent", culprit.parent},
              {"confidence", culprit.confidence},
              {"effects", effects_to_json(culprit.effects)},
              {"verified", culprit.verified}};
}

Result<CulpritFinding> culprit_from_json(const json& object) {
  CulpritFinding culprit;
  object.at("commits").get_to(culprit.commits);
  object.at("parent").get_to(culprit.parent);
  object.at("confidence").get_to(culprit.confidence);
  TW_TRY(culprit.effects, effects_from_json(object.at("effects")));
  object.at("verified").get_to(culprit.verified);
  return culprit;
}

json skipped_to_json(const std::vector<SkippedBuild>& skipped) {
  json array = json::array();
  for (const auto& item : skipped) {
    array.push_back({{"commit", item.commit}, {"reason", item.reason}});
  }
  return array;
}

}  // namespace

const CulpritFinding* SearchResult::leading() const {
  if (culprits.empty()) return nullptr;
  const auto single = std::ranges::find(culprits, std::size_t{1},
                                        [](const auto& finding) { return finding.commits.size(); });
  return single == culprits.end() ? &culprits.front() : &*single;
}

std::optional<std::string> SearchResult::culprit() const {
  const auto* finding = leading();
  if (finding == nullptr || finding->commits.size() != 1) return std::nullopt;
  return finding->commits.front();
}

std::string to_json(const SearchResult& result) {
  json culprits = json::array();
  for (const auto& culprit : result.culprits) culprits.push_back(culprit_to_json(culprit));

  auto candidates = result.suspects;
  double confidence = result.suspects_confidence;
  json effects = effects_to_json(result.ends);
  std::string verified;
  if (const auto* leading = result.leading()) {
    candidates = leading->commits;
    confidence = leading->confidence;
    effects = effects_to_json(leading->effects);
    verified = leading->verified;
  }
  const auto culprit = result.culprit();
  return json{{"outcome", result.outcome},
              {"culprit", culprit ? json(*culprit) : json(nullptr)},
              {"candidates", candidates},
              {"confidence", confidence},
              {"effects", effects},
              {"builds", result.builds},
              {"runs", result.runs},
              {"skipped", skipped_to_json(result.skipped)},
              {"verified", verified},
              {"reason", result.reason},
              {"culprits", culprits},
              {"suspects", result.suspects},
              {"suspects_confidence", result.suspects_confidence},
              {"ends", effects_to_json(result.ends)},
              {"commits", result.commits},
              {"folded", result.folded}}
      .dump();
}

Result<SearchResult> parse_search_result(std::string_view text) {
  try {
    const auto object = json::parse(text);
    SearchResult result;
    object.at("outcome").get_to(result.outcome);
    for (const auto& item : object.at("culprits")) {
      TW_TRY(auto culprit, culprit_from_json(item));
      result.culprits.push_back(std::move(culprit));
    }
    object.at("suspects").get_to(result.suspects);
    object.at("suspects_confidence").get_to(result.suspects_confidence);
    TW_TRY(result.ends, effects_from_json(object.at("ends")));
    object.at("commits").get_to(result.commits);
    object.at("folded").get_to(result.folded);
    object.at("builds").get_to(result.builds);
    object.at("runs").get_to(result.runs);
    for (const auto& item : object.at("skipped")) {
      result.skipped.push_back(
          {item.at("commit").get<std::string>(), item.at("reason").get<std::string>()});
    }
    object.at("reason").get_to(result.reason);
    return result;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, std::string("stored search answer: ") + exception.what());
  }
}

}  // namespace torchwatch::nightly
