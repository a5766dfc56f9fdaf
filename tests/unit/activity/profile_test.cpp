#include "torchwatch/activity/profile.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::activity;

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kBegin = 1'780'000'000'000'000'000;
constexpr std::int64_t kIterationNs = 10 * kMillisecond;

Activity kernel(std::int64_t start, std::int64_t length) {
  return {.kind = Kind::kernel, .start_ns = start, .end_ns = start + length};
}

/// Three iterations a millisecond apart, of 10, 12 and 11 ms, with a kernel of 4 ms in each.
struct Day {
  std::vector<Iteration> iterations;
  Recording recording;

  Day() {
    auto begin = kBegin;
    for (const auto length : {10 * kMillisecond, 12 * kMillisecond, 11 * kMillisecond}) {
      iterations.push_back({{begin, begin + length}, length});
      recording.activities.push_back(kernel(begin + kMillisecond, 4 * kMillisecond));
      begin += length + kMillisecond;
    }
  }
  Result<Profile> summary() const { return summarise(recording, iterations); }
  std::string refusal() const {
    const auto profile = summary();
    REQUIRE_FALSE(profile.has_value());
    REQUIRE(profile.error().code == ErrorCode::corrupt);
    return profile.error().message;
  }
};

bool says(const std::string& text, const char* what) {
  INFO(text);
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("the iteration of median wall time is reported, and the median of each share") {
  const auto profile = Day().summary();
  REQUIRE(profile.has_value());
  CHECK(profile->iteration.wall_ns == 11 * kMillisecond);
  CHECK(profile->breakdown.shares.active_ns == 4 * kMillisecond);
  CHECK(profile->breakdown.shares.idle_ns == 7 * kMillisecond);
  CHECK(profile->median_shares.active == 363'636);  // of 400,000, 333,333 and 363,636
  CHECK(profile->median_shares.copy == 0);
  CHECK(profile->median_shares.idle == 636'364);
  CHECK(profile->activities.size() == 1);
  CHECK(profile->outside_ns == 0);
}

TEST_CASE("of an even number of iterations the lower of the middle two is reported") {
  Day day;
  day.iterations.pop_back();
  day.recording.activities.pop_back();
  CHECK(day.summary()->iteration.wall_ns == 10 * kMillisecond);
}

TEST_CASE("another device's work is not this one's") {
  Day day;
  auto other = kernel(day.iterations[2].window.begin_ns + 6 * kMillisecond, kMillisecond);
  other.device = 1;
  day.recording.activities.push_back(other);
  CHECK(day.summary()->breakdown.shares.active_ns == 4 * kMillisecond);
}

TEST_CASE("a recording that is not complete is refused, never reported as a smaller figure") {
  Day day;
  day.recording.dropped = 2;
  CHECK(says(day.refusal(), "CUPTI dropped 2 records"));
  day.recording.dropped = 0;
  day.recording.unreadable = 1;
  CHECK(says(day.refusal(), "1 buffer of records could not be read to the end"));
  day.recording.unreadable = 0;
  day.recording.never_returned = 1;
  CHECK(says(day.refusal(), "CUPTI kept 1 buffer with records"));
}

TEST_CASE("a record without times or with impossible ones is refused and shown") {
  Day day;
  auto& broken = day.recording.activities[1];
  const auto whole = broken;
  broken.start_ns = 0;
  CHECK(says(day.refusal(), "without times: a kernel from 0 to"));
  broken = whole;
  broken.end_ns = 0;
  CHECK(says(day.refusal(), "without times"));
  broken = whole;
  broken.end_ns = broken.start_ns - 1;
  CHECK(says(day.refusal(), "ends before it starts"));
  broken = whole;
  broken.start_ns = -1;  // a stamp beyond the signed range
  CHECK(says(day.refusal(), "without times"));
}

TEST_CASE("a broken record of another device or of a host's copy is refused too") {
  Day day;
  day.recording.activities[0].device = 1;
  day.recording.activities[0].end_ns = 0;
  CHECK(says(day.refusal(), "without times"));
  Day other;
  other.recording.activities.push_back({.kind = Kind::host_to_host, .start_ns = 5, .end_ns = 4});
  CHECK(says(other.refusal(), "copy, host to host from 5 to 4"));
}

TEST_CASE("a record more than a millisecond before or after all iterations is refused") {
  Day day;
  day.recording.activities.push_back(kernel(kBegin - kMillisecond, 10));
  REQUIRE(day.summary().has_value());
  day.recording.activities.back() = kernel(kBegin - kMillisecond - 1, 10);
  CHECK(says(day.refusal(), "from before the first iteration"));
  const auto end = day.iterations.back().window.end_ns;
  day.recording.activities.back() = kernel(end + kMillisecond - 10, 10);
  REQUIRE(day.summary().has_value());
  day.recording.activities.back() = kernel(end + kMillisecond - 10, 11);
  CHECK(says(day.refusal(), "from after the last iteration"));
}

TEST_CASE("an iteration without any record is refused") {
  Day day;
  day.recording.activities.pop_back();
  CHECK(says(day.refusal(), "no record of an iteration that ran"));
  day.recording.activities.clear();
  CHECK(says(day.refusal(), "no record of an iteration that ran"));
}

TEST_CASE("more than a point of work outside the iterations is refused") {
  Day day;
  const auto gap = day.iterations[0].window.end_ns;
  day.recording.activities.push_back(kernel(gap + 100'000, 330'000));  // a hundredth of 33 ms
  CHECK(day.summary()->outside_ns == 330'000);
  day.recording.activities.push_back(kernel(gap + 500'000, 1'000));
  CHECK(says(day.refusal(), "331000 ns of recorded work lie outside the iterations"));
}

TEST_CASE("a wall clock that is set during an iteration is noticed") {
  Day day;
  day.iterations[1].wall_ns = kIterationNs;
  CHECK(says(day.refusal(), "took 10000000 ns, but 12000000 ns by the wall clock"));
}

TEST_CASE("the time between reading two clocks does not count as a clock that was set") {
  Day day;
  day.iterations[1].wall_ns += 25'000;
  CHECK(day.summary().has_value());
}

TEST_CASE("a processor lost between two clocks does not count as a clock that was set") {
  Day day;
  day.iterations[1].wall_ns += 5'000'000;
  day.iterations[1].reading_ns = 5'000'000;
  CHECK(day.summary().has_value());
  day.iterations[1].reading_ns = 4'000'000;
  CHECK(says(day.refusal(), "the wall clock, which was set meanwhile"));
}

TEST_CASE("a clock that tells no time is refused") {
  Day day;
  day.iterations[0].window = {0, 0};
  CHECK(says(day.refusal(), "CUPTI reported no time"));
  day.iterations.clear();
  CHECK(says(day.refusal(), "no iteration"));
}
