#include "torchwatch/platform/passing_folder.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <optional>

using namespace torchwatch;

TEST_CASE("a passing folder goes, with what is in it, when its object does") {
  std::optional folder(platform::PassingFolder::make().value());
  const auto path = folder->path();
  std::ofstream(path / "file") << "text";
  std::optional moved(std::move(*folder));
  folder.reset();
  CHECK(std::filesystem::exists(path / "file"));
  moved.reset();
  CHECK_FALSE(std::filesystem::exists(path));
}
