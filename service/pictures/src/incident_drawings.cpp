#include "torchwatch/pictures/incident_drawings.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "torchwatch/evidence/bisection.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/evidence/series.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::pictures {
namespace {

using report::EffectFacts;
using storage::IncidentRow;

/// The largest changes are drawn sample by sample; the others are a link away.
constexpr std::size_t kSeriesDrawn = 2;
constexpr std::size_t kChangesDrawn = 20;
constexpr int kPastDrawn = 90;          // comparisons, about three months of them
constexpr std::size_t kFewestPast = 3;  // fewer say no more than the table

template <typename Drawing>
Drawn drawn(Shown what, std::string name, std::string sentence, Drawing drawing) {
  drawing.frame.id = name;
  const auto kept = std::make_shared<const Drawing>(std::move(drawing));
  return {.what = what,
          .name = std::move(name),
          .sentence = std::move(sentence),
          .table = table_of(*kept),
          .svg = [kept] { return svg_of(*kept); },
          .responsive = [kept] { return drawing::responsive(*kept); },
          .text = [kept](int columns) { return text_of(*kept, columns); }};
}

/// What is drawn, and what for.
struct Subject {
  const evidence::Context& context;
  const IncidentRow& incident;
  storage::ComparisonRow comparison;
  std::vector<EffectFacts> effects;  ///< the largest first
};

Result<Subject> subject_of(const evidence::Context& context, const IncidentRow& incident) {
  TW_TRY(auto comparison, storage::ComparisonStore(context.database).get(incident.comparison));
  TW_TRY(auto effects, effects_of(context.database, incident));
  return Subject{context, incident, std::move(comparison), std::move(effects)};
}

std::string change_of(const EffectFacts& effect) {
  const auto interval = report::interval_text(effect);
  return to_string(effect.series) + ", " + report::change_text(effect) +
         (interval.empty() ? "" : " " + interval);
}

Status add_samples(const Subject& subject, const EffectFacts& effect, const std::string& number,
                   std::vector<Drawn>& all) {
  TW_TRY(auto strips, evidence::strips_of(subject.context, subject.comparison, effect.series));
  if (strips.strips.runs.empty()) return {};
  const auto what = strips.thinned > 0 ? "The median of each run, whose samples are thinned, of "
                    : pass_of(effect.series.metric) == Pass::timing ? "Every sample of "
                                                                    : "Every run of ";
  all.push_back(drawn(Shown::samples, "samples-" + number, what + change_of(effect),
                      std::move(strips.strips)));
  all.back().series = effect.series;
  return {};
}

Status add_memory(const Subject& subject, const EffectFacts& effect, const std::string& number,
                  std::vector<Drawn>& all) {
  const auto metric = effect.series.metric;
  if (pass_of(metric) == Pass::timing || metric == Metric::output_difference) return {};
  TW_TRY(auto levels,
         evidence::memory_levels_of(subject.context, subject.comparison, effect.series));
  if (!levels) return {};
  all.push_back(drawn(Shown::memory, "memory-" + number,
                      "Memory after each iteration of " + change_of(effect), *std::move(levels)));
  all.back().series = effect.series;
  return {};
}

/// The past of a series up to this comparison: later ones would make
/// another picture again and again.
Status add_history(const Subject& subject, const Series& series, std::vector<Drawn>& all) {
  TW_TRY(auto history,
         evidence::history_of(
             subject.context,
             {.series = series, .until = subject.comparison.created_at + 1, .limit = kPastDrawn}));
  if (history.points.size() < kFewestPast) return {};
  auto sentence = to_string(series) + " in " + figures::count(history.points.size(), "comparison") +
                  " of nightlies, up to this one";
  all.push_back(drawn(Shown::history, "history", std::move(sentence), std::move(history)));
  all.back().series = series;
  return {};
}

Status add_changes(const Subject& subject, std::vector<Drawn>& all) {
  TW_TRY(auto forest, evidence::forest_of(subject.context, subject.incident));
  const auto count = forest.rows.size();
  if (count < 2) return {};
  if (count > kChangesDrawn) forest.rows.resize(kChangesDrawn);
  auto sentence =
      (count > kChangesDrawn ? "The " + std::to_string(kChangesDrawn) + " largest of " : "") +
      figures::count(count, "change") + " with intervals; right of the line is worse";
  all.push_back(drawn(Shown::changes, "changes", std::move(sentence), std::move(forest)));
  return {};
}

Status add_steps(const Subject& subject, const StepsOf& steps_of, std::vector<Drawn>& all) {
  if (!subject.incident.bisection || !steps_of) return {};
  TW_TRY(const auto row,
         storage::BisectionStore(subject.context.database).get(*subject.incident.bisection));
  TW_TRY(const auto steps, steps_of(row));
  auto posterior = evidence::posterior_steps(subject.context, row, steps);
  if (posterior.steps.empty()) return {};
  all.push_back(drawn(Shown::steps, "steps",
                      "Where the culprit was believed to be after each step, newest on top: the "
                      "higher, the more probable",
                      std::move(posterior)));
  return {};
}

}  // namespace

Result<std::vector<EffectFacts>> effects_of(storage::Database& database,
                                            const IncidentRow& incident) {
  std::vector<EffectFacts> effects;
  for (const auto& row : incident.series) {
    TW_TRY(const auto verdict, storage::verdict_on(database, incident.comparison, row.series));
    effects.push_back(verdict ? report::effect_of(*verdict) : report::effect_of(row));
  }
  std::ranges::stable_sort(effects, report::is_larger);
  return effects;
}

Result<std::vector<Drawn>> drawings_of(const evidence::Context& context,
                                       const IncidentRow& incident, const StepsOf& steps_of) {
  TW_TRY(const auto subject, subject_of(context, incident));
  std::vector<Drawn> all;
  const bool is_lost = incident.kind == IncidentKind::lost;
  const auto count = is_lost ? 0 : std::min(subject.effects.size(), kSeriesDrawn);
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = std::to_string(i + 1);
    TW_TRY_VOID(add_samples(subject, subject.effects[i], number, all));
    TW_TRY_VOID(add_memory(subject, subject.effects[i], number, all));
  }
  if (!subject.effects.empty()) {
    TW_TRY_VOID(add_history(subject, subject.effects.front().series, all));
  }
  TW_TRY_VOID(add_changes(subject, all));
  TW_TRY_VOID(add_steps(subject, steps_of, all));
  return all;
}

evidence::Context context_of(storage::Database& database, const config::Config& config,
                             bool is_trusted) {
  return {.database = database,
          .is_trusted = is_trusted,
          .confidence = config.detect.confidence,
          .threshold = 1 + config.detect.threshold,
          .exact_threshold = 1 + config.detect.exact_threshold,
          .threshold_of = config::threshold_ratios(config)};
}

std::vector<std::string> texts_of(const std::vector<Drawn>& all, int columns) {
  std::vector<std::string> texts;
  for (const auto& each : all) texts.push_back(each.text(columns));
  return texts;
}

}  // namespace torchwatch::pictures
