#include "torchwatch/records/machine_class.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;

TEST_CASE("a machine's class is what it has in hardware, and nothing that an update changes") {
  const Facts facts{{"cpu_model", "Model X"}, {"cpus", "64"},           {"gpu_model", "H100"},
                    {"kernel", "6.1"},        {"gpu_driver", "550.54"}, {"threads", "1"},
                    {"memory", "512 GiB"}};
  const auto of_class = class_facts(facts);
  CHECK(of_class == Facts{{"cpu_model", "Model X"},
                          {"cpus", "64"},
                          {"gpu_model", "H100"},
                          {"memory", "512 GiB"}});
  CHECK(class_name(of_class) == "Model X, 64 cores, H100, 512 GiB");
  CHECK(class_name({{"cpus", "1"}}) == "1 core");
  CHECK(class_name(class_facts({{"kernel", "6.1"}})).empty());
}

TEST_CASE("classes differ by a fact that both state, not by one that only one states") {
  const Facts wanted{{"cpu_model", "Model X"}, {"cpus", "64"}};
  CHECK_FALSE(class_difference(wanted, {{"cpu_model", "Model X"}, {"gpu_model", "H100"}}));
  CHECK_FALSE(class_difference({}, wanted));
  CHECK(class_difference(wanted, {{"cpu_model", "Model X"}, {"cpus", "32"}}) == "cpus: 64 -> 32");
}
