#include "torchwatch/documents/bisection.hpp"

#include <cmath>
#include <limits>

#include "torchwatch/documents/vocabulary_json.hpp"

namespace torchwatch::bisection {

using nlohmann::json;

bool is_relative(Metric metric) {
  return pass_of(metric) == Pass::timing;
}

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
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  const auto number = [](const json& value, double otherwise) {
    return value.is_null() ? otherwise : value.get<double>();
  };
  effect.effect = number(from.at("effect"), NAN);
  effect.low = number(from.at("effect_interval").at(0), -kUnbounded);
  effect.high = number(from.at("effect_interval").at(1), kUnbounded);
  from.at("pairs").get_to(effect.pairs);
}

static void to_json(json& to, const NamedCulprit& culprit) {
  to = {{"commits", culprit.commits},       {"parent", culprit.parent},
        {"confidence", culprit.confidence}, {"effects", culprit.effects},
        {"verified", culprit.verified},     {"revert", spelling(culprit.revert)}};
}

/// Results that were stored before the outcome was a member say it in words alone.
static RevertOutcome outcome_in_words(const std::string& verified) {
  const auto says = [&](const char* words) { return verified.find(words) != std::string::npos; };
  if (says("the newest commit was not possible")) return RevertOutcome::impossible;
  if (says("undoes the change")) return RevertOutcome::change_gone;
  // Without a figure nothing was measured.
  return says("did not clearly undo the change (with the commit") ? RevertOutcome::change_stays
                                                                  : RevertOutcome::not_tried;
}

static void from_json(const json& from, NamedCulprit& culprit) {
  from.at("commits").get_to(culprit.commits);
  from.at("parent").get_to(culprit.parent);
  from.at("confidence").get_to(culprit.confidence);
  from.at("effects").get_to(culprit.effects);
  from.at("verified").get_to(culprit.verified);
  const auto revert = from.value("revert", std::string());
  culprit.revert = revert.empty() ? outcome_in_words(culprit.verified)
                                  : parsed_or_throw(parse_word<RevertOutcome>(revert));
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SkippedBuild, commit, reason)

std::optional<std::string> BisectionResult::culprit() const {
  const auto* culprit = leading();
  if (culprit == nullptr || culprit->commits.size() != 1) return std::nullopt;
  return culprit->commits.front();
}

std::vector<std::string> BisectionResult::single_commits() const {
  std::vector<std::string> single;
  for (const auto& culprit : culprits) {
    if (culprit.commits.size() == 1) single.push_back(culprit.commits.front());
  }
  return single;
}

json json_of(const BisectionResult& result) {
  auto candidates = result.suspects;
  double confidence = result.suspects_confidence;
  auto effects = result.ends;
  std::string verified;
  auto revert = RevertOutcome::not_tried;
  if (const auto* leading = result.leading()) {
    candidates = leading->commits;
    confidence = leading->confidence;
    effects = leading->effects;
    verified = leading->verified;
    revert = leading->revert;
  }
  const auto culprit = result.culprit();
  return {{"outcome", spelling(result.outcome)},
          {"culprit", culprit ? json(*culprit) : json(nullptr)},
          {"candidates", candidates},
          {"confidence", confidence},
          {"effects", effects},
          {"builds", result.builds},
          {"made_elsewhere", result.made_elsewhere},
          {"runs", result.runs},
          {"skipped", result.skipped},
          {"verified", verified},
          {"revert", spelling(revert)},
          {"reason", result.reason},
          {"culprits", result.culprits},
          {"suspects", result.suspects},
          {"suspects_confidence", result.suspects_confidence},
          {"ends", result.ends},
          {"commits", result.commits},
          {"folded", result.folded}};
}

std::string to_json(const BisectionResult& result) {
  return stored_text(json_of(result));
}

Result<BisectionResult> parse_bisection_result(std::string_view text) {
  try {
    const auto object = json::parse(text);
    BisectionResult result;
    const auto outcome = object.at("outcome").get<std::string>();
    result.outcome = parsed_or_throw(parse_word<BisectionOutcome>(outcome));
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

Result<std::optional<Dispute>> parse_dispute(std::string_view spec_json) {
  const auto spec = json::parse(spec_json, nullptr, false);
  if (!spec.is_object() || !spec.contains("dispute")) return std::nullopt;
  try {
    return spec.at("dispute").get<Dispute>();
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt,
                std::string("stored bisection specification: ") + exception.what());
  }
}

}  // namespace torchwatch::bisection
