#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "scripted_lanes.hpp"

using namespace torchwatch;
using comparison::Dealing;
using test::portions_of;
using test::rank;

namespace {

std::vector<double> some_seconds() {
  const auto count = *rc::gen::inRange<std::size_t>(1, 40);
  const auto whole = *rc::gen::container<std::vector<int>>(count, rc::gen::inRange(1, 60));
  return {whole.begin(), whole.end()};
}

}  // namespace

TEST_CASE("the longest benchmark is dealt first, and a lane's own follow in rounds") {
  Dealing dealing(portions_of({2, 9, 5}));
  dealing.hold(0, "n1");
  CHECK(dealing.take(0) == 1U);
  dealing.end(1, rank(1));
  CHECK(dealing.take(0) == 2U);
  dealing.end(2, rank(1, 3));
  CHECK(dealing.take(0) == 0U);
  dealing.end(0, rank(1, 7));
  CHECK(dealing.take(0) == 1U);
  CHECK(dealing.take(0) == 2U);
  CHECK(dealing.take(0) == 0U);
  CHECK_FALSE(dealing.take(0));
}

TEST_CASE("a lane begins nothing that another node has begun, until that node is lost") {
  Dealing dealing(portions_of({2, 9}));
  dealing.hold(0, "n1");
  dealing.hold(1, "n2");
  CHECK(dealing.take(0) == 1U);
  CHECK(dealing.take(1) == 0U);
  dealing.end(1, rank(1));
  dealing.end(0, std::nullopt);
  CHECK_FALSE(dealing.take(1));
  dealing.leave(0);
  CHECK(dealing.take(1) == 1U);
  CHECK(dealing.decided() == 1);
}

TEST_CASE("after a restart what a node has begun is its own again") {
  auto portions = portions_of({1, 9});
  portions[0].node = "n2";
  portions[1].node = "n1";
  Dealing dealing(portions);
  dealing.hold(0, "n1");
  dealing.hold(1, "n2");
  CHECK(dealing.take(1) == 0U);
  CHECK(dealing.take(0) == 1U);
}

TEST_CASE(
    "whatever nodes are lost, each block is measured once, and on one node unless it is lost") {
  REQUIRE(rc::check([] {
    const auto seconds = some_seconds();
    const auto blocks =
        *rc::gen::container<std::vector<int>>(seconds.size(), rc::gen::inRange(1, 6));
    const auto lanes = *rc::gen::inRange(1, 6);
    int losses_left = *rc::gen::inRange(0, 12);
    const auto fate = *rc::gen::container<std::vector<int>>(64, rc::gen::inRange(0, 4));
    std::size_t drawn = 0;
    test::CountedBlocks counted(blocks);
    test::ScriptedLanes scripted(seconds, counted, lanes);
    scripted.measure([&] {
      const bool is_lost = losses_left > 0 && fate[drawn++ % fate.size()] == 0;
      losses_left -= is_lost ? 1 : 0;
      return is_lost;
    });
    for (std::size_t portion = 0; portion < seconds.size(); ++portion) {
      const auto& nodes = counted.nodes()[portion];
      RC_ASSERT(static_cast<int>(nodes.size()) == blocks[portion]);
      for (std::size_t i = 1; i < nodes.size(); ++i) {
        RC_ASSERT(nodes[i] == nodes[i - 1] || scripted.lost().contains(nodes[i - 1]));
      }
    }
  }));
}

TEST_CASE("whatever nodes are lost, no benchmark is measured on a node of another class") {
  REQUIRE(rc::check([] {
    const auto seconds = some_seconds();
    const auto blocks =
        *rc::gen::container<std::vector<int>>(seconds.size(), rc::gen::inRange(1, 6));
    const auto count = *rc::gen::inRange(1, 4);
    // Each class has a lane, so all can be measured.
    std::vector<std::string> lanes;
    for (int i = 0; i < count; ++i) lanes.push_back(std::string(1, static_cast<char>('a' + i)));
    const auto more = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, count));
    for (const int i : more) lanes.push_back(lanes[static_cast<std::size_t>(i)]);
    auto portions = portions_of(seconds);
    for (auto& portion : portions) {
      portion.machine_class = lanes[static_cast<std::size_t>(*rc::gen::inRange(0, count))];
    }
    int losses_left = *rc::gen::inRange(0, 12);
    const auto fate = *rc::gen::container<std::vector<int>>(64, rc::gen::inRange(0, 4));
    std::size_t drawn = 0;
    test::CountedBlocks counted(blocks);
    test::ScriptedLanes scripted(seconds, counted, portions, lanes);
    scripted.measure([&] {
      const bool is_lost = losses_left > 0 && fate[drawn++ % fate.size()] == 0;
      losses_left -= is_lost ? 1 : 0;
      return is_lost;
    });
    for (std::size_t portion = 0; portion < seconds.size(); ++portion) {
      const auto& nodes = counted.nodes()[portion];
      RC_ASSERT(static_cast<int>(nodes.size()) == blocks[portion]);
      for (const auto& node : nodes) RC_ASSERT(node.front() == portions[portion].machine_class[0]);
    }
  }));
}

TEST_CASE("lanes of two classes may share a node, and none has what the other's class has begun") {
  auto portions = portions_of({1, 2});
  portions[0].machine_class = "a";
  portions[1].machine_class = "b";
  Dealing dealing(portions);
  dealing.hold(0, "n1", "a");
  dealing.hold(1, "n1", "b");
  CHECK(dealing.take(1) == 1U);
  CHECK(dealing.is_any_under_way("b"));
  CHECK_FALSE(dealing.is_any_under_way("a"));
  dealing.end(1, rank(1));
  CHECK(dealing.take(0) == 0U);
  CHECK_FALSE(dealing.take(0));
  // What b had begun on the lost lane is another lane's of b, though a lane of a has that node.
  dealing.leave(1);
  dealing.hold(2, "n2", "b");
  CHECK(dealing.take(2) == 1U);
  dealing.end(1, std::nullopt);
  CHECK(dealing.is_over("b"));
  CHECK(dealing.open("a") == 1);
  CHECK_FALSE(dealing.is_over());
}

TEST_CASE("without losses no lane is later than the longest benchmark after its share") {
  REQUIRE(rc::check([] {
    const auto seconds = some_seconds();
    const auto lanes = *rc::gen::inRange(1, 9);
    constexpr int kBlocks = 4;
    test::CountedBlocks counted(std::vector<int>(seconds.size(), kBlocks));
    test::ScriptedLanes scripted(seconds, counted, lanes);
    scripted.measure([] { return false; });
    const double total = kBlocks * std::accumulate(seconds.begin(), seconds.end(), 0.0);
    const double longest = kBlocks * *std::ranges::max_element(seconds);
    RC_ASSERT(scripted.ends_at() <= total / lanes + longest);
  }));
}
