#include "torchwatch/runner/timing_pass.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "fake_workload.hpp"
#include "samples.hpp"
#include "torchwatch/protocol/result.hpp"

using namespace torchwatch;
using namespace torchwatch::runner;

namespace {

constexpr std::int64_t kNever = 1'000'000'000'000;

void spin_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

struct Counted {
  Timings timings;
  std::int64_t steps = 0;
};

Counted time_counted(const protocol::Request& request) {
  Counted counted;
  FakeWorkload workload([&counted] { ++counted.steps; });
  counted.timings = time_iterations(workload, models::Device::cpu, request);
  return counted;
}

}  // namespace

TEST_CASE("as many samples are taken as were asked for where time is not enough before") {
  protocol::Request request;
  request.warmup = 3;
  request.iterations = 7;
  request.enough_ns = kNever;
  request.batch_below_ns = 0;
  const auto counted = time_counted(request);
  REQUIRE(counted.timings.samples_ns.size() == 7);
  REQUIRE(counted.timings.iterations_per_sample == 1);
  REQUIRE(counted.steps == 3 + 1 + 7);  // one more to learn how long an iteration is
}

TEST_CASE("enough measured time ends the pass, but not before the least number of samples") {
  protocol::Request request;
  request.iterations = 30;
  request.iterations_min = 4;
  request.enough_ns = 0;
  REQUIRE(time_counted(request).timings.samples_ns.size() == 4);
}

TEST_CASE("a sample has whole periods of a workload whose iterations differ") {
  protocol::Request request;
  request.warmup = 1;
  request.iterations = 3;
  request.enough_ns = kNever;
  request.batch_below_ns = 0;
  int steps = 0;
  FakeWorkload workload([&] { ++steps; }, 2);
  const auto timings = time_iterations(workload, models::Device::cpu, request);
  REQUIRE(timings.iterations_per_sample == 2);
  REQUIRE(steps == 1 + 2 + 3 * 2);
}

TEST_CASE("a batch is doubled until it is long enough, or as often as the partner's") {
  constexpr std::int64_t kLeast = 10;
  REQUIRE_FALSE(is_long_enough(9, 5, kLeast, std::nullopt));
  REQUIRE(is_long_enough(10, 5, kLeast, std::nullopt));
  REQUIRE_FALSE(is_long_enough(39, 1, kLeast, 2));  // would do, and the partner's is larger
  REQUIRE(is_long_enough(40, 1, kLeast, 2));        // the partner is another workload
  REQUIRE(is_long_enough(5, 2, kLeast, 2));
  REQUIRE_FALSE(is_long_enough(4, 2, kLeast, 2));
  REQUIRE_FALSE(is_long_enough(4, 3, kLeast, 2));
  REQUIRE(is_long_enough(5, 3, kLeast, 2));
}

TEST_CASE("iterations too short to be timed are timed several at a time") {
  protocol::Request request;
  request.iterations = 2;
  request.iterations_min = 1;
  request.batch_below_ns = 100'000;
  const auto counted = time_counted(request);
  REQUIRE(counted.timings.iterations_per_sample > 1);
  REQUIRE(counted.steps > 2 * counted.timings.iterations_per_sample);
}

TEST_CASE("every sample is a positive duration and a CPU has no device's") {
  const auto counted = time_counted({});
  for (const auto sample : counted.timings.samples_ns) REQUIRE(sample > 0);
  REQUIRE(counted.timings.device_samples_ns.empty());
}

TEST_CASE("no sample holds an iteration of the warm-up") {
  protocol::Request request;
  request.iterations = 10;
  request.enough_ns = kNever;
  for (const int warmup : {1, 5, 40}) {
    for (const std::int64_t batch_below_ns : {0, 100'000}) {
      CAPTURE(warmup, batch_below_ns);
      request.warmup = warmup;
      request.batch_below_ns = batch_below_ns;
      const auto counted = time_counted(request);
      const auto samples = static_cast<std::int64_t>(counted.timings.samples_ns.size());
      REQUIRE(samples == 10);
      // Samples end the pass, so what is not of them came before the first.
      CHECK(counted.steps - samples * counted.timings.iterations_per_sample >= warmup);
    }
  }
}

TEST_CASE("the first iteration is timed by itself and is of the warm-up") {
  int steps = 0;
  protocol::Request request;
  request.iterations = 3;
  request.enough_ns = kNever;
  request.batch_below_ns = 0;
  for (const int warmup : {0, 1, 5}) {
    steps = 0;
    request.warmup = warmup;
    FakeWorkload workload([&] { spin_for(std::chrono::milliseconds(++steps == 1 ? 50 : 1)); });
    const auto timings = time_iterations(workload, models::Device::cpu, request);
    CHECK(timings.first_iteration_ns >= 50'000'000);
    CHECK(steps == std::max(1, warmup) + 1 + 3);
  }
}

TEST_CASE("throughput is the items of 1,000 s, and never none") {
  CHECK(throughput_of(8, 2'000'000) == 4'000'000);  // 4,000 a second
  CHECK(throughput_of(1, 3'000'000'000) == 333);    // a third of one a second
  CHECK(throughput_of(1, 86'400'000'000) == 12);
  CHECK(throughput_of(1, 10'000'000'000'000'000) == 1);
  CHECK(throughput_of(2'000'000'000, 1) == 1'000'000'000'000'000'000);
}

TEST_CASE("a planted slowdown makes every sample longer by its share") {
  constexpr std::chrono::milliseconds kStep{4};
  protocol::Request request;
  request.warmup = 0;
  request.iterations = 3;
  request.enough_ns = kNever;
  request.planted_slowdown = 0.5;
  FakeWorkload workload([&] { spin_for(kStep); });
  const auto timings = time_iterations(workload, models::Device::cpu, request);
  REQUIRE(timings.iterations_per_sample == 1);
  for (const auto sample : timings.samples_ns) {
    CHECK(sample >= std::chrono::nanoseconds(kStep).count() * 3 / 2);
  }
}

TEST_CASE("what a workload throws leaves the timing pass") {
  FakeWorkload workload([] { throw std::runtime_error("no"); });
  REQUIRE_THROWS_AS(time_iterations(workload, models::Device::cpu, {}), std::runtime_error);
}
