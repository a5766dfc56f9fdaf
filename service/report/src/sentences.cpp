#include "sentences.hpp"

#include <algorithm>

#include "figures.hpp"
#include "markdown.hpp"
#include "torchwatch/report/issue.hpp"

namespace torchwatch::report {
namespace {

constexpr std::size_t kEffectRowsMax = 60;

std::string cell_of(const EffectFacts& effect) {
  return to_string(effect.target.cell);
}

std::string interval_cell(const EffectFacts& effect) {
  const std::string interval = human_interval(effect);
  if (interval.empty()) return "-";
  return interval.find('x') == std::string::npos ? interval + " %" : interval;
}

std::string how_sure(const EffectFacts& effect, double confidence) {
  if (is_leak(effect.target.metric)) return "in each of " + std::to_string(effect.runs) + " runs";
  if (!has_interval(effect)) return "with too few runs for an interval";
  const std::string of = is_memory(effect.target.metric)
                             ? "the runs range over "
                             : human_confidence(confidence) + " interval ";
  return of + interval_cell(effect) + ", " + std::to_string(effect.runs) + " runs";
}

std::string lost_summary(const IncidentFacts& facts) {
  std::string text = "Measured with " + code(facts.baseline.name) + ", but no longer with " +
                     code(facts.candidate.name) + ": ";
  if (facts.effects.empty()) return text + code(facts.title) + ".\n";
  std::vector<std::string> cells;
  for (const auto& effect : facts.effects) {
    const std::string cell = code(cell_of(effect));
    if (std::find(cells.begin(), cells.end(), cell) == cells.end()) cells.push_back(cell);
  }
  text += std::to_string(cells.size()) + (cells.size() == 1 ? " workload" : " workloads");
  text += " gave no result.\n\n" + bullets(cells, kEffectRowsMax, "workloads");
  if (!facts.title.empty()) text += "\nWhat was seen: " + code(facts.title) + "\n";
  return text;
}

/// "15.2 % higher", "6.80 times as high", "seemingly 3.0 % higher".
std::string how_much(const EffectFacts& effect) {
  if (!(effect.ratio > 0)) return "without a value";
  std::string amount = human_ratio(effect.ratio);
  const char sign = amount.front();
  amount.erase(0, 1);
  if (sign == 'x') return amount + " times as high";
  const std::string hedge = is_sure_increase(effect) || sign == '-' ? "" : "seemingly ";
  return hedge + amount + (sign == '-' ? " lower" : " higher");
}

std::string leak_sentence(const EffectFacts& effect, const std::string& versus) {
  const std::string amount =
      with_thousands(effect.candidate_value - effect.baseline_value) + " bytes more";
  std::string what = " leaves **" + amount + "** behind when its model is destroyed,";
  if (is_growth(effect.target.metric)) what = " keeps **" + amount + " per iteration**";
  if (effect.target.metric == Metric::heap_growth) what += " on the heap, not as tensors,";
  return code(cell_of(effect)) + what + versus;
}

std::string worst_sentence(const EffectFacts& worst, const IncidentFacts& facts) {
  const auto metric = worst.target.metric;
  const std::string versus =
      " with " + code(facts.candidate.name) + " than with " + code(facts.baseline.name);
  std::string text;
  if (is_leak(metric)) {
    text = leak_sentence(worst, versus);
  } else {
    text = "The " + std::string(metric_for_people(metric)) + " of " + code(cell_of(worst)) +
           " is **" + how_much(worst) + "**" + versus;
  }
  return text + ": " + human_value(metric, worst.baseline_value) + " → " +
         human_value(metric, worst.candidate_value) + " (" + how_sure(worst, facts.confidence) +
         ").";
}

std::string change_only(const EffectFacts& effect) {
  if (is_leak(effect.target.metric)) return human_effect(effect);
  return effect.ratio > 0 ? human_ratio(effect.ratio) : "no value";
}

/// A search states ratios only; a column of zeros would be a lie.
bool has_values(const EffectFacts& effect) {
  return effect.baseline_value != 0 || effect.candidate_value != 0;
}

std::vector<std::string> effect_row(const EffectFacts& effect, bool with_values) {
  const auto metric = effect.target.metric;
  const auto value = [&](double of) { return has_values(effect) ? human_value(metric, of) : "-"; };
  std::vector<std::string> row{code_cell(cell_of(effect)), std::string(to_string(metric))};
  if (with_values) {
    row.insert(row.end(), {value(effect.baseline_value), value(effect.candidate_value)});
  }
  row.insert(row.end(), {"**" + change_only(effect) + "**", interval_cell(effect)});
  if (with_values) {
    const bool is_known = effect.baseline_spread > 0 || effect.candidate_spread > 0;
    row.push_back(is_known ? human_spread(effect.baseline_spread) + " / " +
                                 human_spread(effect.candidate_spread)
                           : "-");
  }
  row.push_back(effect.runs > 0 ? std::to_string(effect.runs) : "-");
  return row;
}

}  // namespace

std::vector<EffectFacts> by_size(std::vector<EffectFacts> effects) {
  std::stable_sort(effects.begin(), effects.end(), is_larger);
  return effects;
}

std::string summary(const IncidentFacts& facts) {
  if (facts.kind == IncidentKind::lost || facts.effects.empty()) return lost_summary(facts);
  const auto effects = by_size(facts.effects);
  std::string text = worst_sentence(effects.front(), facts);
  if (effects.size() > 1) {
    text += " It is the largest of " + std::to_string(effects.size()) +
            " series that changed together.";
  }
  return text + "\n";
}

std::string effects_table(const std::vector<EffectFacts>& effects, const std::string& left,
                          const std::string& right, double confidence) {
  const bool with_values = std::any_of(effects.begin(), effects.end(), has_values);
  std::vector<std::string> head{"series", "metric"};
  if (with_values) head.insert(head.end(), {left, right});
  head.insert(head.end(), {"change", human_confidence(confidence) + " interval"});
  if (with_values) head.emplace_back("spread");
  head.emplace_back("runs");

  std::vector<std::vector<std::string>> rows;
  for (const auto& effect : by_size(effects)) rows.push_back(effect_row(effect, with_values));
  std::string text = table(head, rows, kEffectRowsMax);
  const bool has_range = std::any_of(effects.begin(), effects.end(), [](const auto& effect) {
    return is_memory(effect.target.metric) && !is_leak(effect.target.metric);
  });
  if (has_range) text += "\nFor memory the interval is the range over all runs.\n";
  return text;
}

}  // namespace torchwatch::report
