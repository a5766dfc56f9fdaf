#pragma once

#include <array>
#include <string>
#include <string_view>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::nightly {

enum class Side { baseline, candidate };

/// Where in a comparison's course a block stands. Confirmation never uses screening's runs.
enum class Stage { screen, confirm };
std::string_view to_string(Stage);

/// Four runs of one cell in fresh processes, A B B A or, every other block, B A A B: neighbours in
/// time make pairs, and slow drift cancels (prior-art 5.1, measurement.md section 5).
struct Block {
  Cell cell;
  Pass pass = Pass::timing;
  Stage stage = Stage::screen;
  int index = 0;

  static constexpr int kRuns = 4;
  Side side(int position) const;
  /// Unique within its owner: "timing/resnet18 cpu-train/confirm/3/0".
  std::string slot(int position) const;
};

/// The log-ratios candidate / baseline of the block's two pairs, from its runs' values in order.
std::array<double, 2> log_ratios(const Block&, const std::array<double, Block::kRuns>& values);

}  // namespace torchwatch::nightly
