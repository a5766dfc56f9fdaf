#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
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

/// A comparison of portions with a number of blocks each, measured on scripted lanes. Lane i holds
/// node i, and after its loss a node of a new name.
class ScriptedLanes {
 public:
  ScriptedLanes(const std::vector<double>& seconds, std::vector<int> blocks, int lanes)
      : seconds_(seconds), left_(std::move(blocks)), dealing_(portions_of(seconds)), lanes_(lanes) {
    for (int lane = 0; lane < lanes; ++lane) hold(lane);
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
  const std::vector<std::vector<std::string>>& nodes() const { return nodes_; }
  const std::set<std::string>& lost() const { return lost_; }

 private:
  static constexpr double kNever = 1e300;
  struct Lane {
    std::string node;
    std::optional<std::size_t> at_work;
    double free_at = kNever;
  };

  static void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  }
  void hold(int lane) {
    auto& held = lanes_[static_cast<std::size_t>(lane)];
    held.node = "n" + std::to_string(++nodes_seen_);
    dealing_.hold(lane, held.node);
  }
  void begin(int lane) {
    auto& held = lanes_[static_cast<std::size_t>(lane)];
    if (held.at_work) return;
    held.at_work = dealing_.take(lane);
    held.free_at = held.at_work ? clock_ + seconds_[*held.at_work] : kNever;
    if (held.at_work) require(under_way_.insert(*held.at_work).second, "two lanes, one portion");
  }
  std::size_t stop(int lane) {
    auto& held = lanes_[static_cast<std::size_t>(lane)];
    const auto portion = *held.at_work;
    clock_ = held.free_at;
    held.free_at = kNever;
    held.at_work.reset();
    under_way_.erase(portion);
    return portion;
  }
  std::optional<comparison::Dealing::Rank> next_of(std::size_t portion) const {
    if (left_[portion] == 0) return std::nullopt;
    return rank(static_cast<int>(nodes_[portion].size()), portion);
  }
  void end_block(int lane) {
    const auto portion = stop(lane);
    --left_[portion];
    nodes_[portion].push_back(lanes_[static_cast<std::size_t>(lane)].node);
    dealing_.end(portion, next_of(portion));
  }
  void lose(int lane) {
    const auto portion = stop(lane);
    dealing_.end(portion, next_of(portion));
    lost_.insert(lanes_[static_cast<std::size_t>(lane)].node);
    dealing_.leave(lane);
    hold(lane);
  }

  std::vector<double> seconds_;
  std::vector<int> left_;
  comparison::Dealing dealing_;
  std::vector<Lane> lanes_;
  double clock_ = 0;
  int nodes_seen_ = 0;
  std::set<std::size_t> under_way_;
  std::vector<std::vector<std::string>> nodes_{left_.size()};  ///< of each portion's blocks
  std::set<std::string> lost_;
};

}  // namespace torchwatch::test
