#include "torchwatch/activity/breakdown.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>

using namespace torchwatch::activity;

namespace {

constexpr Window kWindow{100, 300};

Activity activity(Kind kind, std::int64_t start, std::int64_t end, std::int64_t bytes = 0) {
  return {.kind = kind, .start_ns = start, .end_ns = end, .bytes = bytes};
}

void require_shares(const WindowBreakdown& breakdown, std::int64_t active, std::int64_t copy,
                    std::int64_t idle) {
  CHECK(breakdown.shares.active_ns == active);
  CHECK(breakdown.shares.copy_ns == copy);
  CHECK(breakdown.shares.idle_ns == idle);
}

/// The same by asking every nanosecond of the window.
WindowBreakdown by_nanosecond(const std::vector<Activity>& activities, Window window) {
  WindowBreakdown result;
  for (auto now = window.begin_ns; now < window.end_ns; ++now) {
    const auto some = [&](std::initializer_list<Kind> kinds) {
      return std::ranges::any_of(activities, [&](const Activity& each) {
        return std::ranges::find(kinds, each.kind) != kinds.end() && each.start_ns <= now &&
               now < each.end_ns;
      });
    };
    const bool is_active = some({Kind::kernel, Kind::memset, Kind::graph, Kind::device_to_device});
    const bool is_copy =
        some({Kind::host_to_device, Kind::device_to_host, Kind::peer, Kind::unknown_copy});
    result.shares.active_ns += is_active ? 1 : 0;
    result.shares.copy_ns += is_copy && !is_active ? 1 : 0;
    result.shares.idle_ns += !is_copy && !is_active ? 1 : 0;
    result.copy_total_ns += is_copy ? 1 : 0;
    result.overlap_ns += is_copy && is_active ? 1 : 0;
    result.memset_ns += some({Kind::memset}) ? 1 : 0;
    result.device_to_device_ns += some({Kind::device_to_device}) ? 1 : 0;
  }
  return result;
}

rc::Gen<Activity> any_activity() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, 9), rc::gen::inRange(1, 500), rc::gen::inRange(0, 90)),
      [](const std::tuple<int, int, int>& drawn) {
        const auto& [kind, start, length] = drawn;
        return activity(static_cast<Kind>(kind), start, start + length);
      });
}

}  // namespace

TEST_CASE("a window without work is idle") {
  require_shares(break_down({}, kWindow), 0, 0, 200);
}

TEST_CASE("kernels of two streams count once where they overlap") {
  require_shares(
      break_down({activity(Kind::kernel, 110, 150), activity(Kind::kernel, 130, 170)}, kWindow), 60,
      0, 140);
}

TEST_CASE("a copy counts where no kernel hides it, whatever way they overlap") {
  const auto kernel = activity(Kind::kernel, 150, 200);
  struct Case {
    std::int64_t start, end, exposed;
  };
  const auto [start, end, exposed] =
      GENERATE(Case{110, 140, 30}, Case{110, 150, 40}, Case{110, 160, 40}, Case{110, 200, 40},
               Case{110, 250, 90}, Case{150, 200, 0}, Case{160, 190, 0}, Case{160, 250, 50},
               Case{200, 250, 50}, Case{150, 250, 50});
  const auto copy = activity(Kind::host_to_device, start, end);
  for (const auto& both : {std::vector{kernel, copy}, std::vector{copy, kernel}}) {
    const auto breakdown = break_down(both, kWindow);
    require_shares(breakdown, 50, exposed, 150 - exposed);
    CHECK(breakdown.copy_total_ns == end - start);
    CHECK(breakdown.overlap_ns == end - start - exposed);
  }
}

TEST_CASE("a copy within the device and a memset are work of the device") {
  const auto breakdown = break_down(
      {activity(Kind::device_to_device, 100, 110), activity(Kind::memset, 120, 140)}, kWindow);
  require_shares(breakdown, 30, 0, 170);
  CHECK(breakdown.device_to_device_ns == 10);
  CHECK(breakdown.memset_ns == 20);
}

