#pragma once

#include <atomic>

#include "torchwatch/platform/random.hpp"

namespace torchwatch::test {

/// The same numbers in every run of a test: splitmix64 from a seed.
class FakeRandom final : public platform::Random {
 public:
  explicit FakeRandom(std::uint64_t seed = 1) : state_(seed) {}

  std::uint64_t next() override {
    std::uint64_t z = state_.fetch_add(0x9e3779b97f4a7c15U) + 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

 private:
  std::atomic<std::uint64_t> state_;
};

}  // namespace torchwatch::test
