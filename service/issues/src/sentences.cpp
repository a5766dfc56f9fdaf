#include "sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::report {
namespace {

/// Who wants more of them opens the page.
constexpr std::size_t kEffectRowsMax = 10;
constexpr std::ptrdiff_t kMentionedMax = 20;

std::string benchmark_of(const EffectFacts& effect) {
  return to_string(effect.series.benchmark);
}

bool is_memory(Metric metric) {
  return pass_of(metric) == Pass::memory;
}

std::string or_dash(std::string text) {
  return text.empty() ? "-" : std::move(text);
}

std::string how_sure(const EffectFacts& effect, double confidence) {
  const auto runs = figures::count(static_cast<std::size_t>(effect.runs), "run");
  if (!has_ratio(effect.series.metric)) return "in each of " + runs;
  if (moved_exactly(effect)) return "all runs of each build equal to the byte, " + runs;
  const auto interval = interval_text(effect);
  if (interval.empty()) return "with too few runs for an interval";
  const auto what =
      is_memory(effect.series.metric) ? "the runs range over " : interval_heading(confidence) + " ";
  return what + interval + ", " + runs;
}

std::string lost_summary(const IncidentFacts& facts) {
  const auto of_build = "Measured with " + code(facts.baseline.name) + ", but no longer with " +
                        code(facts.candidate.name) + ": ";
  if (facts.effects.empty()) return of_build + code(facts.reason) + ".\n";
  std::vector<std::string> benchmarks;
  for (const auto& effect : facts.effects) {
    const std::string benchmark = code(benchmark_of(effect));
    if (std::find(benchmarks.begin(), benchmarks.end(), benchmark) == benchmarks.end())
      benchmarks.push_back(benchmark);
  }
  const auto count = figures::count(benchmarks.size(), "benchmark");
  auto text = is_lost_with_both(facts.kind, facts.effects)
                  ? count + " gave no result with either build, neither with " +
                        code(facts.baseline.name) + " nor with " + code(facts.candidate.name) +
                        ": look at this machine, not at the build."
                  : of_build + count + " gave no result.";
  text += "\n\n" + bullets(benchmarks, kEffectRowsMax, "benchmarks");
  if (facts.reason.empty()) return text;
  text += "\nReason: " + code(facts.reason) + "\n";
  if (facts.reason.find("(SIGKILL)") == std::string::npos) return text;
  return text +
         "\nSomebody else killed the runs, as the kernel does when memory runs out; its log " +
         "says so.\n";
}

/// "15.2 % higher", "6.80 times as high", "probably 3.0 % higher".
std::string how_much(const EffectFacts& effect) {
  if (!(effect.ratio > 0)) {
    return figures::value(effect.series.metric, std::abs(difference_of(effect))) +
           (difference_of(effect) < 0 ? " lower" : " higher");
  }
  std::string amount = figures::change(effect.ratio);
  const char sign = amount.front();
  amount.erase(0, 1);
  if (sign == 'x') return amount + " times as high";
  const std::string hedge = is_sure_increase(effect) || sign == '-' ? "" : "probably ";
  return hedge + amount + (sign == '-' ? " lower" : " higher");
}

std::string leak_sentence(const EffectFacts& effect, const std::string& versus) {
  const std::string amount = figures::grouped(std::llround(difference_of(effect))) + " bytes more";
  std::string what = " leaves **" + amount + "** behind when its model is destroyed,";
  if (is_growth(effect.series.metric)) what = " keeps **" + amount + " per iteration**";
  if (effect.series.metric == Metric::heap_growth) what += " on the heap, not as tensors,";
  return code(benchmark_of(effect)) + what + versus;
}

std::string result_sentence(const EffectFacts& effect, const IncidentFacts& facts) {
  return "From equal weights and inputs " + code(benchmark_of(effect)) + " computes outputs that " +
         "are **" + figures::value(effect.series.metric, difference_of(effect)) +
         "** of their size apart with " + code(facts.candidate.name) + " and with " +
         code(facts.baseline.name) + " (" + how_sure(effect, facts.confidence) + ").";
}

std::string worst_sentence(const EffectFacts& worst, const IncidentFacts& facts) {
  const auto metric = worst.series.metric;
  if (metric == Metric::output_difference) return result_sentence(worst, facts);
  const std::string versus =
      " with " + code(facts.candidate.name) + " than with " + code(facts.baseline.name);
  std::string text;
  if (is_leak(metric)) {
    text = leak_sentence(worst, versus);
  } else {
    text = "The " + std::string(figures::name_of(metric)) + " of " + code(benchmark_of(worst)) +
           " is **" + how_much(worst) + "**" + versus;
  }
  return text + ": " + figures::value(metric, worst.baseline_value) + " → " +
         figures::value(metric, worst.candidate_value) + " (" + how_sure(worst, facts.confidence) +
         ").";
}

/// A bisection states changes only; columns of zeros would be a lie.
bool has_values(const EffectFacts& effect) {
  return effect.baseline_value != 0 || effect.candidate_value != 0;
}

/// "-" where values are not known. Beside the change of a leak, which has their unit, without it.
std::string value_cell(const EffectFacts& effect, double value, const std::string& change) {
  if (!has_values(effect)) return "-";
  auto text = figures::value(effect.series.metric, value);
  const auto unit = " " + std::string(unit_of(effect.series.metric));
  if (is_leak(effect.series.metric) && change.ends_with(unit) && text.ends_with(unit)) {
    text.resize(text.size() - unit.size());
  }
  return text;
}

std::vector<std::string> effect_row(const EffectFacts& effect, bool with_values) {
  const auto metric = effect.series.metric;
  const auto change = change_text(effect);
  std::vector<std::string> row{code_cell(benchmark_of(effect)), std::string(to_string(metric))};
  if (with_values) {
    row.insert(row.end(), {value_cell(effect, effect.baseline_value, change),
                           value_cell(effect, effect.candidate_value, change)});
  }
  row.insert(row.end(),
             {change.empty() ? "no value" : "**" + change + "**", or_dash(interval_text(effect))});
  if (with_values) {
    const bool is_known = effect.baseline_spread > 0 || effect.candidate_spread > 0;
    row.push_back(is_known ? figures::spread(effect.baseline_spread) + " / " +
                                 figures::spread(effect.candidate_spread)
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

std::string without_live_links(std::string text) {
  std::erase_if(text, [](char c) { return c == '@' || c == '#' || c == '`' || c == '<'; });
  return text;
}

std::string whole_lines(std::string text, std::size_t bytes_max) {
  constexpr std::string_view kNote = "\n*Cut here: the text was too long for an issue.*\n";
  if (text.size() <= bytes_max) return text;
  text.resize(bytes_max > kNote.size() ? bytes_max - kNote.size() : 0);
  text.resize(text.rfind('\n') + 1);
  return text += kNote;
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
  head.insert(head.end(), {"change", interval_heading(confidence)});
  if (with_values) head.emplace_back("spread");
  head.emplace_back("runs");

  std::vector<std::vector<std::string>> rows;
  for (const auto& effect : by_size(effects)) rows.push_back(effect_row(effect, with_values));
  constexpr std::size_t kFirstNumber = 2;
  std::string text = table(head, rows, kEffectRowsMax, kFirstNumber);
  const bool has_range = std::any_of(effects.begin(), effects.end(), [](const auto& effect) {
    return is_memory(effect.series.metric) && has_ratio(effect.series.metric);
  });
  if (has_range) text += "\nFor memory the interval is the range over all runs.\n";
  return text;
}

std::string effects_section(const IncidentFacts& facts) {
  if (facts.kind == IncidentKind::lost || facts.effects.empty()) return "";
  return "\n### What got worse\n\n" +
         effects_table(facts.effects, "baseline", "candidate", facts.confidence);
}

std::string mentions(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const auto count = std::min(std::ssize(names), kMentionedMax);
  return fmt::format("\ncc @{}\n", fmt::join(names.begin(), names.begin() + count, " @"));
}

}  // namespace torchwatch::report
