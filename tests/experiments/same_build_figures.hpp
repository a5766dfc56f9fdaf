#pragma once

#include <array>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "series_comparison.hpp"
#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/detect/settings.hpp"
#include "torchwatch/records/error.hpp"

/// What runs of one build against itself say of ways to measure.
namespace torchwatch::experiments {

enum class Way { interleaved, interleaved_fixed, apart, fixed, paper };
inline constexpr std::array<const char*, 5> kWayNames{"interleaved", "interleaved_fixed", "apart",
                                                      "fixed", "paper"};

/// The blocks of one way, in the order in which they were made.
struct BlocksOfWay {
  /// ns an iteration, of the processes, as if each block were A B B A: in the others the two of
  /// each pair are exchanged.
  std::vector<double> values;
  std::vector<bool> is_baab;  ///< by block: in truth it was B A A B
  double seconds = 0;
  double placing_seconds = 0;  ///< of them, for copies of library files
  double load_sum = 0;         ///< of the machine, over the blocks
  int blocks = 0;
};

/// All blocks of one workload, mode and number of threads.
struct BenchmarkBlocks {
  std::string workload;
  std::string mode;
  int threads = 1;
  std::array<BlocksOfWay, kWayNames.size()> ways;

  [[nodiscard]] const BlocksOfWay& of(Way way) const { return ways[static_cast<std::size_t>(way)]; }
};

/// What the service does on a CPU.
inline constexpr Way kWayOfService = Way::interleaved;

/// Reads the lines that same_build.py writes, benchmarks in the order of their first block. Errors
/// name the line.
Result<std::vector<BenchmarkBlocks>> read_blocks(std::istream& lines);

/// What comparisons of a build with itself, or with a slower one, said.
struct Outcomes {
  long comparisons = 0;
  long beyond = 0;  ///< the estimate lies further from 1 than the threshold, either way
  long regressed = 0;
  long improved = 0;
  long runs = 0;  ///< processes that they took

  Outcomes& operator+=(const Outcomes& other);
};

/// One process against the next, 7 % either way, as TorchBench compares.
Outcomes paper_directly(const BenchmarkBlocks& benchmark);
/// Every process against every other.
Outcomes paper_against_all(const BenchmarkBlocks& benchmark);

/// Every single pair of the service's way, as the paper's way compares two processes.
Outcomes pairs_directly(const BenchmarkBlocks& benchmark, double threshold);

/// The processes in their order, comparison after comparison as far as they reach: screened and,
/// where that is called for, confirmed. A last comparison that they do not suffice for is left out.
Outcomes protocol_directly(const BenchmarkBlocks& benchmark, const detect::Settings& settings);

/// Comparisons of a candidate that takes `slowdown` times as long, from random starts in the
/// recorded order, which is a ring.
Outcomes protocol_resampled(const BenchmarkBlocks& benchmark, double slowdown, long comparisons,
                            const detect::Settings& settings, Random& random);

struct Power {
  double change = 0;  ///< ratio - 1
  Outcomes outcomes;
};
/// The least of +3, +3.5, ... +30 % that is called regressed in at least `share` of the
/// comparisons.
std::optional<Power> least_change_found(const BenchmarkBlocks& benchmark, double share,
                                        long comparisons, const detect::Settings& settings,
                                        Random& random);

/// B against A, which are equal: 99 %, from the pairs of the blocks.
detect::Estimate shift(const BenchmarkBlocks& benchmark, Way way);

/// What the place of a process in its block does, 99 %: nothing of it is of a side. Were all blocks
/// A B B A, `inner` would be taken for what a side does.
struct Places {
  detect::Estimate second;  ///< of a pair, against its first
  detect::Estimate inner;   ///< the two in the middle of a block, against those at its ends
};
Places places(const BenchmarkBlocks& benchmark, Way way);

/// States for each group of `group` pairs of one benchmark, in their order, how likely Student's t
/// finds so great a mean in either direction where nothing differs. Uniform from 0 to 1 when pairs
/// are independent and normal, as nothing does differ (docs/measuring.md).
std::vector<double> p_values(const BenchmarkBlocks& benchmark, Way way, int group);

/// Seconds of measuring until an interval of 99 % reaches `half_width` either way, by the spread of
/// the pairs seen and normal noise.
double seconds_to_know(const BenchmarkBlocks& benchmark, Way way, double half_width);

}  // namespace torchwatch::experiments
