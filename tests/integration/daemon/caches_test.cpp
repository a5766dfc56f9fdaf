#include "torchwatch/caches/caches.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "temporary_folder.hpp"
#include "torchwatch/builds/last_use.hpp"
#include "torchwatch/caches/build_files.hpp"
#include "torchwatch/caches/folder_sizes.hpp"
#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "unreadable_folder.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

/// A cache with two kits and two releases of a megabyte each, of which a comparison that has not
/// ended needs one.
struct FullCache {
  explicit FullCache(int nightlies_kept = 2) {
    config.channel.keep = nightlies_kept;
    config.storage.path = folder.path() / "state" / "torchwatch.sqlite";
    config.build.cache = folder.path() / "state" / "builds";
    config.executor.scratch = folder.path() / "state" / "scratch";
    config.executor.machine_lock = folder.path().filename().string();
    application = daemon::Application::open(config, progress, log).value();
    int age = 10;
    for (const char* name : {"releases/2.12.0", "releases/2.11.0", "kits/a", "kits/b"}) {
      write(name, --age);
    }
    auto& database = application->services().database;
    needed = release("2.12.0");
    other = release("2.11.0");
    REQUIRE(storage::ComparisonStore(database).open(
        {.purpose = storage::Purpose::requested, .candidate = needed, .baseline = needed}, 1));
  }

  void write(const std::string& name, int hours_ago) {
    folder.write("state/builds/" + name + "/file", std::string(kMegabyte, 'x'));
    builds::note_use(path(name));
    fs::last_write_time(path(name) / "last-used",
                        fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
  }

  fs::path path(const std::string& name) const { return config.build.cache / name; }

  storage::Id release(const std::string& name) {
    storage::BuildStore builds(application->services().database);
    auto row = builds.discover(storage::BuildOrigin::release, name).value();
    row.content_hash = "h";
    row.folder = path("releases/" + name) / "torch";
    return builds.mark_ready(row).value().id;
  }

  /// A nightly from an index that was compared with the one before it, used so long ago.
  storage::Id compared_nightly(const std::string& name, storage::Id before, int hours_ago) {
    write("releases/" + name, hours_ago);
    auto& database = application->services().database;
    storage::BuildStore builds(database);
    auto row = builds.discover(storage::BuildOrigin::nightly, name).value();
    row.content_hash = name;
    row.folder = path("releases/" + name) / "torch";
    const auto nightly = builds.mark_ready(row).value().id;
    storage::ComparisonStore comparisons(database);
    const auto comparison =
        comparisons
            .open({.purpose = storage::Purpose::nightly, .candidate = nightly, .baseline = before},
                  1)
            .value();
    REQUIRE(comparisons.cancel(comparison.id, "it is over", 2));
    return nightly;
  }

  std::string unusable(storage::Id id) {
    return storage::BuildStore(application->services().database).get(id).value().unusable;
  }

  test::TemporaryFolder folder;
  config::Config config;
  comparison::Silence progress;
  std::ostringstream out;
  log::Log log{{log::Level::debug, log::Format::json}, out};
  std::unique_ptr<daemon::Application> application;
  storage::Id needed = 0;
  storage::Id other = 0;
};

struct CacheThatKeepsOneNightly : FullCache {
  CacheThatKeepsOneNightly() : FullCache(1) {}
};

}  // namespace

TEST_CASE_METHOD(FullCache, "a cache below its limit is left as it is") {
  const auto tidied = caches::tidy(daemon::cache_parts(*application), 5 * kMegabyte).value();
  CHECK(tidied.before.sum() == 4 * kMegabyte);
  CHECK(tidied.after.sum() == 4 * kMegabyte);
}

TEST_CASE_METHOD(FullCache, "what was used longest ago goes first, whatever kind it is of") {
  const auto tidied = caches::tidy(daemon::cache_parts(*application), 2 * kMegabyte).value();
  CHECK(tidied.after.sum() == 2 * kMegabyte);
  CHECK_FALSE(fs::exists(path("releases/2.11.0")));
  CHECK_FALSE(fs::exists(path("kits/a")));
  CHECK(fs::exists(path("kits/b")));
  CHECK(unusable(other).empty());
}

TEST_CASE_METHOD(FullCache, "releases go until the cache fits, though they share what is large") {
  for (const char* name : {"2.10.0", "2.09.0"}) {
    write("releases/" + std::string(name), 20);
    fs::remove(path("releases") / name / "file");
    fs::create_hard_link(path("releases/2.11.0") / "file", path("releases") / name / "file");
  }
  CHECK(caches::tidy(daemon::cache_parts(*application), 4 * kMegabyte).value().after.sum() ==
        4 * kMegabyte);
  CHECK(fs::exists(path("releases/2.09.0")));
  const auto tidied = caches::tidy(daemon::cache_parts(*application), 3 * kMegabyte).value();
  CHECK(tidied.after.sum() == 3 * kMegabyte);
  CHECK_FALSE(fs::exists(path("releases/2.09.0")));
  CHECK_FALSE(fs::exists(path("releases/2.11.0")));
  CHECK(fs::exists(path("kits/a")));
}

