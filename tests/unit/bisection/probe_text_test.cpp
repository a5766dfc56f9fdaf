#include "probe_text.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "torchwatch/bisection/trace.hpp"

using namespace torchwatch;
using namespace torchwatch::bisection;

namespace {

const std::string kCommit = "33de6cd2393f" + std::string(28, '0');
const std::string kParent = "1f0c5b7a9e21" + std::string(28, '0');

BisectionSpec searching(int series) {
  BisectionSpec spec;
  for (int i = 0; i < series; ++i) {
    spec.series.push_back({Series{Benchmark{"dlrm", {}, {}}, Metric::time}, 0.02, 0.034});
  }
  return spec;
}

bisect::Effect slower(std::size_t series) {
  return {
      .series = series, .effect = std::log(1.144), .low = std::log(1.11), .high = std::log(1.161)};
}

}  // namespace

TEST_CASE("a probe is said with its change, the interval, and how many commits are left") {
  const Probe probe{.commit = kCommit,
                    .against = kParent,
                    .effects = {slower(0)},
                    .commits = 4,
                    .posterior = {0.5, 0.46, 0.03, 0.01}};
  const auto spec = searching(1);
  CHECK(text_of(probe, spec) ==
        "33de6cd2393f against 1f0c5b7a9e21: " + to_string(spec.series[0].series) +
            " +14.4 % [+11.0, +16.1] %; 4 commits -> 2 hold 95 %");
}

TEST_CASE("a build measured alone has no other side, and one commit that is left holds the rest") {
  const Probe probe{.commit = kCommit, .against = "", .commits = 2, .posterior = {0.97, 0.03}};
  CHECK(text_of(probe, searching(1)) == "33de6cd2393f alone; 2 commits -> 1 holds 95 %");
}

TEST_CASE("of many series a probe says three, and nothing of commits while none is looked for") {
  const Probe probe{.commit = kCommit,
                    .against = kParent,
                    .effects = {slower(0), slower(1), slower(2), slower(3), slower(4)},
                    .commits = 2,
                    .posterior = {0, 0}};
  const auto text = text_of(probe, searching(5));
  CHECK(text.ends_with("+14.4 % [+11.0, +16.1] % and 2 more series"));
}
