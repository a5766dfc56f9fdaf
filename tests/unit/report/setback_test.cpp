#include "torchwatch/report/setback.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;

namespace {

constexpr storage::WallMillis kNow = 1'786'935'845'000;  // 2026-08-17T03:04:05Z

storage::SetbackRow setback(int tries, std::string error) {
  return {.key = {storage::ItemKind::comparison, "7"},
          .tries = tries,
          .since = kNow,
          .not_before = kNow + 120'000,
          .error = std::move(error)};
}

}  // namespace

TEST_CASE("a setback is one line with the tries and the next one") {
  CHECK(report::setback_text(setback(0, "no network")) == "no network; next try 03:06 UTC");
  CHECK(report::setback_text(setback(2, "a\nb")) == "a b; tried 2 of 3 times; next try 03:06 UTC");
  CHECK(report::waiting_text(setback(0, "no network")) ==
        "waits since 2026-08-17 03:04: no network; next try 03:06 UTC");
}

TEST_CASE("what waits for a build names the build, which says the rest") {
  const auto row = setback(0, report::waits_for_build("2026-08-17"));
  CHECK(report::setback_text(row) == "waits for build 2026-08-17");
  CHECK(report::waiting_text(row) == "waits for build 2026-08-17 since 2026-08-17 03:04");
}
