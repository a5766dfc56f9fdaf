#include "revert_verifier.hpp"

#include <map>
#include <vector>

#include "torchwatch/bisect/revert_gate.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::bisection {
namespace {

/// Whether it is the commit that cannot be taken out. What else fails, as a full disk, may pass.
bool is_about_the_commit(ErrorCode code) {
  return code == ErrorCode::conflict || code == ErrorCode::invalid || code == ErrorCode::not_found;
}

constexpr const char* kUndecided = "too noisy to tell whether the change goes with it";

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
    if (!is_about_the_commit(reverted.error().code)) return fail(reverted.error());
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
  return measure_pairs(std::get<comparison::MeasurableBuild>(with),
                       std::get<comparison::MeasurableBuild>(built), culprit, check, stop);
}

/// Measures the series until each is decided, or one contradicts the culprit.
Status RevertVerifier::measure_pairs(const comparison::MeasurableBuild& with,
                                     const comparison::MeasurableBuild& without,
                                     const bisect::Culprit& culprit, RevertCheck& check,
                                     std::stop_token stop) {
  const int batch = bisect::SearchSettings{}.verify_pairs;
  const auto name = "revert/" + std::to_string(check.culprit);
  const auto all_series = series_of(spec_);
  std::map<std::size_t, const bisect::Effect*> open;
  for (const auto& effect : culprit.effects) {
    if (effect.shows) open.emplace(effect.series, &effect);
  }
  check.gone = !open.empty();
  // Runs that were made are not made again, so each batch adds to those before.
  for (int pairs = batch; !open.empty(); pairs += batch) {
    std::vector<std::size_t> still_open;
    for (const auto& [series, effect] : open) still_open.push_back(series);
    TW_TRY(const auto measured,
           measurer_.measure_pairs(name, with, without, still_open, pairs, stop));
    if (const auto* failed = std::get_if<SideFailed>(&measured)) {
      check.gone = false;
      check.effects.clear();
      check.reason = failed->reason;
      return {};
    }
    for (const auto& [series, values] : std::get<PairReadings>(measured).effects) {
      const auto reading = bisect::judge_revert(all_series.at(series), *open.at(series), values);
      check.effects[series] = reading.effect;
      if (reading.state == bisect::RevertState::open) continue;
      open.erase(series);
      if (reading.state == bisect::RevertState::gone) continue;
      check.gone = false;
      check.reason = kUndecided;
      if (reading.state == bisect::RevertState::undecided) continue;
      check.reason.clear();
      return {};
    }
  }
  return {};
}

}  // namespace torchwatch::bisection
