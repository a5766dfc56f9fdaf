#include "torchwatch/measurement/batch_choice.hpp"

#include "build_measurer.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::measurement {
namespace {

constexpr double kLeastGrowth = 1.05;
constexpr int kBatchMax = 1 << 16;
constexpr double kNanosecondsPerSecond = 1e9;

/// Tries one benchmark's batch sizes, smallest first.
class Doubling {
 public:
  Doubling(BuildMeasurer& measurer, Benchmark benchmark, int runs)
      : measurer_(measurer), runs_(runs) {
    choice_.benchmark = std::move(benchmark);
  }

  Result<BatchChoice> choose(std::stop_token stop) {
    for (int batch = 1; batch <= kBatchMax; batch *= 2) {
      TW_TRY(const bool continues, try_batch(batch, stop));
      if (!continues) return choice_;
    }
    choice_.ended = "no larger batch is tried";
    return choice_;
  }

 private:
  Result<bool> try_batch(int batch, std::stop_token stop) {
    auto benchmark = choice_.benchmark;
    benchmark.variant.batch = batch;
    TW_TRY(const auto runs, measurer_.run(benchmark, Pass::timing, runs_, stop));
    std::vector<double> times;
    for (const auto& run : runs) {
      if (run.row.status != RunStatus::ok) return end(run.row.reason);
      times.push_back(static_cast<double>(run.row.values.at(Metric::time)));
    }
    return take({batch, batch * kNanosecondsPerSecond / median(times)});
  }

  bool take(BatchPoint point) {
    const bool grew =
        choice_.tried.empty() ||
        point.items_per_second >= kLeastGrowth * choice_.tried.back().items_per_second;
    choice_.tried.push_back(point);
    if (!grew) return end("the throughput no longer grows");
    choice_.batch = point.batch;
    return true;
  }

  bool end(std::string reason) {
    choice_.ended = std::move(reason);
    return false;
  }

  BuildMeasurer& measurer_;
  int runs_;
  BatchChoice choice_;
};

}  // namespace

Result<std::vector<BatchChoice>> choose_batches(comparison::Services& services, storage::Id build,
                                                int runs, std::stop_token stop) {
  TW_TRY(auto measurer, BuildMeasurer::open(services, build, stop));
  std::vector<BatchChoice> choices;
  for (const auto& benchmark : measurer.plan().benchmarks) {
    if (benchmark.configuration.mode != Mode::infer || benchmark.variant != Variant{}) continue;
    if (measurer.plan().stated.contains(benchmark.workload)) continue;  // its size is its own
    TW_TRY(auto choice, Doubling(measurer, benchmark, runs).choose(stop));
    choices.push_back(std::move(choice));
  }
  TW_TRY_VOID(measurer.close());
  return choices;
}

comparison::BatchTable table_of(const std::vector<BatchChoice>& choices) {
  comparison::BatchTable table;
  for (const auto& choice : choices) {
    if (choice.batch > 0) table[comparison::key_in_table(choice.benchmark)] = choice.batch;
  }
  return table;
}

}  // namespace torchwatch::measurement
