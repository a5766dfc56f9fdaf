#include "torchwatch/runner/calibration.hpp"

#include <malloc.h>

#include <catch2/catch.hpp>

using torchwatch::runner::calibration_times;

TEST_CASE("a machine is calibrated by arithmetic and by a copy, and the heap stays as it was") {
  const auto before = mallinfo2().hblkhd + mallinfo2().arena;
  const auto times = calibration_times();
  CHECK(mallinfo2().hblkhd + mallinfo2().arena == before);
  REQUIRE(times.size() == 2);
  CHECK(times.at("calibration_arithmetic_ns") > 0);
  CHECK(times.at("calibration_copy_ns") > 0);
}
