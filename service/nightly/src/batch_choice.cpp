#include "torchwatch/nightly/batch_choice.hpp"

#include "robust.hpp"
#include "solo_bench.hpp"

namespace torchwatch::nightly {
namespace {

constexpr double kWorthIt = 1.05;
constexpr int kBatchMost = 1 << 16;
constexpr double kNanosecondsPerSecond = 1e9;

/// Tries one cell's batch sizes, smallest first.
class Doubling {
 public:
  Doubling(SoloBench& bench, Cell cell, int runs)
      : bench_(bench), runs_(runs), choice_{std::move(cell), 0, {}, {}} {}

  Result<BatchChoice> choose(std::stop_token stop) {
    for (int batch = 1; batch <= kBatchMost; batch *= 2) {
      TW_TRY(const bool goes_on, try_batch(batch, stop));
      if (!goes_on) return choice_;
    }
    choice_.ended = "no larger batch is tried";
    return choice_;
  }

 private:
  Result<bool> try_batch(int batch, std::stop_token stop) {
    auto cell = choice_.cell;
    cell.variant.batch = batch;
    TW_TRY(const auto made, bench_.run(cell, Pass::timing, runs_, stop));
    std::vector<double> times;
    for (const auto& run : made) {
      if (run.row.status != RunStatus::ok) return end(run.row.reason);
      times.push_back(static_cast<double>(run.row.values.at(Metric::time)));
    }
    return take({batch, batch * kNanosecondsPerSecond / median(times)});
  }

  bool take(BatchPoint point) {
    const bool grew = choice_.tried.empty() ||
                      point.items_per_second >= kWorthIt * choice_.tried.back().items_per_second;
    choice_.tried.push_back(point);
    if (!grew) return end("the throughput no longer grows");
    choice_.batch = point.batch;
    return true;
  }

  bool end(std::string reason) {
    choice_.ended = std::move(reason);
    return false;
  }

  SoloBench& bench_;
  int runs_;
  BatchChoice choice_;
};

}  // namespace

Result<std::vector<BatchChoice>> choose_batches(Workshop& workshop, storage::Id build, int runs,
                                                std::stop_token stop) {
  TW_TRY(auto bench, SoloBench::open(workshop, build, stop));
  std::vector<BatchChoice> choices;
  for (const auto& cell : bench.plan().cells) {
    if (cell.configuration.mode != Mode::infer || cell.variant != Variant{}) continue;
    TW_TRY(auto choice, Doubling(bench, cell, runs).choose(stop));
    choices.push_back(std::move(choice));
  }
  TW_TRY_VOID(bench.close());
  return choices;
}

}  // namespace torchwatch::nightly