TEST_CASE_METHOD(FullCache, "a folder that cannot be removed keeps no other in the cache") {
  const test::UnreadableFolder damaged(path("releases/2.11.0"));
  const auto tidied = caches::tidy(daemon::cache_parts(*application), kMegabyte);
  REQUIRE_FALSE(tidied);
  CHECK_THAT(tidied.error().message, Contains("cannot remove") && Contains("2.11.0"));
  CHECK_FALSE(fs::exists(path("kits/a")));
  CHECK_FALSE(fs::exists(path("kits/b")));
}

TEST_CASE_METHOD(FullCache, "a cache that cannot be listed counts as empty") {
  const test::UnreadableFolder damaged(path("releases"));
  CHECK(caches::tidy(daemon::cache_parts(*application), 5 * kMegabyte).value().before.releases ==
        0);
}

TEST_CASE_METHOD(FullCache, "a release that a comparison needs stays, although it is the oldest") {
  CHECK(caches::tidy(daemon::cache_parts(*application), kMegabyte).value().after.sum() ==
        kMegabyte);
  CHECK(fs::exists(path("releases/2.12.0")));
  CHECK(unusable(needed).empty());
}

TEST_CASE_METHOD(FullCache, "a release that is needed stays also where a link leads to the cache") {
  fs::create_directory_symlink("state", folder.path() / "link");
  auto linked = config;
  linked.build.cache = folder.path() / "link" / "builds";
  REQUIRE(caches::tidy({.database = application->services().database, .config = linked}, 0));
  CHECK(fs::exists(path("releases/2.12.0")));
  CHECK_FALSE(fs::exists(path("releases/2.11.0")));
}

TEST_CASE_METHOD(FullCache, "no kit goes where the releases that stay are over the limit alone") {
  const auto tidied = caches::tidy(daemon::cache_parts(*application), kMegabyte / 2).value();
  CHECK(tidied.after.sum() == 3 * kMegabyte);
  CHECK_FALSE(fs::exists(path("releases/2.11.0")));
  CHECK(fs::exists(path("kits/a")));
}

TEST_CASE_METHOD(FullCache, "builds of commits go by their age also where no recipe is set") {
  write("commits/0123-abcd", 20);
  const auto tidied = caches::tidy(daemon::cache_parts(*application), 4 * kMegabyte).value();
  CHECK(tidied.before.commits == kMegabyte);
  CHECK(tidied.after.commits == 0);
  CHECK(tidied.after.sum() == 4 * kMegabyte);
}

TEST_CASE_METHOD(FullCache, "measuring a release is a use of it, wherever else nothing is noted") {
  builds::Tree tree;
  tree.folder = path("releases/2.11.0") / "torch";
  fs::create_directories(tree.folder);
  auto measured = config;
  measured.suite.externals.emplace_back().name = "mine";
  comparison::SuiteRunners runners(application->services().runners, measured);
  REQUIRE(runners.kit_for(tree, {"mine"}, {}));
  REQUIRE(caches::tidy(daemon::cache_parts(*application), 3 * kMegabyte));
  CHECK(fs::exists(path("releases/2.11.0")));
  CHECK_FALSE(fs::exists(path("kits/a")));
  tree.folder = folder.path() / "mine";
  fs::create_directories(tree.folder);
  REQUIRE(runners.kit_for(tree, {"mine"}, {}));
  CHECK(fs::is_empty(tree.folder));
}

TEST_CASE_METHOD(FullCache, "a release that somebody pinned stays, until it is let go") {
  auto& database = application->services().database;
  const auto build = storage::BuildStore(database).get(other).value();
  fs::create_directories(build.folder);
  CHECK(caches::pin(build, config, true) == true);
  CHECK(caches::is_pinned(build));
  CHECK_FALSE(caches::remove_files(database, config, build));
  REQUIRE(caches::tidy(daemon::cache_parts(*application), 0));
  CHECK(fs::exists(path("releases/2.11.0")));
  CHECK(caches::pin(build, config, false) == true);
  REQUIRE(caches::tidy(daemon::cache_parts(*application), 0));
  CHECK_FALSE(fs::exists(path("releases/2.11.0")));
}

TEST_CASE_METHOD(FullCache, "only a build that lies in the cache, unused, loses its files") {
  auto& database = application->services().database;
  storage::BuildStore builds(database);
  const auto refusal = [&](storage::Id id) {
    const auto removed = caches::remove_files(database, config, builds.get(id).value());
    return removed ? ErrorCode::internal : removed.error().code;
  };
  for (const auto id : {needed, other}) fs::create_directories(builds.get(id).value().folder);
  CHECK(refusal(needed) == ErrorCode::conflict);
  auto outside = builds.discover(storage::BuildOrigin::folder, folder.path().string()).value();
  outside.content_hash = "h";
  outside.folder = folder.path();
  outside = builds.mark_ready(outside).value();
  CHECK(refusal(outside.id) == ErrorCode::conflict);
  CHECK(caches::pin(outside, config, true) == false);
  REQUIRE(caches::remove_files(database, config, builds.get(other).value()));
  CHECK_FALSE(fs::exists(path("releases/2.11.0/torch")));
  CHECK(refusal(other) == ErrorCode::conflict);
  CHECK(fs::exists(folder.path()));
}

