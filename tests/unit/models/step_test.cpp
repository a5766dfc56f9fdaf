#include <bit>
#include <catch2/catch.hpp>

#include "torchwatch/models/registry.hpp"

using namespace torchwatch::models;

namespace {

/// Losses bit by bit, as one of them is no number by its original's construction.
std::vector<std::uint64_t> losses(const Definition& definition, std::uint64_t seed) {
  const auto workload = build(definition, {.mode = Mode::train, .seed = seed});
  std::vector<std::uint64_t> bits;
  for (int i = 0; i < 3; ++i) {
    workload->step();
    bits.push_back(std::bit_cast<std::uint64_t>(workload->last_loss()));
  }
  return bits;
}

std::vector<double> first_outputs(const Definition& definition, std::uint64_t seed) {
  const auto workload = build(definition, {.mode = Mode::infer, .seed = seed});
  workload->step();
  return workload->outputs().front().first;
}

}  // namespace

TEST_CASE("training with one seed gives bit-equal losses") {
  for (const auto& [name, definition] : registry()) {
    INFO(name);
    REQUIRE(losses(definition, 7) == losses(definition, 7));
  }
}

TEST_CASE("the seed decides a workload's parameters and inputs") {
  for (const auto& [name, definition] : registry()) {
    INFO(name);
    REQUIRE(first_outputs(definition, 7) == first_outputs(definition, 7));
    // One loss is no number, one network's last ReLU may give nothing but zeros: never both.
    const bool differs = first_outputs(definition, 7) != first_outputs(definition, 8) ||
                         losses(definition, 7) != losses(definition, 8);
    REQUIRE(differs);
  }
}

TEST_CASE("training changes the network where the loss is a number") {
  for (const auto& [name, definition] : registry()) {
    INFO(name);
    const auto workload = build(definition, {.mode = Mode::train});
    const auto before = workload->outputs().front().first;
    for (int i = 0; i < 2; ++i) workload->step();
    REQUIRE(workload->outputs().front().first != before);
  }
}

TEST_CASE("an inference step leaves the network as it was") {
  for (const auto& [name, definition] : registry()) {
    INFO(name);
    const auto workload = build(definition, {.mode = Mode::infer});
    const auto before = workload->outputs().front().first;
    workload->step();
    REQUIRE(workload->outputs().front().first == before);
  }
}

TEST_CASE("a batch size asked for is the one that is used") {
  const auto workload = build(find("resnet18")->definition, {.mode = Mode::infer, .batch = 3});
  REQUIRE(workload->outputs().front().shape == std::vector<std::int64_t>{3, 1000});
}
