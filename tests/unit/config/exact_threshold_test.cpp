// What counts as a change where all runs of each build are equal.
#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/config/config.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using Catch::EndsWith;

namespace {

Result<Config> read(const std::string& text) {
  const test::TemporaryFolder folder;
  return load(folder.write("torchwatch.toml", "[detect]\n" + text), true);
}

}  // namespace

TEST_CASE("an exact threshold that is not set is the smaller of its default and the threshold") {
  CHECK(read("").value().detect.exact_threshold == 0.02);
  CHECK(read("threshold = 0.5\n").value().detect.exact_threshold == 0.02);
  CHECK(read("threshold = 0.01\n").value().detect.exact_threshold == 0.01);
}

TEST_CASE("an exact threshold is at most the threshold, and at least 0.1 %") {
  CHECK(read("exact_threshold = 0.07\n").value().detect.exact_threshold == 0.07);
  CHECK(read("exact_threshold = 0.001\n").value().detect.exact_threshold == 0.001);
  CHECK_THAT(read("exact_threshold = 0.08\n").error().text(),
             EndsWith("torchwatch.toml:2: [detect] exact_threshold: invalid value 0.08: must be at "
                      "most the threshold, 0.07"));
  CHECK_FALSE(read("exact_threshold = 0.0009\n"));
}

TEST_CASE("an exact floor is a size from one byte on, a MiB unless set") {
  CHECK(read("").value().detect.exact_floor_bytes == 1 << 20);
  CHECK(read("exact_floor = \"64KiB\"\n").value().detect.exact_floor_bytes == 64 << 10);
  CHECK(read("exact_floor = 1\n").value().detect.exact_floor_bytes == 1);
  CHECK_FALSE(read("exact_floor = 0\n"));
}
