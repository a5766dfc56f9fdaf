#include <algorithm>

#include "drawn.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/runs/evidence_reader.hpp"

namespace torchwatch::evidence {
namespace {

using storage::ProfileOf;

std::optional<drawing::Shares> shares_in(const Breakdown& breakdown) {
  const auto total =
      static_cast<double>(breakdown.active_ns + breakdown.copy_ns + breakdown.idle_ns);
  if (total <= 0) return std::nullopt;
  return drawing::Shares{.active = static_cast<double>(breakdown.active_ns) / total,
                         .copy = static_cast<double>(breakdown.copy_ns) / total,
                         .idle = static_cast<double>(breakdown.idle_ns) / total};
}

std::optional<drawing::Shares> shares_of(const std::map<Benchmark, Breakdown>& profiles,
                                         const Benchmark& benchmark) {
  const auto found = profiles.find(benchmark);
  return found == profiles.end() ? std::nullopt : shares_in(found->second);
}

/// The newest profiles of a build in a mode.
Result<std::map<Benchmark, Breakdown>> profiles_in(const Context& context, storage::Id build,
                                                   Mode mode) {
  TW_TRY(const auto profiles, storage::EvidenceReader(context.database).profiles_of(build));
  std::map<Benchmark, Breakdown> by_benchmark;
  for (const auto& [benchmark, run, breakdown] : profiles) {
    if (benchmark.configuration.mode == mode) by_benchmark.emplace(benchmark, breakdown);
  }
  return by_benchmark;
}

}  // namespace

Result<drawing::DeviceShares> device_shares_of(const Context& context,
                                               const storage::BuildRow& build, Mode mode,
                                               const std::optional<storage::BuildRow>& before) {
  drawing::DeviceShares drawn{.title = std::string(to_string(mode)),
                              .after = name_of(build, context)};
  TW_TRY(const auto after, profiles_in(context, build.id, mode));
  std::map<Benchmark, Breakdown> earlier;
  if (before) {
    drawn.before = name_of(*before, context);
    TW_TRY(earlier, profiles_in(context, before->id, mode));
  }
  auto all = after;
  all.insert(earlier.begin(), earlier.end());
  for (const auto& [benchmark, breakdown] : all) {
    const Series series{benchmark, Metric::device_time};
    drawn.rows.push_back({.label = to_string(benchmark),
                          .before = shares_of(earlier, benchmark),
                          .after = shares_of(after, benchmark),
                          .link = address_of(context.links.series, series)});
  }
  return drawn;
}

Result<Coverage> coverage_of(storage::Database& database, storage::Id build) {
  storage::EvidenceReader reader(database);
  TW_TRY(const auto calls, reader.operators_of(build));
  Coverage coverage;
  TW_TRY(coverage.registered, reader.operators_registered_in(build));
  for (const auto& [benchmark, run, name, count] : calls) {
    coverage.operators[name].push_back(benchmark);
    if (coverage.benchmarks.empty() || coverage.benchmarks.back() != benchmark) {
      coverage.benchmarks.push_back(benchmark);
    }
  }
  return coverage;
}

std::vector<CoveredSpace> covered_spaces(const Coverage& coverage) {
  std::vector<CoveredSpace> spaces;
  for (const auto& [name, registered] : coverage.registered) {
    const auto prefix = name + "::";
    const auto called = std::ranges::count_if(
        coverage.operators, [&](const auto& known) { return known.first.starts_with(prefix); });
    spaces.push_back({.name = name, .called = called, .registered = registered});
  }
  std::ranges::stable_sort(spaces, std::ranges::greater{}, &CoveredSpace::registered);
  return spaces;
}

CoverageChange coverage_change(const Coverage& before, const Coverage& after) {
  CoverageChange change;
  const auto is_of_both = [&](const Benchmark& benchmark) {
    return std::ranges::count(before.benchmarks, benchmark) > 0 &&
           std::ranges::count(after.benchmarks, benchmark) > 0;
  };
  change.benchmarks = static_cast<std::size_t>(std::ranges::count_if(after.benchmarks, is_of_both));
  const auto is_called = [&](const Coverage& coverage, const std::string& name) {
    const auto found = coverage.operators.find(name);
    return found != coverage.operators.end() && std::ranges::any_of(found->second, is_of_both);
  };
  for (const auto& [name, benchmarks] : before.operators) {
    if (is_called(before, name) && !is_called(after, name)) change.lost.push_back(name);
  }
  for (const auto& [name, benchmarks] : after.operators) {
    if (is_called(after, name) && !is_called(before, name)) change.gained.push_back(name);
  }
  return change;
}

}  // namespace torchwatch::evidence
