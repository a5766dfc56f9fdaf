#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "torchwatch/activity/profile.hpp"

using namespace torchwatch::activity;
using nlohmann::json;

TEST_CASE("an iteration becomes a Chrome trace with a row for each stream") {
  Profile profile;
  profile.iteration.window = {1'000'000, 1'500'500};
  profile.activities = {{.kind = Kind::kernel,
                         .start_ns = 1'000'250,
                         .end_ns = 1'001'000,
                         .stream = 7,
                         .name = "_Z4gemmPf"},
                        {.kind = Kind::host_to_device,
                         .start_ns = 1'002'000,
                         .end_ns = 1'003'000,
                         .stream = 9,
                         .bytes = 4096}};
  const auto trace = json::parse(chrome_trace(profile, "resnet18 cuda-train"));
  const auto& events = trace.at("traceEvents");
  REQUIRE(events.size() == 5);
  CHECK(events[0]["ph"] == "M");
  CHECK(events[2]["name"] == "resnet18 cuda-train");
  CHECK(events[2]["ts"] == 0.0);
  CHECK(events[2]["dur"] == 500.5);

  CHECK(events[3]["name"] == "gemm(float*)");
  CHECK(events[3]["ph"] == "X");
  CHECK(events[3]["ts"] == 0.25);
  CHECK(events[3]["dur"] == 0.75);
  CHECK(events[3]["tid"] == 7);
  CHECK(events[3]["pid"] != events[2]["pid"]);

  CHECK(events[4]["name"] == "copy, host to device");
  CHECK(events[4]["args"]["bytes"] == 4096);
}

TEST_CASE("a kernel's name that is not a C++ name is shown unchanged, bad bytes replaced") {
  Profile profile;
  profile.activities = {{.kind = Kind::kernel, .name = "gemm_\xff"}};
  const auto trace = json::parse(chrome_trace(profile, "x"));
  CHECK(trace["traceEvents"][3]["name"] == "gemm_\xef\xbf\xbd");
}
