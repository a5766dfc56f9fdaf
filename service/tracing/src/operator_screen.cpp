#include "torchwatch/tracing/operator_screen.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "ending.hpp"
#include "operator_pairs.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/operators/attribution.hpp"
#include "torchwatch/operators/cover.hpp"
#include "torchwatch/operators/suspects.hpp"
#include "torchwatch/runs/operator_runs.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::tracing {
namespace {

using comparison::Comparison;
using operators::Screened;
using operators::Suspect;
using operators::WatchedPairs;

/// After three pairs a suspect is worth the runs that confirm it.
constexpr int kPairs = 3;

/// Each costs up to 200 runs. More of them mean that something else is wrong.
constexpr std::size_t kSuspectsMax = 10;

/// For how many nightlies the operators of a benchmark count as known.
constexpr int kNightliesRemembered = 14;

/// The part of the gate from which on an operator is a suspect, as it is of workloads
/// (docs/deciding.md).
constexpr double kSuspectOfGate = 0.75;

bool is_due(const config::Config& config, const Comparison& comparison) {
  return config.detect.operators && comparison.row.purpose == storage::Purpose::nightly &&
         comparison.row.baseline && comparison.plan.watched_operators == 0;
}

bool states_operators(const comparison::Plan& plan, const Benchmark& benchmark) {
  return benchmark.configuration.device == Device::cpu &&
         benchmark.variant.backend != Backend::aot_inductor && !is_of_operator(benchmark) &&
         !plan.stated.contains(benchmark.workload);
}

/// What regressed has an incident that watches its operators, and what does not run has none.
bool is_watched_for(Verdict of_time) {
  return of_time == Verdict::unchanged || of_time == Verdict::improved ||
         of_time == Verdict::inconclusive;
}

/// The benchmarks whose operators are looked at.
std::set<Benchmark> watched_benchmarks(const comparison::Plan& plan,
                                       const std::vector<comparison::JudgedSeries>& judged) {
  std::set<Benchmark> benchmarks;
  for (const auto& [verdict, lost] : judged) {
    const auto& [benchmark, metric] = verdict.series;
    if (metric != Metric::time || !is_watched_for(verdict.verdict)) continue;
    if (states_operators(plan, benchmark)) benchmarks.insert(benchmark);
  }
  return benchmarks;
}

/// The pairs of those benchmarks of which a comparison has any.
Result<std::vector<WatchedPairs>> watched(storage::Database& database, storage::Id comparison,
                                          const std::set<Benchmark>& benchmarks) {
  TW_TRY(const auto runs,
         storage::operator_runs_of(database, comparison, operators::slots_of_all()));
  std::vector<WatchedPairs> all;
  if (runs.empty()) return all;
  for (const auto& benchmark : benchmarks) {
    auto of = operators::pairs_of(benchmark, runs);
    if (!of.pairs.empty()) all.push_back(std::move(of));
  }
  return all;
}

/// Leaves out benchmarks whose operators enough others show, as earlier nightlies have seen; those
/// that none of them has watched stay.
Result<std::set<Benchmark>> enough_of(storage::Database& database, storage::Id comparison,
                                      const std::set<Benchmark>& benchmarks) {
  TW_TRY(const auto nightlies,
         storage::ComparisonStore(database).nightlies_before(comparison, kNightliesRemembered));
  auto unknown = benchmarks;
  std::vector<WatchedPairs> known;
  for (const auto& nightly : nightlies) {
    TW_TRY(auto seen, watched(database, nightly.id, unknown));
    for (auto& of : seen) {
      unknown.erase(of.benchmark);
      known.push_back(std::move(of));
    }
  }
  auto wanted = operators::cover(known);
  wanted.merge(unknown);
  return wanted;
}

/// The pairs that operators need to be told from noise.
class Screening {
 public:
  Screening(comparison::Services& services, const Comparison& comparison,
            std::set<Benchmark> benchmarks, double least)
      : services_(services),
        comparison_(comparison),
        benchmarks_(std::move(benchmarks)),
        least_(least) {}

  Result<Screened> screen(OperatorPairs& watch, const std::stop_token& stop) const {
    Screened screened;
    auto wanted = benchmarks_;
    for (int pairs = 1; pairs <= kPairs && !wanted.empty(); ++pairs) {
      int done = 0;
      for (const auto& benchmark : wanted) {
        services_.progress.progress(
            done++, static_cast<int>(wanted.size()),
            to_string(benchmark) + ", operators, pair " + std::to_string(pairs));
        TW_TRY_VOID(watch.make(benchmark, pairs, stop));
      }
      TW_TRY(const auto all, watched(services_.database, comparison_.row.id, benchmarks_));
      screened = operators::screen(all, least_);
      wanted.clear();
      for (const auto& suspect : screened.suspects) wanted.insert(suspect.carrier);
    }
    return screened;
  }

