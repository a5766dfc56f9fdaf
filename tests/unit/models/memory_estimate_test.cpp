#include "torchwatch/models/memory_estimate.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::models;

namespace {

std::int64_t resident(const char* workload, const Setup& setup) {
  const auto estimate = estimate_memory(*find(workload), setup);
  REQUIRE(estimate.has_value());
  return estimate->resident;
}

}  // namespace

TEST_CASE("an estimate without a batch is that of the default batch") {
  const auto& definition = find("resnet18")->definition;
  const Setup setup{.mode = Mode::train, .preset = Preset::paper};
  Setup named = setup;
  named.batch = default_batch(definition, setup.mode, setup.preset);
  CHECK(resident("resnet18", setup) == resident("resnet18", named));
}

TEST_CASE("an estimate grows with the batch, and never falls below what one item takes") {
  Setup setup{.mode = Mode::train, .preset = Preset::paper, .batch = 1};
  const auto one = resident("resnet18", setup);
  setup.batch = 64;
  const auto sixty_four = resident("resnet18", setup);
  setup.batch = 128;
  const auto twice = resident("resnet18", setup);
  // 11,689,512 parameters of 4 bytes, and their gradients.
  CHECK(one > 2 * 4 * std::int64_t{11'689'512});
  CHECK(sixty_four > one);
  CHECK(twice > sixty_four);
  CHECK(twice < 2 * sixty_four);
}

TEST_CASE("what was not measured has no estimate, nor has the small preset, which is made to fit") {
  CHECK_FALSE(estimate_memory(*find("resnet18"), {.preset = Preset::small}).has_value());
  const Entry unknown{.name = "a workload of another day", .definition = {}};
  CHECK_FALSE(estimate_memory(unknown, {}).has_value());
}
