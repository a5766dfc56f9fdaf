// Which commit of the trunk a nightly is from, where the clone has not got it yet.
#include "torchwatch/nightly/source_commits.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "test_repository.hpp"
#include "torchwatch/bisection/opening.hpp"
#include "torchwatch/bisection/run.hpp"
#include "torchwatch/documents/bisection.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

class Log final : public comparison::Progress {
 public:
  void phase_started(const std::string&) override {}
  void progress(int, int, const std::string&) override {}
  void log(const std::string& line) override { said += line + "\n"; }

  std::string said;
};

/// A service whose clone was fetched when its server had one commit alone.
struct FollowedSource {
  FollowedSource() {
    REQUIRE(clone.refresh({}));
    services.history = &history;
    services.source = &clone;
  }

  builds::Tree tree_of(const std::string& commit) const {
    builds::Tree tree;
    tree.folder = folder.path() / "2026-08-17";
    tree.embedded_commit = commit;
    return tree;
  }
  std::string nightly_of(const std::string& trunk) {
    test::TestCommit commit;
    commit.branch = "nightly";
    commit.subject = "2026-08-17 nightly release (" + trunk + ")";
    return upstream.commit(commit);
  }
  comparison::Services services_with_log() {
    auto& own = day_service->services();
    return {.config = own.config,
            .database = own.database,
            .executor = own.executor,
            .runners = own.runners,
            .channel = own.channel,
            .clock = own.clock,
            .random = own.random,
            .progress = log};
  }
  static test::TestRepository upstream_in(const std::filesystem::path& path) {
    std::filesystem::create_directories(path);
    return test::TestRepository(path);
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day{folder.path() / "day", {{"0", "noise 0.01"}}};
  std::unique_ptr<test::ScriptedService> day_service =
      test::ScriptedService::open(day.config()).value();
  Log log;
  comparison::Services services = services_with_log();
  test::TestRepository upstream = upstream_in(folder.path() / "upstream");
  std::string first = upstream.commit("One");
  std::unique_ptr<process::ProcessRunner> processes =
      process::make_process_runner("source-commits-" + std::to_string(getpid()));
  source::Clone clone =
      source::Clone::open({.address = "file://" + (folder.path() / "upstream").string(),
                           .branch = "main",
                           .folder = folder.path() / "clone.git"},
                          *processes)
          .value();
  bisect::CommitHistory history = bisect::CommitHistory::open(folder.path() / "clone.git").value();
};

const std::string kUnknown(40, 'a');

}  // namespace

TEST_CASE_METHOD(FollowedSource, "a nightly's commit and its trunk commit are fetched if missing") {
  const auto trunk = upstream.commit("Two");
  CHECK(nightly::trunk_commit_of(services, tree_of(nightly_of(trunk))) == trunk);
  CHECK(history.commit(trunk));
  CHECK(log.said.empty());
}

TEST_CASE_METHOD(FollowedSource,
                 "of a nightly whose commit nobody has that one is said to be missing") {
  CHECK(nightly::trunk_commit_of(services, tree_of(kUnknown)) == kUnknown);
  CHECK_THAT(log.said, Contains("commit of build 2026-08-17, " + kUnknown + " is missing: "));
  CHECK_THAT(log.said, !Contains("trunk commit"));
}

TEST_CASE_METHOD(FollowedSource,
                 "a trunk commit that nobody has is named, and said to be missing") {
  const auto nightly = nightly_of(kUnknown);
  CHECK(nightly::trunk_commit_of(services, tree_of(nightly)) == kUnknown);
  CHECK_THAT(log.said, Contains("trunk commit of build 2026-08-17, " + kUnknown + " is missing: "));
  CHECK_THAT(log.said, !Contains(nightly));
}

TEST_CASE_METHOD(FollowedSource, "a repository that is only read is never fetched") {
  services.source = nullptr;
  const auto trunk = upstream.commit("Two");
  CHECK(nightly::trunk_commit_of(services, tree_of(trunk)) == trunk);
  CHECK_THAT(log.said, Contains("is missing: [source] repository does not have it"));
  CHECK_FALSE(history.commit(trunk));
}

TEST_CASE("a search fetches its end that the clone has not got yet") {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path() / "day", {{"0", "noise 0.01"}, {"1", "# 1"}});
  const auto upstream_folder = folder.path() / "day" / "pytorch.git";
  const auto processes = process::make_process_runner("late-ends-" + std::to_string(getpid()));
  auto clone = source::Clone::open({.address = "file://" + upstream_folder.string(),
                                    .branch = "main",
                                    .folder = folder.path() / "clone.git"},
                                   *processes)
                   .value();
  REQUIRE(clone.refresh({}));
  auto config = day.config();
  config.source.repository = (folder.path() / "clone.git").string();
  config.suite.workloads = {"dlrm"};
  const auto service = test::ScriptedService::open(config).value();
  auto& services = service->services();
  services.source = &clone;
  test::TestCommit late;
  late.subject = "Check all elements twice";
  late.parents = {day.commits()[1]};
  late.files["aten/slow"] = "time dlrm cpu-infer 1.5\n";
  const auto culprit = test::TestRepository(upstream_folder).commit(late);

  auto spec = bisection::requested_spec(services, day.commits()[0], day.commits()[1]).value();
  spec.bad = culprit;
  const Series series{{"dlrm", {Device::cpu, Mode::infer}, {}}, Metric::time};
  const auto opened = bisection::open_requested_bisection(services, spec, {series}, {}).value();
  const auto ended = bisection::carry_out_bisection(services, opened, {});
  if (!ended) FAIL(ended.error().message);
  const auto result = bisection::parse_bisection_result(ended->result_json).value();
  INFO(result.reason);
  CHECK(result.culprit() == culprit);
}
