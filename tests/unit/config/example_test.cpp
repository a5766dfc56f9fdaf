#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "torchwatch/config/config.hpp"

// After a change of the keys: TORCHWATCH_ACCEPT_GOLDEN=1 rewrites the file.
TEST_CASE("torchwatch.example.toml lists every key as the program has it") {
  const std::string path = TORCHWATCH_SOURCE_DIR "/torchwatch.example.toml";
  if (std::getenv("TORCHWATCH_ACCEPT_GOLDEN") != nullptr) {
    std::ofstream(path) << torchwatch::config::example();
  }
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  REQUIRE(text == torchwatch::config::example());
}
