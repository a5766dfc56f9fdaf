#include "torchwatch/records/statistics.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>

using namespace torchwatch;

namespace {

using Numbers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

}  // namespace

TEST_CASE("the median of whole numbers is whole, rounded down") {
  CHECK(median(Numbers{3}) == 3);
  CHECK(median(Numbers{4, 1}) == 2);
  CHECK(median(Numbers{9, 1, 5}) == 5);
  CHECK(median(Numbers{-3, -2}) == -3);
}

TEST_CASE("the median of an even number of values is the mean of the middle two") {
  CHECK(median(Reals{4, 1}) == 2.5);
  CHECK(median(Reals{8, 1, 100, 2}) == 5);
}

TEST_CASE("the median lies in the middle of any samples") {
  REQUIRE(rc::check([](std::vector<std::int32_t> drawn) {
    RC_PRE(!drawn.empty());
    Numbers samples(drawn.begin(), drawn.end());
    const auto middle = median(samples);
    std::ranges::sort(samples);
    const auto half = samples.size() / 2;
    RC_ASSERT(middle <= samples[half]);
    RC_ASSERT(middle >= samples[samples.size() % 2 == 1 ? half : half - 1]);
  }));
}

TEST_CASE("one wild value in five moves the robust spread little") {
  CHECK(robust_sd(Reals{10, 11, 12, 13, 14}) == Approx(1.4826));
  CHECK(robust_sd(Reals{10, 11, 12, 13, 1e9}) == Approx(1.4826));
  CHECK(relative_spread(Reals{10, 11, 12, 13, 14}) == Approx(1.4826 / 12));
  CHECK(relative_spread(Reals{7}) == 0);
}
