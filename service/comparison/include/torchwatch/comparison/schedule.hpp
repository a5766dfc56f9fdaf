#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/comparison/series_settings.hpp"
#include "torchwatch/comparison/slot_runs.hpp"
#include "torchwatch/documents/block.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::comparison {

/// Returns the log-ratios candidate / baseline of the block's two pairs. `values` are those of its
/// runs in order.
std::array<double, 2> log_ratios(const Block&, const std::array<double, Block::kRuns>& values);

/// Returns the FNV-1a hash, which is equal on every machine and in every process, unlike std::hash.
/// The keys of incidents and the order of blocks depend on it.
constexpr std::uint64_t stable_hash(std::string_view text, std::uint64_t seed = 0) {
  std::uint64_t hash = 14695981039346656037ULL ^ seed;
  for (const char character : text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211ULL;
  }
  return hash;
}

/// The verdict on one series.
struct JudgedSeries {
  storage::VerdictRow verdict;  ///< without `comparison`, which is set when it is stored
  bool lost = false;            ///< runs with the baseline and not with the candidate
};

/// The next block of a comparison and its progress.
struct ScheduleStep {
  /// The next block to carry out; empty when every series has its verdict. The benchmarks
  /// alternate, so that a disturbance does not hit all blocks of one.
  std::optional<Block> block;
  int decided = 0;  ///< number of (benchmark, pass) pairs with verdicts
  int total = 0;    ///< number of all such pairs
};

/// Decides which block of a comparison comes next and what the runs say, as a pure function of the
/// plan and the runs so far. A comparison that was killed continues from a schedule with its stored
/// runs.
class Schedule {
 public:
  /// `seed` fixes the random order of the blocks within a round.
  Schedule(const Plan&, SeriesSettings, std::uint64_t seed);

  /// Adds an ended run. Runs whose `machine` differs are not compared.
  void add(const storage::RunRow& run, const std::string& machine);
  /// Judges two settings of one build: `machine` may differ between the sides, where a setting is a
  /// fact of it, and a setting that a side cannot take is unsupported. Call it before `next`.
  void compare_settings() { compares_settings_ = true; }

  /// Measures these series, where they are unchanged, until their interval lies below that ratio or
  /// is not likely to (detect::bound_rest). Times only. Call it before `next`.
  void bound_rests(std::map<Series, double> most) { rests_ = std::move(most); }

  const SlotRuns& runs() const { return slots_; }
  const SeriesSettings& settings() const { return settings_; }

  /// Returns the block to carry out next. Its cost does not grow with the plan: it looks again at
  /// the block that it returned last and at what runs were added for.
  ScheduleStep next();
  /// Returns the next block of one benchmark in one pass; nothing when it is decided.
  std::optional<Block> next(const Benchmark&, Pass) const;

  /// Returns the index of the first block of a benchmark in a stage: 0 or 1, which begin with the
  /// other build, at random for timing. A healthy series has little more than one block, so all of
  /// its nightlies would begin alike. What has begun continues as it began.
  int first_index(Block) const;

  /// Orders blocks: by round, and at random within a round.
  using Rank = std::tuple<Stage, int, std::uint64_t>;
  Rank rank_of(const Block&) const;

  /// Returns a verdict for every measured series, in the plan's order.
  std::vector<JudgedSeries> judged() const;

 private:
  friend class BenchmarkSchedule;
  using Portion = std::pair<Benchmark, Pass>;

  void rank(const Portion&);

  Plan plan_;
  SeriesSettings settings_;
  std::uint64_t seed_;
  bool compares_settings_ = false;
  std::map<Series, double> rests_;
  SlotRuns slots_;
  std::set<Portion> portions_;  ///< of the plan
  std::set<Portion> stale_;     ///< which runs may have changed since they were ranked
  std::map<Portion, Rank> ranks_;
  std::map<std::pair<Rank, Portion>, Block> open_;  ///< the next block of each that is not decided
};

}  // namespace torchwatch::comparison