 private:
  comparison::Services& services_;
  const Comparison& comparison_;
  std::set<Benchmark> benchmarks_;
  double least_;
};

Benchmark benchmark_of(const Suspect& suspect) {
  auto benchmark = suspect.carrier;
  benchmark.variant.operator_name = suspect.name;
  return benchmark;
}

void note(comparison::Progress& progress, const Screened& screened) {
  std::string names;
  for (const auto& suspect : screened.suspects) {
    names += (names.empty() ? ": " : ", ") + to_string(benchmark_of(suspect)) + " " +
             figures::change(suspect.ratio);
  }
  progress.log(figures::count(static_cast<std::size_t>(screened.operators), "operator") +
               " looked at, " + figures::count(screened.suspects.size(), "suspect") + names);
}

/// The runs of a benchmark on fresh pairs, by slot.
Result<std::vector<operators::Pair>> confirming_pairs(storage::Database& database,
                                                      const Comparison& comparison,
                                                      const Benchmark& benchmark) {
  comparison::Block block{.benchmark = benchmark, .stage = comparison::Stage::confirm};
  const auto first = block.slot(0);
  const auto slots = first.substr(0, first.size() - std::string("0/0").size());
  TW_TRY(const auto runs, storage::operator_runs_of(database, comparison.row.id, slots));
  std::map<std::string, const storage::OperatorRun*> by_slot;
  for (const auto& run : runs) by_slot[run.slot] = &run;
  // Which of the first two blocks comes first is drawn (Schedule::first_index).
  if (!by_slot.contains(first)) block.index = 1;
  std::vector<operators::Pair> pairs;
  for (;; ++block.index) {
    for (int position = 0; position < comparison::Block::kRuns; position += 2) {
      const auto one = by_slot.find(block.slot(position));
      const auto other = by_slot.find(block.slot(position + 1));
      if (one == by_slot.end() || other == by_slot.end()) return pairs;
      const bool begins_before = block.side(position) == comparison::Side::baseline;
      const auto& before = begins_before ? one : other;
      const auto& after = begins_before ? other : one;
      pairs.push_back({.before = before->second->operators, .after = after->second->operators});
    }
  }
}

}  // namespace

Result<bool> screen_operators(comparison::Services& services, Comparison& comparison,
                              const comparison::ComparedBuilds& builds, std::stop_token stop) {
  if (!is_due(services.config, comparison)) return false;
  TW_TRY(const auto schedule, comparison::replay(services, comparison));
  TW_TRY(const auto benchmarks, enough_of(services.database, comparison.row.id,
                                          watched_benchmarks(comparison.plan, schedule.judged())));
  if (benchmarks.empty()) return false;
  services.progress.phase_started("looking at single operators");
  comparison::RunRecorder recorder(services, {storage::OwnerKind::comparison, comparison.row.id});
  TW_TRY_VOID(recorder.free_slots());
  TW_TRY(const auto past, recorder.past_runs());
  OperatorPairs watch(services, comparison.plan, builds, recorder, past);
  const auto settings = detect::settings_of_operator(schedule.settings().common());
  const Screening screening(services, comparison, benchmarks, kSuspectOfGate * settings.gate);
  auto screened = screening.screen(watch, stop);
  if (!screened) {
    TW_TRY_VOID(recorder.free_slots());
    if (ends_work(screened.error())) return fail(screened.error());
    // The workloads are measured: their verdicts wait for no operator.
    services.progress.log("single operators are not looked at: " + screened.error().text());
    return false;
  }
  note(services.progress, *screened);
  if (screened->suspects.size() > kSuspectsMax) {
    services.progress.log("only the " + std::to_string(kSuspectsMax) +
                          " suspects that changed most are measured");
    screened->suspects.resize(kSuspectsMax);
  }
  auto& plan = comparison.plan;
  plan.watched_operators = std::max(1, screened->operators);
  for (const auto& suspect : screened->suspects) {
    const auto benchmark = benchmark_of(suspect);
    const bool is_known = std::ranges::find(plan.benchmarks, benchmark) != plan.benchmarks.end();
    if (!is_known) plan.benchmarks.push_back(benchmark);
  }
  TW_TRY(comparison.row, storage::ComparisonStore(services.database)
                             .set_plan(comparison.row, to_json(comparison.plan)));
  return true;
}

Status clear_moved_operators(comparison::Services& services, const Comparison& comparison,
                             std::vector<comparison::JudgedSeries>& judged) {
  if (comparison.row.purpose != storage::Purpose::nightly) return {};
  for (auto& [verdict, lost] : judged) {
    const auto& benchmark = verdict.series.benchmark;
    if (verdict.verdict != Verdict::regressed || !is_of_operator(benchmark)) continue;
    TW_TRY(const auto pairs, confirming_pairs(services.database, comparison, benchmark));
    const auto moved = operators::moved_from(pairs, benchmark.variant.operator_name);
    if (!moved) continue;
    verdict.verdict = Verdict::unchanged;
    verdict.reason = *moved;
    services.progress.log(to_string(verdict.series) + " is unchanged: " + *moved);
  }
  return {};
}

}  // namespace torchwatch::tracing
