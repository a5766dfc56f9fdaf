#include "source_folder.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/daemon/application.hpp"

using namespace torchwatch;

TEST_CASE("an installed program finds its sources beside itself, wherever that is") {
  const test::TemporaryFolder folder;
  const auto program = folder.path() / "bin" / "torchwatch";
  CHECK(daemon::sources_of(program) == std::filesystem::path(TORCHWATCH_SOURCE_DIR));
  folder.write("share/torchwatch/models/workloads.txt", "");
  CHECK(daemon::sources_of(program) == folder.path() / "share" / "torchwatch");
}

TEST_CASE("configured sources come before those of the program") {
  config::Config config;
  config.build.kit_sources = "/elsewhere";
  CHECK(daemon::source_folder(config) == "/elsewhere");
}
