#include "torchwatch/report/view.hpp"

#include <algorithm>
#include <cmath>

#include "torchwatch/detect/memory_verdict.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/user.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/setback.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/study_store.hpp"

namespace torchwatch::report {

using nlohmann::json;

namespace {

json ratio_or_null(double ratio) {
  return ratio > 0 && std::isfinite(ratio) ? json(ratio) : json(nullptr);
}

json interval_or_null(double low, double high) {
  return figures::is_known(low, high) ? json::array({low, high}) : json(nullptr);
}

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

/// Among changes: other outputs before leaks, leaks before ratios. What is kept per iteration is a
/// property of the code; what is left after a run also depends on how many iterations it had.
int place_of(Metric metric) {
  if (metric == Metric::output_difference) return 0;
  if (!is_leak(metric)) return 3;
  return is_growth(metric) ? 1 : 2;
}

/// What a verdict and an effect of an incident have in common.
template <typename Row>
json measured(const Row& row) {
  auto object = json_of(row.series);
  object["ratio"] = ratio_or_null(row.ratio);
  object["interval"] = interval_or_null(row.interval_low, row.interval_high);
  object["exact"] = is_exact(effect_of(row));
  object["baseline_value"] = row.baseline_value;
  object["candidate_value"] = row.candidate_value;
  return object;
}

json settings_of(const std::optional<storage::StudyRow>& study) {
  if (!study) return nullptr;
  return {{"name", text_or_null(study->name)},
          {"baseline", study->baseline},
          {"candidate", study->candidate}};
}

}  // namespace

json json_of(const Benchmark& benchmark) {
  return {{"workload", benchmark.workload},
          {"configuration", to_string(benchmark.configuration)},
          {"variant", to_string(benchmark.variant)}};
}

json json_of(const Series& series) {
  auto object = json_of(series.benchmark);
  object["metric"] = to_string(series.metric);
  object["unit"] = unit_of(series.metric);
  return object;
}

json json_of(const storage::RunValue& value, const storage::BuildRow& build) {
  return {{"measured_at", time_of(value.measured_at)},
          {"build", {{"id", build.id}, {"name", build.name}}},
          {"run", {{"id", value.attempt}}},
          {"value", value.value},
          {"thinned", value.is_thinned}};
}

json json_of(const storage::VerdictRow& row) {
  auto object = measured(row);
  object.update({{"verdict", to_string(row.verdict)},
                 {"baseline_spread", row.baseline_spread},
                 {"candidate_spread", row.candidate_spread},
                 {"runs", row.runs},
                 {"reason", text_or_null(row.reason)}});
  return object;
}

json build_of_comparison(const storage::BuildRow& row) {
  return {{"id", row.id},
          {"origin", to_string(row.origin)},
          {"name", row.name},
          {"version", text_or_null(row.version)},
          {"trunk_commit", text_or_null(row.trunk_commit)}};
}

Result<json> json_of(storage::Database& database, const storage::ComparisonRow& row,
                     std::optional<storage::Id> at_work) {
  storage::BuildStore builds(database);
  NamedByComparison named;
  TW_TRY(named.candidate, builds.get(row.candidate));
  TW_TRY(named.result, result_word(database, row, at_work));
  TW_TRY(named.waits_for, what_it_waits_for(database, storage::ItemKind::comparison, row.id));
  if (row.baseline) {
    TW_TRY(named.baseline, builds.get(*row.baseline));
  }
  TW_TRY(named.study, storage::StudyStore(database).find(row.id));
  return json_of(row, named);
}

json json_of(const storage::ComparisonRow& row, const NamedByComparison& named) {
  const auto build = [](const std::optional<storage::BuildRow>& of) {
    return of ? build_of_comparison(*of) : json(nullptr);
  };
  return json{{"id", row.id},
              {"purpose", to_string(row.purpose)},
              {"incident", or_null(row.incident)},
              {"nightlies_back", row.nightlies_back > 0 ? json(row.nightlies_back) : json(nullptr)},
              {"state", to_string(row.state)},
              {"result", text_or_null(named.result)},
              {"repetition", row.repetition},
              {"candidate", build(named.candidate)},
              {"baseline", build(named.baseline)},
              {"settings", settings_of(named.study)},
              {"reason", text_or_null(row.reason)},
              {"waits_for", text_or_null(named.waits_for)},
              {"created_at", time_of(row.created_at)},
              {"ended_at", time_of(row.ended_at)}};
}

json json_of(const storage::IncidentSeriesRow& row) {
  return measured(row);
}

json json_of(const storage::IncidentRow& row) {
  return {{"id", row.id},
          {"comparison", row.comparison},
          {"key", row.key},
          {"kind", to_string(row.kind)},
          {"state", to_string(row.state)},
          {"title", row.title},
          {"effects", json_list(row.series)},
          {"bisection", or_null(row.bisection)},
          {"issue_number", or_null(row.issue_number)},
          {"acceptance", json_of(row.acceptance)},
          {"opened_at", time_of(row.opened_at)},
          {"closed_at", time_of(row.closed_at)}};
}

json json_of(const storage::BisectionRow& row) {
  return {{"id", row.id},
          {"incident", or_null(row.incident)},
          {"state", to_string(row.state)},
          {"good", row.good},
          {"bad", row.bad},
          {"result", result_of(row)},
          {"created_at", time_of(row.created_at)},
          {"ended_at", time_of(row.ended_at)}};
}

json result_of(const storage::BisectionRow& row) {
  const auto result = bisection::parse_bisection_result(row.result_json);
  return result ? bisection::json_of(*result) : json(nullptr);
}

Result<json> json_of(storage::Database& database, const storage::RequestRow& row) {
  TW_TRY(const auto waits, what_it_waits_for(database, storage::ItemKind::request, row.id));
  return json{{"id", row.id},
              {"kind", to_string(row.kind)},
              {"state", to_string(row.state)},
              {"body", embedded(row.body_json)},
              {"result", embedded(row.result_json)},
              {"asked_by", text_or_null(name_of(row.asked_by))},
              {"waits_for", text_or_null(waits)},
              {"created_at", time_of(row.created_at)}};
}

json json_of(const storage::OutboxRow& row) {
  const bool is_dead = row.state == storage::OutboxState::dead;
  return {{"id", row.id},
          {"key", row.key},
          {"incident", row.incident == 0 ? json(nullptr) : json(row.incident)},
          {"target", text_or_null(row.target)},
          {"kind", to_string(row.kind)},
          {"state", to_string(row.state)},
          {"title", text_or_null(row.title)},
          {"tries", row.tries},
          {"failures", row.failures},
          {"not_before", is_dead ? json(nullptr) : time_of(row.not_before)},
          {"last_error", text_or_null(row.last_error)}};
}

json json_of(const std::optional<storage::Decision>& acceptance) {
  if (!acceptance) return nullptr;
  return {{"by", acceptance->by}, {"reason", acceptance->reason}, {"at", time_of(acceptance->at)}};
}

json json_of(const storage::DecisionRow& row) {
  return {{"kind", to_string(row.kind)},
          {"by", text_or_null(row.decision.by)},
          {"asked_by", text_or_null(row.decision.asked_by)},
          {"reason", text_or_null(row.decision.reason)},
          {"at", time_of(row.decision.at)}};
}

json json_of(const storage::TokenRow& row) {
  return {{"id", row.id},
          {"name", row.name},
          {"scopes", to_string(row.scopes)},
          {"made_at", time_of(row.made_at)},
          {"made_by", text_or_null(row.made_by)},
          {"used_at", time_of(row.used_at.value_or(0))},
          {"revoked_at", time_of(row.revoked_at.value_or(0))},
          {"revoked_by", text_or_null(row.revoked_by)}};
}

json json_of(const storage::AuditRow& row) {
  return {{"id", row.id},
          {"path", row.path},
          {"item", text_or_null(row.item)},
          {"asked_by", text_or_null(row.asked_by)},
          {"asked_at", time_of(row.asked_at)}};
}

std::string name_of(const storage::Asker& asker) {
  return asker.user ? platform::user_name(static_cast<uid_t>(*asker.user)) : asker.token;
}

json embedded(const std::string& text) {
  auto value = text.empty() ? json(nullptr) : json::parse(text, nullptr, false);
  return value.is_discarded() ? json(nullptr) : value;
}

json time_of(storage::WallMillis at) {
  return at == 0 ? json(nullptr) : json(platform::iso_utc(at));
}

std::string_view program_version() {
  return TORCHWATCH_VERSION;
}

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

EffectFacts effect_of(const storage::IncidentSeriesRow& row) {
  const bool is_of_pairs = pass_of(row.series.metric) == Pass::timing && row.ratio > 0;
  EffectFacts facts;
  facts.series = row.series;
  facts.ratio = row.ratio;
  facts.interval_low = row.interval_low;
  facts.interval_high = row.interval_high;
  facts.baseline_value = row.baseline_value;
  facts.candidate_value = is_of_pairs ? row.baseline_value * row.ratio : row.candidate_value;
  return facts;
}

EffectFacts effect_of(const storage::VerdictRow& row) {
  auto facts = effect_of(storage::incident_series(row));
  facts.baseline_spread = row.baseline_spread;
  facts.candidate_spread = row.candidate_spread;
  facts.runs = row.runs;
  return facts;
}

EffectFacts effect_of(const bisection::SeriesEffect& effect) {
  EffectFacts facts;
  facts.series = effect.series;
  facts.runs = effect.pairs * 2;
  if (bisection::is_relative(effect.series.metric)) {
    facts.ratio = std::exp(effect.effect);
    facts.interval_low = std::exp(effect.low);
    facts.interval_high = std::exp(effect.high);
  } else {
    facts.difference = effect.effect;
  }
  return facts;
}

bool is_exact(const EffectFacts& effect) {
  return detect::is_counted(effect.series.metric) && effect.ratio > 0 &&
         effect.interval_low == effect.ratio && effect.interval_high == effect.ratio;
}

bool moved_exactly(const EffectFacts& effect) {
  constexpr double kLeast = 0.001;  // less reads as +0.0 %
  return is_exact(effect) && std::abs(effect.ratio - 1) >= kLeast;
}

std::string change_text(const EffectFacts& effect) {
  if (effect.ratio > 0) {
    return (moved_exactly(effect) ? "exactly " : "") + figures::change(effect.ratio);
  }
  const double difference = difference_of(effect);
  return difference == 0 ? "" : figures::difference(effect.series.metric, difference);
}

std::string interval_text(const EffectFacts& effect) {
  if (!(effect.ratio > 0) || moved_exactly(effect)) return "";
  return figures::interval_with_unit(effect.interval_low, effect.interval_high);
}

std::string interval_heading(double confidence) {
  return figures::confidence(confidence) + " interval";
}

std::string configuration_text(const Benchmark& benchmark) {
  const auto text = to_string(benchmark.configuration);
  return benchmark.variant == Variant{} ? text : text + " " + to_string(benchmark.variant);
}

double difference_of(const EffectFacts& effect) {
  return effect.difference.value_or(effect.candidate_value - effect.baseline_value);
}

bool has_no_value(const EffectFacts& effect) {
  return has_ratio(effect.series.metric) && effect.baseline_value == 0 &&
         effect.candidate_value == 0;
}

bool is_lost_with_both(IncidentKind kind, const std::vector<EffectFacts>& effects) {
  return kind == IncidentKind::lost && !effects.empty() &&
         std::ranges::all_of(effects, has_no_value);
}

bool is_lost_with_both(const storage::IncidentRow& row) {
  std::vector<EffectFacts> effects;
  for (const auto& series : row.series) effects.push_back(effect_of(series));
  return is_lost_with_both(row.kind, effects);
}

bool is_sure_increase(const EffectFacts& effect) {
  if (!has_ratio(effect.series.metric)) return difference_of(effect) > 0;
  return figures::is_known(effect.interval_low, effect.interval_high) && effect.interval_low > 1;
}

bool is_larger(const EffectFacts& left, const EffectFacts& right) {
  const int left_place = place_of(left.series.metric);
  const int right_place = place_of(right.series.metric);
  if (left_place != right_place) return left_place < right_place;
  return has_ratio(left.series.metric) ? left.ratio > right.ratio
                                       : difference_of(left) > difference_of(right);
}

}  // namespace torchwatch::report
