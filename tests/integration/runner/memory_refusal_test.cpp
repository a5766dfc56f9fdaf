#include "torchwatch/runner/memory_refusal.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::runner;

namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;
const MemoryBound kMachine{22 * kGib + kGib / 2, "this machine can give"};

models::Definition definition_of(models::BatchRule rule) {
  models::Definition definition;
  definition.paper = {.train = 64, .infer = 1};
  definition.small = {.train = 4, .infer = 1};
  definition.batch_rule = rule;
  return definition;
}

std::string refusal(models::BatchRule rule, models::Preset preset, models::Mode mode) {
  return memory_refusal(31 * kGib, kMachine, definition_of(rule), {.mode = mode, .preset = preset});
}

}  // namespace

TEST_CASE("what fits is not refused") {
  const auto definition = definition_of(models::BatchRule::any);
  CHECK(memory_refusal(kMachine.bytes, kMachine, definition, {}).empty());
  CHECK_FALSE(memory_refusal(kMachine.bytes + 1, kMachine, definition, {}).empty());
}

TEST_CASE("a refusal names what is needed, what can be given and what to do") {
  using models::BatchRule, models::Mode, models::Preset;
  CHECK(refusal(BatchRule::any, Preset::paper, Mode::train) ==
        "needs about 31.0 GiB at batch 64 and this machine can give 22.5 GiB; "
        "name a smaller batch or the small preset");
  CHECK(refusal(BatchRule::any, Preset::small, Mode::train) ==
        "needs about 31.0 GiB at batch 4 and this machine can give 22.5 GiB; "
        "name a smaller batch");
  CHECK(refusal(BatchRule::fixed, Preset::paper, Mode::train) ==
        "needs about 31.0 GiB at batch 64 and this machine can give 22.5 GiB; "
        "name the small preset");
  CHECK(refusal(BatchRule::any, Preset::small, Mode::infer) ==
        "needs about 31.0 GiB at batch 1 and this machine can give 22.5 GiB; "
        "it needs more memory than that");
}

TEST_CASE("less than a GiB is shown with two digits, and a named batch is the one shown") {
  const auto definition = definition_of(models::BatchRule::any);
  CHECK(memory_refusal(kGib / 2, {kGib / 4, "its memory limit leaves"}, definition,
                       {.preset = models::Preset::small, .batch = 3}) ==
        "needs about 0.50 GiB at batch 3 and its memory limit leaves 0.25 GiB; "
        "name a smaller batch");
}
