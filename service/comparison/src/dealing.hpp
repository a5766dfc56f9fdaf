#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "torchwatch/documents/block.hpp"

namespace torchwatch::comparison {

/// Deals what a comparison measures to the nodes of a cluster. A portion is a benchmark in one
/// pass: its blocks follow one another, and all of them stay on the node that has begun it, unless
/// that node is lost, and always on nodes of its machine class. Pure; not thread-safe.
class Dealing {
 public:
  /// Orders the blocks of a lane, so that its benchmarks alternate.
  using Rank = std::tuple<Stage, int, std::uint64_t>;
  struct Portion {
    double seconds = 1;              ///< that a block is expected to take
    std::string machine_class = {};  ///< that measures it
    std::string node = {};           ///< of its newest run; empty: it has not begun
    std::optional<Rank> next = {};   ///< of its next block; empty: it is decided
  };

  explicit Dealing(std::vector<Portion> portions);

  /// A lane holds a node. What that node has begun is its own again.
  void hold(int lane, const std::string& node, const std::string& machine_class = {});
  /// A lane holds no node any more: others may take over what it has begun.
  void leave(int lane);
  /// Returns the portion whose next block that lane is to carry out, which is under way from now
  /// on: of those of its class the longest one that no lane has begun, unless it has begun several
  /// that are open; then, of its own, the one that is next.
  std::optional<std::size_t> take(int lane);
  /// A block has ended, or was lost; `next` is the portion's next one.
  void end(std::size_t portion, std::optional<Rank> next);

  int decided() const;
  bool is_over() const { return decided() == static_cast<int>(portions_.size()); }
  /// The number of portions of a class that are not decided.
  int open(const std::string& machine_class) const;
  bool is_over(const std::string& machine_class) const { return open(machine_class) == 0; }
  bool is_any_under_way(const std::string& machine_class) const;

 private:
  struct Dealt : Portion {
    bool is_under_way = false;
  };
  struct Held {
    std::string node;
    std::string machine_class;
  };
  std::vector<Dealt> portions_;
  std::map<int, Held> held_;  ///< by lane
};

}  // namespace torchwatch::comparison
