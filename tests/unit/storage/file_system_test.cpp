#include "file_system.hpp"

#include <catch2/catch.hpp>

#include "writer_lock.hpp"

using namespace torchwatch::storage;

TEST_CASE("network file systems are known by their type, also where it is signed") {
  REQUIRE(network_file_system(0x6969) == "NFS");
  REQUIRE(network_file_system(0xFF534D42) == "CIFS");
  REQUIRE(network_file_system(static_cast<std::int32_t>(0xFF534D42)) == "CIFS");
}

TEST_CASE("local file systems are not taken for network ones") {
  for (const std::int64_t type :
       {0xEF53LL, 0x01021994LL, 0x9123683ELL, 0x58465342LL, 0x794C7630LL}) {
    REQUIRE(network_file_system(type).empty());
  }
}

TEST_CASE("a process names itself by its number and command in one line") {
  const auto name = name_of_this_process();
  REQUIRE_THAT(name, Catch::StartsWith(std::to_string(::getpid()) + " ("));
  REQUIRE_THAT(name, Catch::Contains("unit_storage"));
  REQUIRE(name.find('\n') == std::string::npos);
}
