#include <catch2/catch.hpp>

#include "facts.hpp"

using torchwatch::runner::gpu_facts;

TEST_CASE("a machine without NVML says so in the place of a GPU's facts") {
  const auto facts = gpu_facts({"libnvidia-ml_of_nobody.so.1"});
  REQUIRE(facts.size() == 1);
  INFO(facts.at("gpu"));
  CHECK(facts.at("gpu").starts_with("unknown: cannot load libnvidia-ml_of_nobody.so.1 ("));
}

TEST_CASE("an NVML that does not start is named") {
  const auto facts = gpu_facts({FAKE_CUDA});
  REQUIRE(facts.size() == 1);
  CHECK(facts.at("gpu").find("does not start; see what nvidia-smi says") != std::string::npos);
}

TEST_CASE("the facts are of the GPU that the process sees, not of the machine's first") {
  const auto facts = gpu_facts({FAKE_NVML}, {FAKE_CUDA});
  CHECK(facts.at("gpu_model") == "Second GPU");
  CHECK(facts.at("gpu_clock_max_mhz") == "2000");
  CHECK(facts.at("gpu_driver") == "580.0");
}

TEST_CASE("without a driver that says where its GPU is, the facts are of the machine's first") {
  const auto facts = gpu_facts({FAKE_NVML}, {"libcuda_of_nobody.so.1"});
  CHECK(facts.at("gpu_model") == "First GPU");
}
