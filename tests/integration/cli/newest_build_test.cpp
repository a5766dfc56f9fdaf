// Which build is meant where none is named.
#include "torchwatch/report/newest_build.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "stored_command_line.hpp"
#include "torchwatch/bisection/opening.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using report::newest_build;

namespace {

/// Stores a build whose folder has libraries.
Id add_build(Database& database, const std::filesystem::path& folder, BuildOrigin origin,
             const std::string& name) {
  std::filesystem::create_directories(folder / name / "lib");
  BuildStore builds(database);
  auto row = builds.discover(origin, name).value();
  row.version = "2.14.0";
  row.content_hash = "hash of " + name;
  row.folder = (folder / name).string();
  return builds.mark_ready(row).value().id;
}

struct KnownBuilds {
  Id add(BuildOrigin origin, const std::string& name) {
    return add_build(*database, folder.path(), origin, name);
  }
  Id newest() {
    const auto found = newest_build(*database).value();
    return found ? found->id : 0;
  }

  test::TemporaryFolder folder;
  std::unique_ptr<Database> database =
      Database::open({folder.path() / "db.sqlite", "", false}).value();
  BuildStore builds{*database};
};

}  // namespace

TEST_CASE_METHOD(KnownBuilds,
                 "the newest build is the last nightly, else a release, else a folder") {
  CHECK(newest() == 0);
  const auto named = add(BuildOrigin::folder, "named");
  CHECK(newest() == named);
  const auto release = add(BuildOrigin::release, "2.13.0");
  add(BuildOrigin::folder, "named later");
  CHECK(newest() == release);
  const auto nightly = add(BuildOrigin::nightly, "2026-08-17");
  const auto late = add(BuildOrigin::nightly, "2026-08-16");
  REQUIRE(builds.set_place(nightly, 2));
  REQUIRE(builds.set_place(late, 1));
  add(BuildOrigin::release, "2.14.0");
  CHECK(newest() == nightly);
}

TEST_CASE_METHOD(KnownBuilds, "a pull request's head, or a commit's build, is never the newest") {
  add(BuildOrigin::pull, "pull/7@abcdef");
  add(BuildOrigin::commit, std::string(40, 'c'));
  CHECK(newest() == 0);
}

TEST_CASE_METHOD(KnownBuilds, "a build that cannot be measured or has gone is not the newest") {
  const auto release = add(BuildOrigin::release, "2.13.0");
  const auto unusable = add(BuildOrigin::nightly, "2026-08-17");
  REQUIRE(builds.set_unusable(unusable, "no runner can be made for it"));
  add(BuildOrigin::release, "2.14.0");
  std::filesystem::remove_all(folder.path() / "2.14.0");
  CHECK(newest() == release);
}

TEST_CASE("a command without --build takes the newest build that is trusted") {
  const test::CommandLine line;
  {
    const auto database = Database::open({line.folder.path() / "db.sqlite", "", false}).value();
    add_build(*database, line.folder.path(), BuildOrigin::release, "2.13.0");
    const auto bad = add_build(*database, line.folder.path(), BuildOrigin::nightly, "2026-08-17");
    REQUIRE(BuildStore(*database).set_unusable(bad, "no runner can be made for it"));
    add_build(*database, line.folder.path(), BuildOrigin::pull, "pull/7@abcdef");
  }
  // It has no libraries in its folder lib, so it is named.
  CHECK_THAT(line.run({"workload", "list", "--count"}).err,
             Contains("/2.13.0 is not a LibTorch tree"));
}

TEST_CASE("recipes of a requested bisection start from no pull request's head") {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), {{"One", "noise 0.01"}, {"Two", "# 2"}});
  const auto service = test::ScriptedService::open(day.config()).value();
  auto& services = service->services();
  const auto base = [&] {
    const auto& commits = day.commits();
    return bisection::requested_spec(services, commits.front(), commits.back()).value().base;
  };
  add_build(services.database, folder.path() / "kept", BuildOrigin::pull, "pull/7@abcdef");
  CHECK(base() == 0);
  const auto release =
      add_build(services.database, folder.path() / "kept", BuildOrigin::release, "2.13.0");
  CHECK(base() == release);
}
