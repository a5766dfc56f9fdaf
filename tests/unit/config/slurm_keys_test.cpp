#include <catch2/catch.hpp>
#include <filesystem>

#include "temporary_folder.hpp"
#include "torchwatch/config/config.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using namespace std::chrono_literals;

namespace {

Result<Config> of(const std::string& text) {
  const test::TemporaryFolder folder;
  return load(folder.write("torchwatch.toml", text), true);
}

}  // namespace

TEST_CASE("runs happen on this machine unless the file says otherwise") {
  CHECK(of("")->executor.kind == ExecutorKind::local);
  CHECK(of("[executor]\nkind = \"slurm\"\n")->executor.kind == ExecutorKind::slurm);
  const auto wrong = of("[executor]\nkind = \"kubernetes\"\n");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text().find("must be one of local, slurm") != std::string::npos);
}

TEST_CASE("the example of a cluster is a configuration") {
  const auto config =
      load(std::filesystem::path(TORCHWATCH_SOURCE_DIR) / "deploy/cluster/torchwatch.toml", true);
  INFO((config ? "" : config.error().text()));
  REQUIRE(config);
  CHECK(config->executor.kind == ExecutorKind::slurm);
  CHECK(config->slurm.options == std::vector<std::string>{"--qos=low", "--nice=100"});
  CHECK(config->slurm.time == 4h);
  CHECK(config->slurm.node_scratch == "/local/torchwatch");
  REQUIRE(config->slurm.classes.size() == 2);
  CHECK(config->slurm.classes[1].gres == "gpu:1");
  CHECK(config->slurm.classes[1].partition == "measure");
}

TEST_CASE("options of sbatch that the service sets itself, or that are none, are refused") {
  CHECK(of("[slurm]\noptions = [\"--qos=low\", \"--reservation=x\"]\n"));
  for (const char* const option :
       {"--job-name=x", "--output=/x", "--export=ALL", "--time=1", "--wrap=x", "--exclusive",
        "-p measure", "script.sh", "--qos=a b", ""}) {
    INFO(option);
    CHECK_FALSE(of("[slurm]\noptions = [\"" + std::string(option) + "\"]\n"));
  }
  CHECK_FALSE(of("[slurm]\npartition = \"a b\"\n"));
  CHECK_FALSE(of("[slurm]\nnode_scratch = \"scratch\"\n"));
}
