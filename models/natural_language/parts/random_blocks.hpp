#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace torchwatch::models {

/// The blocks that each block attends to besides its neighbours and the ends, drawn as BigBird's
/// original draws them (arXiv 2007.14062): all rows of a text of the greatest length are drawn, and
/// a shorter text takes the first ones. One seed gives one plan, number for number as NumPy's
/// legacy generator does, since the plan decides what is computed.
class RandomBlocks {
 public:
  struct Shape {
    std::int64_t blocks = 0;  ///< in the greatest length
    std::int64_t reach = 0;   ///< no block from here on is drawn
    std::size_t drawn = 0;    ///< for each block
  };

  RandomBlocks(const Shape& shape, std::uint32_t seed) : shape_(shape), generator_(seed) {}

  /// The next head's plan: of the first `rows` blocks after the first one, `drawn` each.
  std::vector<std::int64_t> draw_head(std::int64_t rows) {
    std::vector<std::int64_t> plan;
    for (std::int64_t row = 1; row < shape_.blocks - 1; ++row) {
      const auto shuffled = shuffle(candidates(row));
      if (row > rows) continue;
      plan.insert(plan.end(), shuffled.begin(),
                  shuffled.begin() + static_cast<std::ptrdiff_t>(shape_.drawn));
    }
    return plan;
  }

 private:
  /// Blocks 1 to `last`, less those next to `row`. The original forgets to leave out the neighbours
  /// of the two last rows.
  std::vector<std::int64_t> candidates(std::int64_t row) const {
    const auto last = shape_.reach - 1;
    if (row == 1) return range(3, last);
    if (row == 2) return range(4, last);
    if (row >= shape_.blocks - 3) return range(1, last);
    const auto before = row - 2;
    if (before > last) return range(1, last);
    if (row + 1 == last) return range(1, before);
    auto blocks = range(1, before);
    for (const auto block : range(row + 2, last)) blocks.push_back(block);
    return blocks;
  }

  static std::vector<std::int64_t> range(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> numbers;
    for (auto number = first; number <= last; ++number) numbers.push_back(number);
    return numbers;
  }

  std::vector<std::int64_t> shuffle(std::vector<std::int64_t> numbers) {
    for (std::size_t i = numbers.size(); i-- > 1;) std::swap(numbers[i], numbers[below_or(i)]);
    return numbers;
  }

  /// 0 to `greatest`: draws as many bits as that has, until they are not above it.
  std::size_t below_or(std::size_t greatest) {
    std::uint32_t mask = 1;
    while (mask < greatest) mask = 2 * mask + 1;
    auto drawn = static_cast<std::uint32_t>(generator_()) & mask;
    while (drawn > greatest) drawn = static_cast<std::uint32_t>(generator_()) & mask;
    return drawn;
  }

  Shape shape_;
  std::mt19937 generator_;
};

}  // namespace torchwatch::models
