#include "torchwatch/operators/attribution.hpp"

#include <algorithm>
#include <array>

#include "torchwatch/records/statistics.hpp"
#include "torchwatch/runs/operator_runs.hpp"

namespace torchwatch::operators {
namespace {

using storage::IncidentRow;
using storage::IncidentSeriesRow;
using storage::OperatorRun;

constexpr int kPairsOfTime = 8;
constexpr int kPairsOfBytes = 2;

/// What LibTorch's CPU allocator counts, so that operators account for it.
constexpr std::array kCounted{Metric::cpu_peak, Metric::leak_growth, Metric::leak_retained};

/// A package of AOTInductor is one kernel, and of an operator all is known.
bool calls_operators(const IncidentSeriesRow& row) {
  const auto& benchmark = row.series.benchmark;
  return benchmark.configuration.device == Device::cpu && !is_of_operator(benchmark) &&
         benchmark.variant.backend != Backend::aot_inductor;
}

double growth_of(const IncidentSeriesRow& row) {
  return row.candidate_value - row.baseline_value;
}

/// The row that grew most, of those that are wanted; null where none is.
template <typename Wanted, typename Growth>
const IncidentSeriesRow* largest(const IncidentRow& incident, const Wanted& is_wanted,
                                 const Growth& growth) {
  const IncidentSeriesRow* found = nullptr;
  for (const auto& row : incident.series) {
    if (!is_wanted(row)) continue;
    if (found == nullptr || growth(row) > growth(*found)) found = &row;
  }
  return found;
}

const IncidentSeriesRow* slowest_on_cpu(const IncidentRow& incident) {
  return largest(
      incident,
      [](const auto& row) { return row.series.metric == Metric::time && calls_operators(row); },
      [](const auto& row) { return row.ratio; });
}

const IncidentSeriesRow* largest_of_bytes(const IncidentRow& incident) {
  return largest(
      incident,
      [](const auto& row) {
        return std::ranges::find(kCounted, row.series.metric) != kCounted.end() &&
               calls_operators(row);
      },
      growth_of);
}

std::optional<Benchmark> benchmark_of(const IncidentSeriesRow* row) {
  return row == nullptr ? std::nullopt : std::optional(row->series.benchmark);
}

const OperatorRun* run_in(const std::vector<OperatorRun>& runs, const std::string& slot) {
  const auto found = std::ranges::find(runs, slot, &OperatorRun::slot);
  return found == runs.end() ? nullptr : &*found;
}

}  // namespace

WatchedPairs pairs_of(const Benchmark& benchmark, const std::vector<OperatorRun>& runs) {
  WatchedPairs found{.benchmark = benchmark};
  std::vector<std::int64_t> iterations;
  std::vector<std::int64_t> watched;
  for (int number = 0;; ++number) {
    const auto* before = run_in(runs, slot_of(benchmark, number, "baseline"));
    const auto* after = run_in(runs, slot_of(benchmark, number, "candidate"));
    if (before == nullptr || after == nullptr) break;
    found.pairs.push_back({.before = before->operators, .after = after->operators});
    iterations.push_back(before->iteration_ns);
    watched.push_back(before->watched_ns);
  }
  if (found.pairs.empty()) return found;
  found.iteration_ns = static_cast<double>(median(iterations));
  found.watched_ns = static_cast<double>(median(watched));
  return found;
}

std::optional<Benchmark> slowest_benchmark(const IncidentRow& incident) {
  auto slowest = benchmark_of(largest(
      incident, [](const auto& row) { return row.series.metric == Metric::time; },
      [](const auto& row) { return row.ratio; }));
  if (slowest) slowest = whole_of(*std::move(slowest));
  return slowest;
}

std::optional<Benchmark> watched_benchmark(const IncidentRow& incident) {
  if (incident.kind != IncidentKind::regression && incident.kind != IncidentKind::leak) return {};
  const auto* slowest = slowest_on_cpu(incident);
  return benchmark_of(slowest != nullptr ? slowest : largest_of_bytes(incident));
}

int pairs_worth(const IncidentRow& incident) {
  return slowest_on_cpu(incident) != nullptr ? kPairsOfTime : kPairsOfBytes;
}

std::string slots_of_all() {
  return "operators/";
}

static std::string slots_of(const Benchmark& benchmark) {
  return slots_of_all() + to_string(benchmark) + "/";
}

std::string slot_of(const Benchmark& benchmark, int pair, const std::string& side) {
  return slots_of(benchmark) + std::to_string(pair) + "/" + side;
}

Result<std::optional<Attribution>> attribution_of(storage::Database& database,
                                                  const IncidentRow& incident) {
  const auto benchmark = watched_benchmark(incident);
  if (!benchmark) return std::nullopt;
  TW_TRY(const auto runs,
         storage::operator_runs_of(database, incident.comparison, slots_of(*benchmark)));
  const auto watched = pairs_of(*benchmark, runs);
  if (watched.pairs.empty()) return std::nullopt;
  return Attribution{.benchmark = *benchmark,
                     .pairs = static_cast<int>(watched.pairs.size()),
                     .iteration_ns = watched.iteration_ns,
                     .watched_ns = watched.watched_ns,
                     .changes = changes_in(watched.pairs)};
}

}  // namespace torchwatch::operators
