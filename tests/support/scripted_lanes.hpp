#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dealing.hpp"

namespace torchwatch::test {

inline comparison::Dealing::Rank rank(int index, std::uint64_t hash = 0) {
  return {comparison::Stage::screen, index, hash};
}

inline std::vector<comparison::Dealing::Portion> portions_of(const std::vector<double>& seconds) {
  std::vector<comparison::Dealing::Portion> portions;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    portions.push_back({.seconds = seconds[i], .node = {}, .next = rank(0, i)});
  }
  return portions;
}

/// Portions that have a number of blocks each, whatever those say.
class CountedBlocks {
 public:
  explicit CountedBlocks(std::vector<int> blocks) : left_(std::move(blocks)) {}

  std::optional<comparison::Dealing::Rank> next(std::size_t portion) const {
    if (left_[portion] == 0) return std::nullopt;
    return rank(static_cast<int>(nodes_[portion].size()), portion);
  }
  void measure(std::size_t portion, const std::string& node) {
    --left_[portion];
    nodes_[portion].push_back(node);
  }
  void lose(std::size_t /*portion*/, const std::string& /*node*/) {}

  /// The node of each block, by portion.
  const std::vector<std::vector<std::string>>& nodes() const { return nodes_; }

 private:
  std::vector<int> left_;
  std::vector<std::vector<std::string>> nodes_{left_.size()};
};

/// A comparison on scripted lanes, dealt as the service deals it. Lane i holds node i, and after
/// its loss a node of a new name. `Blocks` measures: `next` is the rank of a portion's next block,
/// `measure` carries that out, `lose` if the node dies in it.
template <typename Blocks>
class ScriptedLanes {
 public:
  /// `seconds`: that a block of each portion takes. `blocks` outlives this.
  ScriptedLanes(const std::vector<double>& seconds, Blocks& blocks, int lanes)
      : ScriptedLanes(seconds, blocks, portions_of(seconds), std::vector<std::string>(lanes)) {}
  /// The same with portions of several machine classes. `classes`: of each lane.
  ScriptedLanes(const std::vector<double>& seconds, Blocks& blocks,
                std::vector<comparison::Dealing::Portion> portions,
                const std::vector<std::string>& classes)
      : seconds_(seconds), blocks_(blocks), dealing_(std::move(portions)), lanes_(classes.size()) {
    for (int lane = 0; lane < static_cast<int>(classes.size()); ++lane) {
      at(lane).machine_class = classes[static_cast<std::size_t>(lane)];
      hold(lane);
    }
  }

  /// Measures until all is decided; each block takes as long as is expected. `is_lost` says of a
  /// block that the lane's node dies in it.
  template <typename IsLost>
  void measure(const IsLost& is_lost) {
    for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) begin(lane);
    while (!dealing_.is_over()) {
      const auto next = std::ranges::min_element(lanes_, {}, &Lane::free_at);
      const auto lane = static_cast<int>(next - lanes_.begin());
      require(next->at_work.has_value(), "no lane is at work, and something is left");
      if (is_lost()) {
        lose(lane);
      } else {
        end_block(lane);
      }
      for (int other = 0; other < static_cast<int>(lanes_.size()); ++other) begin(other);
    }
  }

  double ends_at() const { return clock_; }
  const std::set<std::string>& lost() const { return lost_; }

 private:
  static constexpr double kNever = 1e300;
  struct Lane {
    std::string machine_class;
    std::string node;
    std::optional<std::size_t> at_work;
    double free_at = kNever;
  };

  static void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  }
  Lane& at(int lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  void hold(int lane) {
    at(lane).node = at(lane).machine_class + "n" + std::to_string(++nodes_seen_);
    dealing_.hold(lane, at(lane).node, at(lane).machine_class);
  }
  void begin(int lane) {
    auto& held = at(lane);
    if (held.at_work) return;
    held.at_work = dealing_.take(lane);
    held.free_at = held.at_work ? clock_ + seconds_[*held.at_work] : kNever;
    if (held.at_work) require(under_way_.insert(*held.at_work).second, "two lanes, one portion");
  }
  std::size_t stop(int lane) {
    auto& held = at(lane);
    const auto portion = *held.at_work;
    clock_ = held.free_at;
    held.free_at = kNever;
    held.at_work.reset();
    under_way_.erase(portion);
    return portion;
  }
  void end_block(int lane) {
    const auto portion = stop(lane);
    blocks_.measure(portion, at(lane).node);
    dealing_.end(portion, blocks_.next(portion));
  }
  void lose(int lane) {
    const auto portion = stop(lane);
    blocks_.lose(portion, at(lane).node);
    dealing_.end(portion, blocks_.next(portion));
    lost_.insert(at(lane).node);
    dealing_.leave(lane);
    hold(lane);
  }

  std::vector<double> seconds_;
  Blocks& blocks_;
  comparison::Dealing dealing_;
  std::vector<Lane> lanes_;
  double clock_ = 0;
  int nodes_seen_ = 0;
  std::set<std::size_t> under_way_;
  std::set<std::string> lost_;
};

}  // namespace torchwatch::test
