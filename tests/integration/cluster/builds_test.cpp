// Builds of commits as jobs of a real cluster.
#include <future>
#include <set>

#include "elf_maker.hpp"
#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/cluster/job_runner.hpp"
#include "trial_result.hpp"

using namespace torchwatch;

namespace {

/// A folder with a recipe that notes its node, waits at a gate, and copies a tree.
struct Building {
  Building() {
    test::write_tree(trial.folder / "template");
    const auto recipe = trial.write(
        "recipe", "#!/bin/sh\nset -e\ncd '" + trial.folder.string() +
                      "'\nhostname >> arrived\n"
                      "echo \"$TORCHWATCH_JOBS\" > \"$TORCHWATCH_PREFIX/jobs\"\n"
                      "while [ -e gate ]; do sleep 0.05; done\n"
                      "case $TORCHWATCH_COMMIT in *9) echo 'no such header'; exit 125;; esac\n"
                      "cp -r template/. \"$TORCHWATCH_PREFIX\"\n"
                      "echo \"$TORCHWATCH_COMMIT\" > \"$TORCHWATCH_PREFIX/build-hash\"\n");
    test::fs::permissions(recipe, test::fs::perms::owner_all);
  }

  builds::CommitBuilder::Settings settings() const {
    builds::CommitBuilder::Settings settings;
    settings.recipe = trial.folder / "recipe";
    settings.folder = trial.folder / "cache";
    settings.time_limit = std::chrono::seconds(120);
    return settings;
  }
  static Status check_out(const std::string& commit, const test::fs::path& folder) {
    std::ofstream(folder / "file.txt") << commit;
    return {};
  }
  static std::string commit(int n) { return std::string(39, 'c') + std::to_string(n); }
  std::vector<std::string> nodes() const {
    std::ifstream file(trial.folder / "arrived");
    std::vector<std::string> nodes;
    for (std::string line; std::getline(file, line);) nodes.push_back(line);
    return nodes;
  }
  bool has_jobs() const {
    return !test::said_by("squeue -h -t PD,R -o %j | grep " + trial.name).empty();
  }

  test::TrialOfTest trial;
  cluster::JobRunner jobs{trial.processes(),
                          trial.clock(),
                          {.name = trial.name,
                           .options = {"--exclusive"},
                           .program = TORCHWATCH_CARRY,
                           .queue_limit = std::chrono::seconds(150)}};
  builds::CommitBuilder builder{settings(), jobs, check_out};
};

}  // namespace

TEST_CASE("several builders make builds on several nodes at once, and 125 is the commit's answer") {
  Building building;
  building.trial.close_gate();
  auto builds = std::async(std::launch::async, [&] {
    return building.builder.build_at_once(
        {Building::commit(1), Building::commit(2), Building::commit(9)}, std::nullopt, {});
  });
  CHECK(test::comes_true([&] { return building.nodes().size() == 3; }));
  building.trial.open_gate();
  const auto made = builds.get();
  INFO((made ? "" : made.error().text()));
  REQUIRE(made);
  const auto nodes = building.nodes();
  CHECK(std::set(nodes.begin(), nodes.end()).size() == 3);
  const auto& tree = std::get<builds::Tree>((*made)[0]);
  CHECK(tree.embedded_commit == Building::commit(1));
  std::string jobs;
  std::ifstream(tree.folder / "jobs") >> jobs;
  CHECK(jobs == test::said_by("nproc | tr -d '\\n'"));
  CHECK(std::get<builds::Unbuildable>((*made)[2]).reason ==
        "recipe exited 125 (\"no such header\")");
  CHECK(test::comes_true([&] { return !building.has_jobs(); }));
}

TEST_CASE("a builder whose node dies is not the commit's fault: another node builds it") {
  Building building;
  building.trial.close_gate();
  auto build = std::async(std::launch::async, [&] {
    return building.builder.build(Building::commit(1), std::nullopt, {});
  });
  REQUIRE(test::comes_true([&] { return building.nodes().size() == 1; }));
  const auto node = building.nodes().front().substr(0, 2);
  test::cluster_command("node_kill " + node);
  test::cluster_command("node_down " + node);
  CHECK(test::comes_true([&] { return building.nodes().size() == 2; }));
  building.trial.open_gate();
  const auto made = build.get();
  test::cluster_command("node_start " + node);
  test::cluster_command("node_resume " + node);
  INFO((made ? "" : made.error().text()));
  REQUIRE(made);
  CHECK(std::holds_alternative<builds::Tree>(*made));
  CHECK(building.nodes().back().substr(0, 2) != node);
  CHECK(test::comes_true([&] { return !building.has_jobs(); }));
}
