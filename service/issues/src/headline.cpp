#include <cmath>

#include "sentences.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/markdown.hpp"
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
std::string what_was_made(const IncidentFacts& facts) {
  if (facts.effects.empty()) return "a workload give no result";
  const auto subject = subject_of(facts.effects);
  if (facts.kind == IncidentKind::lost) return subject + " give no result";
  const auto worst = by_size(facts.effects).front();
  if (facts.kind == IncidentKind::result) return result_of(worst, subject);
  if (!(worst.ratio > 0)) return leak_of(worst, subject);
  const auto by = facts.effects.size() > 1 ? ", the worst by " : " by ";
  const bool is_time = pass_of(worst.series.metric) == Pass::timing;
  return subject + (is_time ? " slower" : " need more memory") + by + amount_of(worst);
}

std::string who_did_it(const IncidentFacts& facts) {
  const auto& search = *facts.bisection;
  const auto* cause = bisection::leading(search.culprits);
  const auto& commits = cause != nullptr ? cause->commits : search.suspects;
  if (commits.size() == 1) return commit_link(facts.commits_address, commits.front().sha);
  auto text = one_of_text(commits.size());
  text.front() = 'O';
  return text;
}

}  // namespace

std::string headline(const IncidentFacts& facts) {
  if (is_lost_with_both(facts.kind, facts.effects)) {
    return "**" + subject_of(facts.effects) + " gave no result with either build.**";
  }
  const auto what = what_was_made(facts);
  if (!facts.bisection) {
    return "**" + claim_text(Finding::named, code(facts.candidate.name), what) + ".**";
  }
  const auto finding = finding_of(*facts.bisection);
  const bool is_of_commits = finding != Finding::none && finding != Finding::not_reproduced;
  return "**" + claim_text(finding, is_of_commits ? who_did_it(facts) : "", what) + ".**";
}

}  // namespace torchwatch::report
