#include "torchwatch/nightly/block.hpp"

#include <cmath>

namespace torchwatch::nightly {

std::string_view to_string(Stage stage) {
  return stage == Stage::screen ? "screen" : "confirm";
}

Side Block::side(int position) const {
  const bool outer = position == 0 || position == kRuns - 1;
  const bool baseline_outside = index % 2 == 0;
  return outer == baseline_outside ? Side::baseline : Side::candidate;
}

std::string Block::slot(int position) const {
  return std::string(torchwatch::to_string(pass)) + "/" + torchwatch::to_string(cell) + "/" +
         std::string(to_string(stage)) + "/" + std::to_string(index) + "/" +
         std::to_string(position);
}

std::array<double, 2> log_ratios(const Block& block,
                                 const std::array<double, Block::kRuns>& values) {
  const auto pair = [&](int first, int second) {
    const double ratio = std::log(values[second] / values[first]);
    return block.side(first) == Side::baseline ? ratio : -ratio;
  };
  return {pair(0, 1), pair(2, 3)};
}

}  // namespace torchwatch::nightly
