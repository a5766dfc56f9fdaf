#include "owners.hpp"

#include <algorithm>

#include "torchwatch/bisect/candidate_commits.hpp"
#include "torchwatch/report/wording.hpp"

namespace torchwatch::filing {
namespace {

bool owns_a_workload(const config::Owner& owner, const report::IncidentFacts& facts) {
  return std::ranges::any_of(facts.effects, [&](const report::EffectFacts& effect) {
    return std::ranges::find(owner.workloads, effect.series.benchmark.workload) !=
           owner.workloads.end();
  });
}

/// Only of commits that are named: the files of candidates would call everybody.
bool owns_a_file(const config::Owner& owner, const report::IncidentFacts& facts) {
  if (owner.paths.empty() || !facts.bisection) return false;
  const auto patterns = bisect::PathPatterns::create(owner.paths);
  if (!patterns) return false;  // the configuration was checked when it was loaded
  return std::ranges::any_of(facts.bisection->culprits, [&](const report::CulpritFacts& culprit) {
    if (report::finding_of(culprit) != report::Finding::named) return false;
    return std::ranges::any_of(culprit.commits.front().changed_paths,
                               [&](const auto& path) { return patterns->match(path); });
  });
}

}  // namespace

std::vector<std::string> mentioned(const config::Config& config,
                                   const report::IncidentFacts& facts) {
  auto names = config.github.cc;
  for (const auto& owner : config.github.owners) {
    if (!owns_a_workload(owner, facts) && !owns_a_file(owner, facts)) continue;
    for (const auto& name : owner.notify) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

}  // namespace torchwatch::filing
