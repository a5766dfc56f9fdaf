#include "torchwatch/bisection/result.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/comparison/benchmark_json.hpp"

namespace torchwatch::bisection {

using nlohmann::json;

namespace {

using Word = std::pair<BisectionOutcome, std::string_view>;
constexpr std::array kOutcomes{Word{BisectionOutcome::found, "found"},
                               Word{BisectionOutcome::partly_found, "partly_found"},
                               Word{BisectionOutcome::not_told_apart, "not_told_apart"},
                               Word{BisectionOutcome::did_not_reproduce, "did_not_reproduce"},
                               Word{BisectionOutcome::nothing_to_search, "nothing_to_search"},
                               Word{BisectionOutcome::faulted, "faulted"}};

json series_effect_to_json(const SeriesEffect& effect) {
  auto object = comparison::series_to_json(effect.series);
  object["effect"] = effect.effect;
  object["effect_interval"] = {effect.low, effect.high};
  object["pairs"] = effect.pairs;
  if (is_relative(effect.series.metric)) {
    object["ratio"] = std::exp(effect.effect);
    object["interval"] = {std::exp(effect.low), std::exp(effect.high)};
  } else {
    object["ratio"] = nullptr;
    object["interval"] = nullptr;
  }
  object["unit"] = is_relative(effect.series.metric) ? "log ratio" : unit_of(effect.series.metric);
  return object;
}

Result<SeriesEffect> series_effect_from_json(const json& object) {
  SeriesEffect effect;
  TW_TRY(effect.series, comparison::series_from_json(object));
  // A number that JSON cannot hold (an unbounded interval) was written as null.
  const auto number = [](const json& value) { return value.is_null() ? NAN : value.get<double>(); };
  effect.effect = number(object.at("effect"));
  effect.low = number(object.at("effect_interval").at(0));
  effect.high = number(object.at("effect_interval").at(1));
  object.at("pairs").get_to(effect.pairs);
  return effect;
}

json effects_to_json(const std::vector<SeriesEffect>& effects) {
  json array = json::array();
  for (const auto& effect : effects) array.push_back(series_effect_to_json(effect));
  return array;
}

Result<std::vector<SeriesEffect>> effects_from_json(const json& array) {
  std::vector<SeriesEffect> effects;
  for (const auto& item : array) {
    TW_TRY(auto effect, series_effect_from_json(item));
    effects.push_back(std::move(effect));
  }
  return effects;
}

json culprit_to_json(const NamedCulprit& culprit) {
  return json{{"commits", culprit.commits},
              {"parent", culprit.parent},
              {"confidence", culprit.confidence},
              {"effects", effects_to_json(culprit.effects)},
              {"verified", culprit.verified}};
}

Result<NamedCulprit> culprit_from_json(const json& object) {
  NamedCulprit culprit;
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

std::string_view to_string(BisectionOutcome outcome) {
  return std::ranges::find(kOutcomes, outcome, &Word::first)->second;
}

Result<BisectionOutcome> parse_bisection_outcome(std::string_view text) {
  const auto* const word = std::ranges::find(kOutcomes, text, &Word::second);
  if (word != kOutcomes.end()) return word->first;
  return fail(ErrorCode::corrupt, "invalid outcome of a bisection: \"" + std::string(text) + "\"");
}

const NamedCulprit* BisectionResult::leading() const {
  if (culprits.empty()) return nullptr;
  const auto single = std::ranges::find(culprits, std::size_t{1},
                                        [](const auto& culprit) { return culprit.commits.size(); });
  return single == culprits.end() ? &culprits.front() : &*single;
}

std::optional<std::string> BisectionResult::culprit() const {
  const auto* culprit = leading();
  if (culprit == nullptr || culprit->commits.size() != 1) return std::nullopt;
  return culprit->commits.front();
}

std::string to_json(const BisectionResult& result) {
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
  return json{{"outcome", to_string(result.outcome)},
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

Result<BisectionResult> parse_bisection_result(std::string_view text) {
  try {
    const auto object = json::parse(text);
    BisectionResult result;
    TW_TRY(result.outcome, parse_bisection_outcome(object.at("outcome").get<std::string>()));
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
    return fail(ErrorCode::corrupt, std::string("stored bisection result: ") + exception.what());
  }
}

}  // namespace torchwatch::bisection
