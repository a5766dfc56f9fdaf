#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/drawing/evidence.hpp"
#include "torchwatch/drawing/nightly.hpp"
#include "torchwatch/evidence/context.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::evidence {

// A comparison or a build as a whole. Each function asks the database for all series at once.
// Errors are those of storage.

/// Returns the changes that a comparison found (regressed, improved), or all verdicts with a ratio
/// of one metric; the largest first. What has no ratio, as a leak, is left out.
Result<drawing::ForestPlot> forest_of(const Context&, const storage::ComparisonRow&,
                                      std::optional<Metric> metric = {});
/// Returns the series of an incident, as its comparison found them.
Result<drawing::ForestPlot> forest_of(const Context&, const storage::IncidentRow&);

enum class HeatOrder { name, effect, domain };

/// The domains of workloads, by name.
using Domains = std::map<std::string, std::string>;

/// Returns the name of a benchmark's row in a heat map: "resnet18"; a variant stands behind it
/// where there is one. Pure.
std::string row_name(const Benchmark&);

/// Returns those verdicts of the comparison that are of one metric, a row for each workload and
/// variant.
Result<drawing::HeatMap> heat_map_of(const Context&, const storage::ComparisonRow&,
                                     const std::vector<storage::VerdictRow>& verdicts, Metric,
                                     const Domains& = {}, HeatOrder = HeatOrder::name);

/// What a GPU did in the newest profile of each workload in that mode. `before` has its own
/// profiles, whatever the two were compared for.
Result<drawing::DeviceShares> device_shares_of(const Context&, const storage::BuildRow& build, Mode,
                                               const std::optional<storage::BuildRow>& before = {});

/// The values of one metric in the nightlies up to a comparison, for all of its series.
struct Sparklines {
  std::vector<storage::Id> comparisons = {};  ///< oldest first
  struct Line {
    Series series;
    std::vector<std::optional<double>> values = {};  ///< one for each of `comparisons`, in its unit
    Verdict verdict = Verdict::unchanged;            ///< of the comparison
    double threshold = 1.07;                         ///< by which the series is judged
  };
  std::vector<Line> lines = {};  ///< of the series that the comparison judged
};
inline constexpr int kSparklineValues = 90;
/// Lines of series that the filter does not admit have no values.
Result<Sparklines> sparklines_of(const Context&, storage::Id comparison, Metric,
                                 int count = kSparklineValues, const storage::LevelFilter& = {});

/// Returns the sparklines of one configuration, in the order of the rows of a heat map of the same
/// comparison and metric. Pure.
drawing::SmallMultiples small_multiples_of(const Context&, const Sparklines&, Configuration,
                                           const drawing::HeatMap&);

/// The operators that the workloads of a build call, from the newest coverage run of each.
struct Coverage {
  /// By operator: the benchmarks that call it.
  std::map<std::string, std::vector<Benchmark>> operators = {};
  std::vector<Benchmark> benchmarks = {};  ///< that have such a run
  /// How many operators the build itself has, by namespace ("aten"); empty where no run stated it.
  std::map<std::string, std::int64_t> registered = {};
};

/// How much of a namespace of operators is called.
struct CoveredSpace {
  std::string name = {};
  std::int64_t called = 0;
  std::int64_t registered = 0;
};
/// The namespaces of the build, the largest first. Pure.
std::vector<CoveredSpace> covered_spaces(const Coverage&);

Result<Coverage> coverage_of(storage::Database&, storage::Id build);

/// How coverage changed from one build to another, in the benchmarks that both were run in.
struct CoverageChange {
  std::vector<std::string> lost = {};    ///< operators that none of them calls any more
  std::vector<std::string> gained = {};  ///< that none of them called before
  std::size_t benchmarks = 0;            ///< how many both were run in
};
/// Pure.
CoverageChange coverage_change(const Coverage& before, const Coverage& after);

}  // namespace torchwatch::evidence
