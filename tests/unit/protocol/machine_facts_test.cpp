#include "torchwatch/protocol/machine_facts.hpp"

#include <catch2/catch.hpp>
#include <utility>

using namespace torchwatch;

TEST_CASE("each run states processor, cores, kernel and memory of its machine") {
  const auto facts = protocol::machine_facts();
  for (const char* const name : {"cpu_model", "cpus", "kernel", "memory"}) {
    INFO(name);
    REQUIRE(facts.contains(name));
    CHECK_FALSE(facts.at(name).empty());
  }
  CHECK(std::stoi(facts.at("cpus")) > 0);
  CHECK(facts.at("memory").ends_with("iB"));
}

TEST_CASE("machines of equal memory state the same, whatever their kernels keep") {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  const auto [left_by_the_kernel, stated] =
      GENERATE(table<double, std::string>({{24, "24 GiB"},
                                           {23.4, "24 GiB"},
                                           {251.5, "256 GiB"},
                                           {247, "256 GiB"},
                                           {503.7, "512 GiB"},
                                           {62.6, "64 GiB"},
                                           {15.3, "16 GiB"},
                                           {7.7, "8 GiB"},
                                           {1.9, "2 GiB"},
                                           {0.47, "512 MiB"}}));
  CAPTURE(left_by_the_kernel);
  CHECK(protocol::memory_fact(static_cast<std::int64_t>(left_by_the_kernel * kGiB)) == stated);
  CHECK(protocol::memory_fact(0) == "unknown");
}
