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

}  // namespace

static void to_json(json& to, const SeriesEffect& effect) {
  to = effect.series;
  to["effect"] = effect.effect;
  to["effect_interval"] = {effect.low, effect.high};
  to["pairs"] = effect.pairs;
  if (is_relative(effect.series.metric)) {
    to["ratio"] = std::exp(effect.effect);
    to["interval"] = {std::exp(effect.low), std::exp(effect.high)};
  } else {
    to["ratio"] = nullptr;
    to["interval"] = nullptr;
  }
  to["unit"] = is_relative(effect.series.metric) ? "log ratio" : unit_of(effect.series.metric);
}

static void from_json(const json& from, SeriesEffect& effect) {
  from.get_to(effect.series);
  // A number that JSON cannot hold (an unbounded interval) was written as null.
  const auto number = [](const json& value) { return value.is_null() ? NAN : value.get<double>(); };
  effect.effect = number(from.at("effect"));
  effect.low = number(from.at("effect_interval").at(0));
  effect.high = number(from.at("effect_interval").at(1));
  from.at("pairs").get_to(effect.pairs);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NamedCulprit, commits, parent, confidence, effects, verified)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SkippedBuild, commit, reason)

report::EffectFacts effect_facts(const SeriesEffect& effect) {
  report::EffectFacts facts;
  facts.series = effect.series;
  facts.runs = effect.pairs * 2;
  if (is_relative(effect.series.metric)) {
    facts.ratio = std::exp(effect.effect);
    facts.interval_low = std::exp(effect.low);
    facts.interval_high = std::exp(effect.high);
  } else {
    facts.difference = effect.effect;
  }
  return facts;
}

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
  auto candidates = result.suspects;
  double confidence = result.suspects_confidence;
  auto effects = result.ends;
  std::string verified;
  if (const auto* leading = result.leading()) {
    candidates = leading->commits;
    confidence = leading->confidence;
    effects = leading->effects;
    verified = leading->verified;
  }
  const auto culprit = result.culprit();
  return json{{"outcome", to_string(result.outcome)},
              {"culprit", culprit ? json(*culprit) : json(nullptr)},
              {"candidates", candidates},
              {"confidence", confidence},
              {"effects", effects},
              {"builds", result.builds},
              {"made_elsewhere", result.made_elsewhere},
              {"runs", result.runs},
              {"skipped", result.skipped},
              {"verified", verified},
              {"reason", result.reason},
              {"culprits", result.culprits},
              {"suspects", result.suspects},
              {"suspects_confidence", result.suspects_confidence},
              {"ends", result.ends},
              {"commits", result.commits},
              {"folded", result.folded}}
      .dump();
}

Result<BisectionResult> parse_bisection_result(std::string_view text) {
  try {
    const auto object = json::parse(text);
    BisectionResult result;
    TW_TRY(result.outcome, parse_bisection_outcome(object.at("outcome").get<std::string>()));
    object.at("culprits").get_to(result.culprits);
    object.at("suspects").get_to(result.suspects);
    object.at("suspects_confidence").get_to(result.suspects_confidence);
    object.at("ends").get_to(result.ends);
    object.at("commits").get_to(result.commits);
    object.at("folded").get_to(result.folded);
    object.at("builds").get_to(result.builds);
    result.made_elsewhere = object.value("made_elsewhere", 0);
    object.at("runs").get_to(result.runs);
    object.at("skipped").get_to(result.skipped);
    object.at("reason").get_to(result.reason);
    return result;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, std::string("stored bisection result: ") + exception.what());
  }
}

}  // namespace torchwatch::bisection