TEST_CASE_METHOD(FullCache, "of the copies made before migrations the newest stays") {
  const auto copy = [&](int version, int hours_ago) {
    const auto made =
        folder.write("state/torchwatch.sqlite.v" + std::to_string(version) + ".backup", "");
    fs::last_write_time(made, fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
    return fs::path(made);
  };
  const auto old = copy(4, 9);
  const auto newest = copy(5, 1);
  const fs::path own = folder.write("state/torchwatch.sqlite.vacation.backup", "");
  fs::last_write_time(own, fs::file_time_type::clock::now() - std::chrono::hours(9));
  CHECK(caches::tidy(daemon::cache_parts(*application), 5 * kMegabyte).value().copies.size() == 1);
  CHECK_FALSE(fs::exists(old));
  CHECK(fs::exists(newest));
  CHECK(fs::exists(own));
  CHECK(fs::exists(config.storage.path));
}

TEST_CASE("a cache shrinks by what is lacking, and not at all where that is too little") {
  CHECK(caches::bytes_to_keep(100, 30, 50) == 80);
  CHECK(caches::bytes_to_keep(100, 50, 150) == 0);
  CHECK_FALSE(caches::bytes_to_keep(100, 50, 50));
  CHECK_FALSE(caches::bytes_to_keep(100, 50, 151));
}

TEST_CASE_METHOD(FullCache,
                 "work that finds too little free disk waits, and empties no cache in vain") {
  CHECK(caches::reserve_disk(daemon::cache_parts(*application)));
  config.build.disk_reserve_bytes = std::int64_t{1} << 60;
  application.reset();
  application = daemon::Application::open(config, progress, log).value();
  const auto refused = caches::reserve_disk(daemon::cache_parts(*application));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unavailable);
  CHECK_THAT(refused.error().message, Contains("[build] disk_reserve"));
  CHECK(fs::exists(path("kits/b")));
}

TEST_CASE_METHOD(CacheThatKeepsOneNightly,
                 "the builds of the newest nightlies stay, however full the cache is") {
  auto before = other;
  for (const char* name : {"dev1", "dev2", "dev3"}) before = compared_nightly(name, before, 30);
  REQUIRE(caches::tidy(daemon::cache_parts(*application), 0));
  CHECK(fs::exists(path("releases/dev3")));
  CHECK(fs::exists(path("releases/dev2")));  // what the newest was compared with
  CHECK_FALSE(fs::exists(path("releases/dev1")));
  CHECK_FALSE(fs::exists(path("releases/2.11.0")));
}

TEST_CASE_METHOD(
    FullCache, "nightlies that stay do so with their baselines, however long ago they were used") {
  auto before = other;
  int hours_ago = 20;
  for (const char* name : {"dev1", "dev2", "dev3", "dev4"}) {
    before = compared_nightly(name, before, ++hours_ago);  // the newest was used longest ago
  }
  REQUIRE(caches::tidy(daemon::cache_parts(*application), 0));
  CHECK(fs::exists(path("releases/dev4")));
  CHECK(fs::exists(path("releases/dev3")));
  CHECK(fs::exists(path("releases/dev2")));  // what the second one was compared with
  CHECK_FALSE(fs::exists(path("releases/dev1")));
}

TEST_CASE("the files of a build are described as they lie here") {
  FullCache cache;
  storage::BuildStore builds(cache.application->services().database);
  const auto row = builds.get(cache.needed).value();
  CHECK_FALSE(caches::files_of(row, cache.config).are_there);
  CHECK(word_of(caches::files_of(row, cache.config)) == "gone");
  fs::create_directories(row.folder);
  const auto files = caches::files_of(row, cache.config);
  CHECK((files.are_there && files.are_in_cache && !files.are_pinned));
  CHECK(files.last_used == 0);
  builds::note_use(row.folder);
  CHECK(caches::files_of(row, cache.config).last_used > 0);
  REQUIRE(caches::pin(row, cache.config, true));
  CHECK(word_of(caches::files_of(row, cache.config)) == "pinned");
  auto outside = row;
  outside.folder = cache.folder.path();
  CHECK_FALSE(caches::files_of(outside, cache.config).are_in_cache);
  outside.folder.clear();
  CHECK(word_of(caches::files_of(outside, cache.config)).empty());
}

TEST_CASE("the bytes of folders are counted by another thread, each folder once") {
  const FullCache cache;
  caches::FolderSizes sizes;
  const auto kit = cache.path("kits/a");
  CHECK_FALSE(sizes.of(kit));
  CHECK_FALSE(sizes.of(cache.path("nothing")));
  sizes.wait();
  CHECK(sizes.of(kit) == kMegabyte);
  CHECK(sizes.of(cache.path("nothing")) == 0);
  fs::remove_all(kit);
  CHECK(sizes.of(kit) == kMegabyte);
}
