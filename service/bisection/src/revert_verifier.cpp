#include "revert_verifier.hpp"

#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::bisection {
namespace {

/// The part of an effect that must be gone for the culprit to be what made it.
constexpr double kPartGone = 0.5;

void judge(const bisect::Culprit& culprit, const PairReadings& measured, RevertCheck& check) {
  check.gone = !measured.effects.empty();
  for (const auto& effect : culprit.effects) {
    const auto found = measured.effects.find(effect.series);
    if (found == measured.effects.end()) continue;
    check.effects[effect.series] = median(found->second);
    check.gone = check.gone && check.effects[effect.series] >= kPartGone * effect.effect;
  }
}

}  // namespace

Status RevertVerifier::verify(const bisect::Answer& answer, std::stop_token stop) {
  for (const auto& culprit : answer.culprits) {
    const auto candidate = culprit.classes.back();
    if (culprit.classes.size() != 1 || recorded_.is_bad_end(candidate)) continue;
    if (recorded_.revert_of(candidate) != nullptr) continue;
    TW_TRY(auto check, this->check(culprit, stop));
    TW_TRY_VOID(recorded_.record(std::move(check)));
  }
  return {};
}

Result<RevertCheck> RevertVerifier::check(const bisect::Culprit& culprit, std::stop_token stop) {
  RevertCheck check;
  check.culprit = culprit.classes.front();
  const auto& commit = recorded_.commit_of(check.culprit);
  services_.progress.phase_started("building the newest commit without " + short_sha(commit));
  const auto reverted = services_.history->create_revert(commit, spec_.bad);
  if (!reverted) {
    check.reason = reverted.error().text();
    return check;
  }
  check.applies = true;
  TW_TRY_VOID(measure(*reverted, culprit, check, stop));
  return check;
}

Status RevertVerifier::measure(const std::string& reverted, const bisect::Culprit& culprit,
                               RevertCheck& check, std::stop_token stop) {
  const bisect::Reference bad = recorded_.class_count() - 1;
  TW_TRY(const auto end, builder_.build({bad}, stop));
  if (end) {
    check.reason = end->reason;
    return {};
  }
  TW_TRY(const auto with, builder_.bad_end_of_recipe(stop));
  TW_TRY(const auto built, builder_.build_beside(reverted, bad, stop));
  for (const auto* side : {&with, &built}) {
    const auto* unbuildable = std::get_if<builds::Unbuildable>(side);
    if (unbuildable == nullptr) continue;
    check.reason = unbuildable->reason;
    return {};
  }
  check.builds = true;
  std::vector<std::size_t> all_series;
  for (const auto& effect : culprit.effects) {
    if (effect.shows) all_series.push_back(effect.series);
  }
  TW_TRY(const auto measured,
         measurer_.measure_pairs("revert/" + std::to_string(check.culprit),
                                 std::get<comparison::MeasurableBuild>(with),
                                 std::get<comparison::MeasurableBuild>(built), all_series,
                                 bisect::SearchSettings{}.verify_pairs, stop));
  if (const auto* failed = std::get_if<SideFailed>(&measured)) {
    check.reason = failed->reason;
    return {};
  }
  judge(culprit, std::get<PairReadings>(measured), check);
  return {};
}

}  // namespace torchwatch::bisection