TEST_CASE("a copy on the host does not count as work of the device") {
  const auto breakdown = break_down({activity(Kind::host_to_host, 100, 200, 64)}, kWindow);
  require_shares(breakdown, 0, 0, 200);
  CHECK(breakdown.bytes.empty());
}

TEST_CASE("work that reaches out of the window counts inside and is reported as clipped") {
  const auto breakdown = break_down(
      {activity(Kind::kernel, 90, 110), activity(Kind::device_to_host, 280, 350, 4096)}, kWindow);
  require_shares(breakdown, 10, 20, 170);
  CHECK(breakdown.clipped_ns == 10 + 50);
  CHECK(breakdown.kernels == 1);
  CHECK(breakdown.bytes.at(Kind::device_to_host) == 4096);
}

TEST_CASE("what lies outside the window counts nothing, also at its very borders") {
  const auto breakdown =
      break_down({activity(Kind::kernel, 50, 100), activity(Kind::peer, 300, 310, 8)}, kWindow);
  require_shares(breakdown, 0, 0, 200);
  CHECK(breakdown.clipped_ns == 0);
  CHECK(breakdown.kernels == 0);
  CHECK(breakdown.bytes.empty());
}

TEST_CASE("a kernel of no length is counted and takes no time") {
  const auto breakdown = break_down({activity(Kind::kernel, 100, 100)}, kWindow);
  require_shares(breakdown, 0, 0, 200);
  CHECK(breakdown.kernels == 1);
}

TEST_CASE("bytes are added up by direction") {
  const auto breakdown = break_down(
      {activity(Kind::host_to_device, 110, 120, 1), activity(Kind::host_to_device, 130, 140, 2),
       activity(Kind::device_to_host, 150, 160, 4)},
      kWindow);
  CHECK(breakdown.bytes ==
        std::map<Kind, std::int64_t>{{Kind::host_to_device, 3}, {Kind::device_to_host, 4}});
}

TEST_CASE("today's stamps lose no nanosecond") {
  constexpr std::int64_t kToday = 1'780'000'000'123'456'789;
  const auto breakdown =
      break_down({activity(Kind::kernel, kToday + 1, kToday + 4)}, {kToday, kToday + 10});
  require_shares(breakdown, 3, 0, 7);
}

TEST_CASE("any activities break down as asking each nanosecond does") {
  REQUIRE(rc::check([] {
    const auto activities = *rc::gen::container<std::vector<Activity>>(any_activity());
    const auto fast = break_down(activities, kWindow);
    const auto slow = by_nanosecond(activities, kWindow);
    RC_ASSERT(fast.shares.active_ns == slow.shares.active_ns);
    RC_ASSERT(fast.shares.copy_ns == slow.shares.copy_ns);
    RC_ASSERT(fast.shares.idle_ns == slow.shares.idle_ns);
    RC_ASSERT(fast.copy_total_ns == slow.copy_total_ns);
    RC_ASSERT(fast.overlap_ns == slow.overlap_ns);
    RC_ASSERT(fast.memset_ns == slow.memset_ns);
    RC_ASSERT(fast.device_to_device_ns == slow.device_to_device_ns);
    RC_ASSERT(fast.shares.active_ns + fast.shares.copy_ns + fast.shares.idle_ns ==
              kWindow.length_ns());
  }));
}

TEST_CASE("two halves of a window add up to the whole") {
  REQUIRE(rc::check([] {
    const auto activities = *rc::gen::container<std::vector<Activity>>(any_activity());
    const auto cut = *rc::gen::inRange<std::int64_t>(kWindow.begin_ns, kWindow.end_ns);
    const auto whole = break_down(activities, kWindow);
    const auto first = break_down(activities, {kWindow.begin_ns, cut});
    const auto second = break_down(activities, {cut, kWindow.end_ns});
    RC_ASSERT(first.shares.active_ns + second.shares.active_ns == whole.shares.active_ns);
    RC_ASSERT(first.shares.copy_ns + second.shares.copy_ns == whole.shares.copy_ns);
    RC_ASSERT(first.shares.idle_ns + second.shares.idle_ns == whole.shares.idle_ns);
  }));
}
