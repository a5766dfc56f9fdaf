#include "torchwatch/operators/suspects.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::operators;
using Catch::Contains;

namespace {

constexpr double kLeast = 0.12;
constexpr double kIterationNs = 1'000'000;

Benchmark benchmark(const std::string& workload) {
  return {workload, {Device::cpu, Mode::infer}, {}};
}

/// What runs of both builds state: an operator's self time before and after.
struct Times {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

WatchedPairs watched(const std::string& workload, const std::map<std::string, Times>& times,
                     int pairs = 1) {
  WatchedPairs all{.benchmark = benchmark(workload), .iteration_ns = kIterationNs};
  Pair pair;
  for (const auto& [name, ns] : times) {
    pair.before[name] = {.calls = 1, .self_ns = ns.before};
    if (ns.after > 0) pair.after[name] = {.calls = 1, .self_ns = ns.after};
  }
  all.pairs.assign(static_cast<std::size_t>(pairs), pair);
  return all;
}

}  // namespace

TEST_CASE(
    "an operator that got slower in most workloads is a suspect in that where it takes most") {
  const auto found = screen({watched("a", {{"aten::add", {30'000, 39'000}}}),
                             watched("b", {{"aten::add", {300'000, 390'000}}}),
                             watched("c", {{"aten::add", {50'000, 50'000}}})},
                            kLeast);
  CHECK(found.operators == 1);
  REQUIRE(found.suspects.size() == 1);
  CHECK(found.suspects[0].name == "aten::add");
  CHECK(found.suspects[0].carrier == benchmark("b"));
  CHECK(found.suspects[0].ratio == Catch::Detail::Approx(1.3));
  CHECK(found.suspects[0].carriers == std::set{benchmark("a"), benchmark("b")});
}

TEST_CASE("workloads that disagree are evidence against a change that one of them shows") {
  const auto one_of_three = [](std::int64_t after) {
    return screen({watched("a", {{"aten::add", {100'000, after}}}),
                   watched("b", {{"aten::add", {100'000, 100'000}}}),
                   watched("c", {{"aten::add", {100'000, 100'000}}})},
                  kLeast);
  };
  CHECK(one_of_three(115'000).suspects.empty());
  // What is half as much again may happen for one shape of the inputs alone.
  const auto found = one_of_three(130'000);
  REQUIRE(found.suspects.size() == 1);
  CHECK(found.suspects[0].carriers == std::set{benchmark("a")});
}

TEST_CASE("an operator that takes less than 1.5 % of every workload is not judged") {
  const auto found = screen({watched("a", {{"aten::add", {14'000, 140'000}}})}, kLeast);
  CHECK(found.operators == 0);
  CHECK(found.suspects.empty());
}

TEST_CASE("what one build does not call, and what no operator does, cannot be a suspect") {
  const auto found =
      screen({watched("a", {{"aten::add", {100'000, 0}}, {kOutsideOperators, {100'000, 300'000}}})},
             kLeast);
  CHECK(found.operators == 0);
  CHECK(found.suspects.empty());
}

TEST_CASE("the largest change comes first, and a workload without pairs is left out") {
  auto empty = watched("b", {}, 0);
  const auto found = screen(
      {watched("a", {{"aten::add", {100'000, 120'000}}, {"aten::mul", {100'000, 150'000}}}), empty},
      kLeast);
  CHECK(found.operators == 2);
  REQUIRE(found.suspects.size() == 2);
  CHECK(found.suspects[0].name == "aten::mul");
}

TEST_CASE("time that another operator gave up has moved, and time that none did has not") {
  const std::map<std::string, Times> moved{{"aten::a", {200'000, 260'000}},
                                           {"aten::b", {300'000, 250'000}},
                                           {"aten::c", {100'000, 100'000}}};
  const auto from = moved_from(watched("a", moved, 4).pairs, "aten::a");
  REQUIRE(from);
  CHECK_THAT(*from, Contains("its time moved from aten::b, which takes -"));

  auto little = moved;
  little["aten::b"] = {300'000, 275'000};
  CHECK_FALSE(moved_from(watched("a", little, 4).pairs, "aten::a"));
  CHECK_FALSE(moved_from(watched("a", moved, 4).pairs, "aten::c"));
  CHECK_FALSE(moved_from({}, "aten::a"));
}

TEST_CASE("an operator that got a little faster gave no time up, however much it takes") {
  const std::map<std::string, Times> faster{{"aten::a", {20'000, 26'000}},
                                            {"aten::b", {600'000, 585'000}}};
  CHECK_FALSE(moved_from(watched("a", faster, 4).pairs, "aten::a"));
  const std::map<std::string, Times> outside{{"aten::a", {200'000, 260'000}},
                                             {kOutsideOperators, {300'000, 200'000}}};
  CHECK_FALSE(moved_from(watched("a", outside, 4).pairs, "aten::a"));
}

TEST_CASE("a name that no variant can have is not judged") {
  CHECK(screen({watched("a", {{"a::b::c", {100'000, 200'000}}})}, kLeast).operators == 0);
}

TEST_CASE("two pairs are too few to say that time moved") {
  const std::map<std::string, Times> moved{{"aten::a", {200'000, 260'000}},
                                           {"aten::b", {300'000, 240'000}}};
  CHECK_FALSE(moved_from(watched("a", moved, 2).pairs, "aten::a"));
}
