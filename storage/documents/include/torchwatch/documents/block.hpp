#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "torchwatch/records/vocabulary.hpp"
#include "torchwatch/records/words.hpp"

namespace torchwatch::comparison {

enum class Side { baseline, candidate };

/// The stage of a comparison that a block belongs to. Confirmation never uses screening's runs.
enum class Stage { screen, confirm };

/// Four runs of one benchmark in fresh processes, A B B A or, every other block, B A A B:
/// neighbours in time make pairs, and slow drift cancels (docs/deciding.md).
struct Block {
  Benchmark benchmark;
  Pass pass = Pass::timing;
  Stage stage = Stage::screen;
  int index = 0;

  static constexpr int kRuns = 4;
  int runs = kRuns;  ///< how many of its first ones are to be made
  Side side(int position) const;
  /// Unique within its owner: "timing/resnet18 cpu-train/confirm/3/0".
  std::string slot(int position) const;
};

/// The place of a run in a comparison, as its slot says it.
struct PlaceInBlock {
  Side side = Side::baseline;
  Stage stage = Stage::screen;
};

/// Reads a slot that Block::slot made; nothing for the slots of other owners.
std::optional<PlaceInBlock> parse_slot(std::string_view slot);

}  // namespace torchwatch::comparison

namespace torchwatch {

template <>
struct Words<comparison::Side> {
  using enum comparison::Side;
  static constexpr std::string_view kKind = "side of a comparison";
  static constexpr std::array kAll{Word{baseline, "baseline"}, Word{candidate, "candidate"}};
};

template <>
struct Words<comparison::Stage> {
  using enum comparison::Stage;
  static constexpr std::string_view kKind = "stage of a block";
  static constexpr std::array kAll{Word{screen, "screen"}, Word{confirm, "confirm"}};
};

}  // namespace torchwatch
