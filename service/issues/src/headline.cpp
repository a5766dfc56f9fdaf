#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "causes.hpp"
#include "sentences.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"

namespace torchwatch::report {
namespace {

/// "`resnet18 cpu-train`", "2 workloads".
std::string subject_of(const std::vector<EffectFacts>& effects) {
  std::vector<Benchmark> benchmarks;
  std::vector<std::string> workloads;
  for (const auto& effect : effects) {
    add_once(benchmarks, effect.series.benchmark);
    add_once(workloads, effect.series.benchmark.workload);
  }
  if (benchmarks.size() == 1) return code(to_string(benchmarks.front()));
  return workloads.size() == 1
             ? code(workloads.front()) + " in " + std::to_string(benchmarks.size()) + " variants"
             : figures::count(workloads.size(), "workload");
}

/// "15.2 % [+13.1, +17.4]", "exactly 6.3 %", "6.80 times".
std::string amount_of(const EffectFacts& effect) {
  const auto change = figures::change(effect.ratio);
  const auto amount = change.starts_with('x') ? change.substr(1) + " times" : change.substr(1);
  if (moved_exactly(effect)) return "exactly " + amount;
  const auto interval = figures::interval(effect.interval_low, effect.interval_high);
  return interval.empty() ? amount : amount + " " + interval;
}

std::string leak_of(const EffectFacts& worst, const std::string& subject) {
  const auto bytes = figures::grouped(std::llround(difference_of(worst))) + " bytes";
  return worst.series.metric == Metric::leak_retained
             ? subject + " leave " + bytes + " behind"
             : subject + " keep " + bytes + " more per iteration";
}

/// "`resnet18 cpu-infer` compute other outputs, apart by 38 %".
std::string result_of(const EffectFacts& worst, const std::string& subject) {
  return subject + " compute other outputs, apart by " +
         figures::value(worst.series.metric, difference_of(worst));
}

/// What was made: "2 workloads slower, the worst by 15.2 % [+13.1, +17.4]".
std::string what_was_made(IncidentKind kind, const std::vector<EffectFacts>& effects) {
  if (effects.empty()) return "a workload give no result";
  const auto subject = subject_of(effects);
  if (kind == IncidentKind::lost) return subject + " give no result";
  const auto worst = by_size(effects).front();
  if (kind == IncidentKind::result) return result_of(worst, subject);
  if (!(worst.ratio > 0)) return leak_of(worst, subject);
  const auto by = effects.size() > 1 ? ", the worst by " : " by ";
  const bool is_time = pass_of(worst.series.metric) == Pass::timing;
  return subject + (is_time ? " slower" : " need more memory") + by + amount_of(worst);
}

/// The same of one cause: all that was found where it stands for that, else its own part.
std::string what_it_made(const CulpritFacts& cause, const IncidentFacts& facts) {
  if (!is_part(cause, facts)) return what_was_made(facts.kind, facts.effects);
  if (cause.effects.empty()) return "a part of the change";
  return what_was_made(facts.kind, own_effects(cause)) + ", a part of the change";
}

std::string who_of(const std::vector<CommitFacts>& commits, const std::string& address) {
  return commits.size() == 1 ? commit_link(address, commits.front().sha)
                             : one_of_text(commits.size());
}

std::string at_the_start(std::string text) {
  if (text.starts_with('o')) text.front() = 'O';
  return text;
}

/// " (+14.9 %)", with the series where it is not the only one of the incident.
std::string own_part(const CulpritFacts& cause, const IncidentFacts& facts) {
  if (cause.effects.empty()) return "";
  const auto worst = own_effects(cause).front();
  const auto change = change_text(worst);
  const bool is_the_only_one =
      facts.effects.size() == 1 && facts.effects.front().series == worst.series;
  const auto series = is_the_only_one ? "" : code(to_string(worst.series)) + " ";
  return change.empty() ? "" : " (" + series + change + ")";
}

/// "[`1a2b3c`](...) (+14.9 %), most likely [`4d5e6f`](...) (+4.0 %) and one of 2 commits".
std::string all_causes(const IncidentFacts& facts) {
  constexpr std::size_t kNamedMax = 4;
  const auto& search = *facts.bisection;
  std::vector<std::string> parts;
  for (const auto& cause : search.culprits) {
    const auto hedge = finding_of(cause) == Finding::likely ? "most likely " : "";
    parts.push_back(hedge + who_of(cause.commits, facts.commits_address) + own_part(cause, facts));
  }
  if (!search.suspects.empty()) parts.push_back(who_of(search.suspects, facts.commits_address));
  if (parts.size() > kNamedMax) {
    const auto others = parts.size() - kNamedMax + 1;
    parts.resize(kNamedMax - 1);
    parts.push_back(figures::count(others, "more cause"));
  }
  const auto last = parts.back();
  parts.pop_back();
  return fmt::format("{} and {}", fmt::join(parts, ", "), last);
}

std::string headline_of_causes(const IncidentFacts& facts) {
  return "**" + figures::count(cause_count(*facts.bisection), "cause") + " together made " +
         what_was_made(facts.kind, facts.effects) + ": " + all_causes(facts) + ".**";
}

}  // namespace

std::string headline_of(const CulpritFacts& cause, const IncidentFacts& facts) {
  const auto who = at_the_start(who_of(cause.commits, facts.commits_address));
  return "**" + claim_text(finding_of(cause), who, what_it_made(cause, facts)) + ".**";
}

std::string headline(const IncidentFacts& facts) {
  if (is_lost_with_both(facts.kind, facts.effects)) {
    return "**" + subject_of(facts.effects) + " gave no result with either build.**";
  }
  const auto what = what_was_made(facts.kind, facts.effects);
  if (!facts.bisection) {
    return "**" + claim_text(Finding::named, code(facts.candidate.name), what) + ".**";
  }
  const auto& search = *facts.bisection;
  if (cause_count(search) > 1) return headline_of_causes(facts);
  if (!search.culprits.empty()) return headline_of(search.culprits.front(), facts);
  const auto who = search.suspects.empty() ? "" : who_of(search.suspects, facts.commits_address);
  return "**" + claim_text(finding_of(search), at_the_start(who), what) + ".**";
}

}  // namespace torchwatch::report
