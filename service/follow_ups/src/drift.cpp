#include <algorithm>
#include <map>

#include "kinds.hpp"
#include "torchwatch/builds/tree.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::follow_ups {
namespace {

using comparison::Comparison;
using storage::ComparisonRow;
using storage::IncidentRow;
using storage::Purpose;

/// Returns whether a drift comparison is due at this nightly, or was due at one before that was not
/// measured.
bool is_due(int position, const std::vector<ComparisonRow>& before, int every) {
  const auto measured = std::ranges::find_if(
      before, [](const ComparisonRow& comparison) { return !comparison.summary_json.empty(); });
  const int skipped = static_cast<int>(measured - before.begin());
  return position / every != (position - 1 - skipped) / every;
}

/// Returns the nightlies before that one, each build once: a build has a second nightly comparison
/// if the nightly before it arrived late.
Result<std::vector<ComparisonRow>> earlier_nightlies(storage::ComparisonStore& comparisons,
                                                     const ComparisonRow& nightly, int limit) {
  TW_TRY(const auto rows, comparisons.nightlies_before(nightly.id, limit));
  std::vector<ComparisonRow> earlier;
  for (const auto& row : rows) {
    const bool is_known =
        row.candidate == nightly.candidate ||
        std::ranges::find(earlier, row.candidate, &ComparisonRow::candidate) != earlier.end();
    if (!is_known) earlier.push_back(row);
  }
  return earlier;
}

bool is_on_disk(const storage::BuildRow& build) {
  const auto tree = builds::inspect(build.folder);
  return tree && tree->content_hash == build.content_hash;
}

/// Returns the index in `before` of the oldest nightly that can be measured again, or 0, which is
/// the nightly's own baseline.
Result<std::size_t> oldest_on_disk(comparison::Services& services,
                                   const std::vector<ComparisonRow>& before,
                                   const std::string& candidate_hash) {
  storage::BuildStore builds(services.database);
  for (std::size_t at = before.size(); at > 1; --at) {
    TW_TRY(const auto build, builds.get(before[at - 1].candidate));
    if (build.content_hash != candidate_hash && is_on_disk(build)) return at - 1;
  }
  return 0;
}

/// Returns whether the change is still there, open or accepted. One that was closed as fixed is
/// reported again if it is not.
bool is_known(const IncidentRow& incident) {
  return incident.acceptance || incident.state != storage::IncidentState::closed;
}

/// What is measured together: a change of times says nothing of memory.
using Measured = std::pair<Benchmark, Pass>;

/// Returns for each benchmark and pass the index in `before` of the newest build with a known
/// change.
Result<std::map<Measured, std::size_t>> known_changes(comparison::Services& services,
                                                      const ComparisonRow& nightly,
                                                      const std::vector<ComparisonRow>& before) {
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(const auto incidents, storage::IncidentStore(services.database).list(kIncidentsMax));
  std::map<Measured, std::size_t> newest;
  for (const auto& incident : incidents) {
    if (!is_known(incident)) continue;
    TW_TRY(const auto found_by, comparisons.get(incident.comparison));
    auto changed = std::ranges::find(before, found_by.candidate, &ComparisonRow::candidate);
    if (found_by.candidate == nightly.candidate) changed = before.begin();
    if (changed == before.end()) continue;
    const auto index = static_cast<std::size_t>(changed - before.begin());
    for (const auto& row : incident.series) {
      const Measured measured{row.series.benchmark, pass_of(row.series.metric)};
      const auto [known, is_new] = newest.emplace(measured, index);
      if (!is_new) known->second = std::min(known->second, index);
    }
  }
  return newest;
}

/// What is compared with one build.
using Part = std::pair<std::size_t, std::vector<Pass>>;  ///< its index in `before`, and what of it

/// Returns the nightly's benchmarks by the build to compare them with.
Result<std::map<Part, std::vector<Benchmark>>> drift_benchmarks(
    comparison::Services& services, const Comparison& nightly,
    const std::vector<ComparisonRow>& before) {
  TW_TRY(const auto candidate, storage::BuildStore(services.database).get(nightly.row.candidate));
  TW_TRY(const auto oldest, oldest_on_disk(services, before, candidate.content_hash));
  TW_TRY(const auto known, known_changes(services, nightly.row, before));
  std::map<Part, std::vector<Benchmark>> benchmarks;
  for (const auto& benchmark : nightly.plan.benchmarks) {
    std::map<std::size_t, std::vector<Pass>> passes;
    for (const auto pass : nightly.plan.passes) {
      if (!has_pass(nightly.plan, benchmark, pass)) continue;
      const auto change = known.find({benchmark, pass});
      passes[change == known.end() ? oldest : std::min(oldest, change->second)].push_back(pass);
    }
    for (const auto& part : passes) {
      if (part.first > 0) benchmarks[part].push_back(benchmark);
    }
  }
  return benchmarks;
}

}  // namespace

Status open_drift_comparisons(comparison::Services& services, const Comparison& nightly) {
  const auto& settings = services.config.detect;
  if (settings.drift_every == 0) return {};
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(const auto before, earlier_nightlies(comparisons, nightly.row, settings.drift_span));
  TW_TRY(const int position, comparisons.nightlies_until(nightly.row.id));
  if (!is_due(position, before, settings.drift_every)) return {};
  TW_TRY(auto benchmarks, drift_benchmarks(services, nightly, before));
  for (auto& [part, some] : benchmarks) {
    const auto& [index, passes] = part;
    auto plan = nightly.plan;
    plan.passes = passes;
    // Rounding does not add up as slowdowns do, and a change that was undone would be reported once
    // more.
    plan.outputs = false;
    plan.benchmarks = std::move(some);
    TW_TRY_VOID(comparisons.open({.purpose = Purpose::drift,
                                  .candidate = nightly.row.candidate,
                                  .baseline = before[index].candidate,
                                  .nightlies_back = static_cast<int>(index) + 1,
                                  .budget_series = series_count(nightly.plan),
                                  .opens_incidents = true,
                                  .plan_json = to_json(plan)},
                                 services.clock.wall_now()));
  }
  return {};
}

}  // namespace torchwatch::follow_ups
