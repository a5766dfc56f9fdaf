#include <catch2/catch.hpp>
#include <filesystem>

#include "torchwatch/studies/study_file.hpp"

using namespace torchwatch;

TEST_CASE("every study that is shipped can be read, and says what it asks") {
  int count = 0;
  const auto folder = std::filesystem::path(TORCHWATCH_SOURCE_DIR) / "studies";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".toml") continue;
    const auto study = studies::read_study_file(entry.path());
    if (!study) FAIL(study.error().text());
    CHECK_FALSE(study->about.empty());
    ++count;
  }
  CHECK(count >= 5);
}
