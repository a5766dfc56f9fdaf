#include "golden.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

void require_golden(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(TORCHWATCH_SOURCE_DIR) / "tests" / "golden" / name;
  const char* accept = std::getenv("TORCHWATCH_ACCEPT_GOLDEN");
  if (accept != nullptr && std::string(accept) == "1") {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ifstream file(path, std::ios::binary);
  INFO("golden file " << path << "; accept a change with TORCHWATCH_ACCEPT_GOLDEN=1");
  REQUIRE(file.good());
  std::ostringstream expected;
  expected << file.rdbuf();
  REQUIRE(text == expected.str());
}
