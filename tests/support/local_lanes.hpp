#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <vector>

#include "torchwatch/executor/local_executor.hpp"

namespace torchwatch::test {

/// Lanes of this machine, in place of a cluster's: each is an executor with a scratch folder of its
/// own. A lane's node may die in an order, and is followed by another one.
class LocalLanes final : public executor::Lanes {
 public:
  LocalLanes(process::ProcessRunner& processes, const std::filesystem::path& scratch, int count) {
    for (int i = 0; i < count; ++i) {
      const auto folder = scratch / ("lane-" + std::to_string(i));
      std::filesystem::create_directories(folder);
      lanes_.push_back(std::make_unique<Lane>(processes, folder));
    }
  }

  /// What all runs of a lane do, as a line of the file `behaviour`.
  static void behave(const std::filesystem::path& scratch, int lane, const std::string& text) {
    const auto folder = scratch / ("lane-" + std::to_string(lane));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "behaviour") << text << '\n';
  }
  /// The node of that lane dies in each of its orders of those numbers.
  void die(int number, std::vector<int> in_orders) { at(number).dies_in = std::move(in_orders); }
  /// The node of that lane dies in its next order.
  void die_next(int number) { at(number).dies_next = true; }
  /// No further node comes for that lane, once its first one has died.
  void come_to_an_end(int number) { at(number).is_last = true; }
  /// That lane gets its node only after that number of orders to the first lane.
  void be_later(int number, int orders = 1) { at(number).follows = orders; }

  /// That lane's machines are of a configured class.
  void be_of_class(int number, const std::string& name) { at(number).machine_class = name; }

  int count() const override { return static_cast<int>(lanes_.size()); }
  std::string machine_class(int number) const override {
    return lanes_.at(static_cast<std::size_t>(number))->machine_class;
  }
  executor::Executor& lane(int number) override { return at(number); }
  Result<std::string> hold(int number, std::chrono::seconds, const std::function<void()>& waits,
                           std::stop_token) override {
    auto& lane = at(number);
    wait_for_first(lane.follows);
    if (lane.is_dead) waits();
    if (lane.is_dead && lane.is_last) return fail(ErrorCode::unavailable, "no node of the cluster");
    if (lane.is_dead.exchange(false)) ++lane.generation;
    return node_of(number);
  }
  void give_back(int number) override { at(number).is_given_back = true; }
  bool is_given_back(int number) { return at(number).is_given_back; }
  std::string node_of(int number) {
    return "n" + std::to_string(number) + "-" + std::to_string(at(number).generation);
  }

 private:
  struct Lane final : executor::Executor {
    Lane(process::ProcessRunner& processes, const std::filesystem::path& scratch)
        : local(processes, scratch, {}) {}
    Result<executor::RunOutcome> run(const executor::RunSpec& spec, std::stop_token stop) override {
      if (dies()) return fail(ErrorCode::unavailable, "lost on its node");
      return local.run(spec, std::move(stop));
    }
    Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2> specs,
                                                         std::stop_token stop) override {
      if (dies()) return fail(ErrorCode::unavailable, "lost on its node");
      return local.run_pair(std::move(specs), std::move(stop));
    }
    Result<std::vector<executor::RunOutcome>> run_block(executor::RunBlock block,
                                                        std::stop_token stop) override {
      if (dies()) return fail(ErrorCode::unavailable, "lost on its node");
      return local.run_block(std::move(block), std::move(stop));
    }
    bool dies() {
      const bool now =
          dies_next.exchange(false) || std::ranges::find(dies_in, orders.load()) != dies_in.end();
      ++orders;
      if (now) is_dead = true;
      orders.notify_all();
      return now;
    }

    executor::LocalExecutor local;
    std::string machine_class;
    std::vector<int> dies_in;
    std::atomic<bool> dies_next = false;
    std::atomic<int> orders = 0;
    std::atomic<bool> is_dead = false;
    std::atomic<int> generation = 0;
    std::atomic<bool> is_given_back = false;
    bool is_last = false;
    int follows = 0;  ///< orders of the first lane
  };
  void wait_for_first(int orders) {
    auto& got = at(0).orders;
    for (int seen = got; seen < orders; seen = got) got.wait(seen);
  }
  Lane& at(int number) { return *lanes_.at(static_cast<std::size_t>(number)); }

  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace torchwatch::test
