#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "embedded_sql.hpp"
#include "file_content.hpp"
#include "migrations.hpp"
#include "raw_sql.hpp"
#include "skipped.hpp"
#include "sqlite_errors.hpp"
#include "stores.hpp"
#include "torchwatch/database/backup.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace fs = std::filesystem;

namespace {

/// A database with one measured run and one build more than its backup.
struct BackedUp {
  test::MemoryFolder folder;
  fs::path path = folder.path() / "t.sqlite";
  fs::path copy = folder.path() / "t.backup";

  BackedUp() {
    Stores stores(path);
    store_run(stores);
    REQUIRE(back_up(*stores.database, copy));
    ready_build(stores.builds, "later", "h");
  }

  static void store_run(Stores& stores) {
    const auto comparison = comparison_of_two(stores);
    REQUIRE(stores.runs.issue(order_of(comparison, "s"), "t1", 1));
    REQUIRE(stores.runs.record({{"t1", full_result("t1")}}, 2));
  }

  static std::size_t builds_in(const fs::path& database) {
    const auto reader = Database::open({.path = database, .read_only = true}).value();
    REQUIRE(reader->check_invariants().value().empty());
    return BuildStore(*reader).list().value().size();
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(folder.path())) {
      names.push_back(file.path().filename());
    }
    return names;
  }
};

void scribble_over(const fs::path& path) {
  const auto size = fs::file_size(path);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(4096);
  file << std::string(size - 4096, '\xA5');
}

}  // namespace

TEST_CASE_METHOD(BackedUp, "a backup is one file, the database as it was while it was written") {
  REQUIRE(builds_in(path) == 3);
  REQUIRE(builds_in(copy) == 2);
  REQUIRE_THAT(files(), !Catch::VectorContains(std::string("t.backup.partial")));
  REQUIRE_THAT(files(), !Catch::VectorContains(std::string("t.backup-wal")));
}

TEST_CASE_METHOD(BackedUp, "a reader backs a database up beside its writer") {
  Stores writer(path);
  const auto reader = Database::open({.path = path, .read_only = true}).value();
  const auto second = folder.path() / "second.backup";
  REQUIRE(writer.database->transact([&]() -> Status {
    ready_build(writer.builds, "not committed", "h");
    return back_up(*reader, second);
  }));
  REQUIRE(builds_in(second) == 3);
}

TEST_CASE_METHOD(BackedUp, "a backup replaces no file") {
  Stores stores(path);
  for (const auto& target : {copy, path}) {
    const auto before = test::content_of(target);
    const auto refused = back_up(*stores.database, target);
    REQUIRE_FALSE(refused);
    REQUIRE(refused.error().code == ErrorCode::invalid);
    REQUIRE_THAT(refused.error().text(), Contains("choose another name"));
    REQUIRE(test::content_of(target) == before);
  }
}

TEST_CASE_METHOD(BackedUp, "a database whose samples do not match their digest makes no backup") {
  test::raw_sql(path, "UPDATE sample SET data = zeroblob(8) WHERE kind = 'wall_ns'");
  const auto reader = Database::open({.path = path, .read_only = true}).value();
  const auto target = folder.path() / "second.backup";
  const auto refused = back_up(*reader, target);
  REQUIRE_FALSE(refused);
  REQUIRE(refused.error().code == ErrorCode::corrupt);
  REQUIRE_THAT(refused.error().message,
               Contains("samples_match_their_digest") && Contains(path.string()));
  REQUIRE_FALSE(fs::exists(target));
  REQUIRE_FALSE(fs::exists(target.string() + ".partial"));
}

TEST_CASE_METHOD(BackedUp, "a restored backup takes the place of the database, which is kept") {
  const auto kept = restore(copy, path).value();
  REQUIRE(builds_in(path) == 2);
  REQUIRE(builds_in(kept) == 3);
  REQUIRE(builds_in(copy) == 2);
  Stores again(path);
  ready_build(again.builds, "after", "h");
  REQUIRE(again.runs.samples_of(1).value() == full_result("t1").samples_ns);
}

TEST_CASE_METHOD(BackedUp,
                 "copies of a database that nobody else may read are not readable, either") {
  constexpr auto kOwn = fs::perms::owner_read | fs::perms::owner_write;
  const auto mode_of = [](const fs::path& file) { return fs::status(file).permissions(); };
  REQUIRE(mode_of(copy) == mode_of(path));
  fs::permissions(path, kOwn);
  const auto second = folder.path() / "second.backup";
  REQUIRE(back_up(*Database::open({.path = path, .read_only = true}).value(), second));
  REQUIRE(mode_of(second) == kOwn);
  REQUIRE(restore(copy, path));
  REQUIRE(mode_of(path) == kOwn);
}

TEST_CASE_METHOD(BackedUp, "what root restores belongs to whom it belonged to") {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() != 0) return test::say_skipped("root alone gives files away");
  struct stat about{};
  REQUIRE(::chown(path.c_str(), kNobody, kNobody) == 0);
  REQUIRE(restore(copy, path));
  for (const auto& file : {path, fs::path(path.string() + ".lock")}) {
    REQUIRE(::stat(file.c_str(), &about) == 0);
    REQUIRE(about.st_uid == kNobody);
  }
}

TEST_CASE_METHOD(BackedUp, "each replaced database is kept under a name of its own") {
  const auto first = restore(copy, path).value();
  const auto second = restore(copy, path).value();
  REQUIRE(first != second);
  REQUIRE(builds_in(first) == 3);
  REQUIRE(builds_in(second) == 2);
}

TEST_CASE_METHOD(BackedUp, "a backup is restored where no database is") {
  const auto elsewhere = folder.path() / "new" / "t.sqlite";
  REQUIRE(restore(copy, elsewhere).value().empty());
  REQUIRE(builds_in(elsewhere) == 2);
}

TEST_CASE_METHOD(BackedUp, "nothing is restored beside a process that writes") {
  Stores writer(path);
  const auto refused = restore(copy, path);
  REQUIRE_FALSE(refused);
  REQUIRE(refused.error().code == ErrorCode::conflict);
  REQUIRE(writer.builds.list().value().size() == 3);
}

TEST_CASE_METHOD(BackedUp, "a backup that breaks a rule or a page replaces nothing") {
  const bool is_page = GENERATE(false, true);
  if (is_page) {
    scribble_over(copy);
  } else {
    test::raw_sql(copy, "UPDATE sample SET digest = printf('%064d', 0)");
  }
  const auto refused = restore(copy, path);
  REQUIRE_FALSE(refused);
  REQUIRE_THAT(refused.error().message, Contains(copy.string()) && !Contains("restoring"));
  REQUIRE(builds_in(path) == 3);
  for (const auto& name : files()) REQUIRE_THAT(name, !Contains("restoring"));
}

TEST_CASE_METHOD(BackedUp, "what is not a backup of torchwatch is refused by its name") {
  const auto other = folder.path() / "other.sqlite";
  test::raw_sql(other, "CREATE TABLE bookmarks (url TEXT)");
  const auto empty = folder.path() / "empty.sqlite";
  std::ofstream(empty).flush();
  for (const auto& file : {other, empty, path, folder.path() / "nowhere"}) {
    CAPTURE(file);
    const auto refused = restore(file, path);
    REQUIRE_FALSE(refused);
    REQUIRE_THAT(refused.error().message, Contains(file.string()));
    REQUIRE(builds_in(path) == 3);
  }
}

TEST_CASE_METHOD(BackedUp, "a damaged database is replaced, and kept with its log") {
  scribble_over(path);
  const auto kept = restore(copy, path).value();
  REQUIRE(fs::exists(kept));
  REQUIRE(builds_in(path) == 2);
}

TEST_CASE_METHOD(BackedUp, "a damaged database is named where it cannot be copied") {
  scribble_over(path);
  const auto reader = Database::open({.path = path, .read_only = true});
  const auto refused =
      reader ? back_up(**reader, folder.path() / "new") : Status{fail(reader.error())};
  REQUIRE_FALSE(refused);
  REQUIRE_THAT(refused.error().message, Contains(path.string()) && !Contains(".partial"));
}

TEST_CASE_METHOD(BackedUp, "what is not a database at all is not a backup") {
  const auto text = folder.path() / "notes.txt";
  std::ofstream(text) << std::string(4096, 'x');
  const auto refused = restore(text, path);
  REQUIRE_FALSE(refused);
  REQUIRE(refused.error().code == ErrorCode::invalid);
  REQUIRE_THAT(refused.error().message, Contains("notes.txt is not a backup of torchwatch"));
}

TEST_CASE_METHOD(BackedUp, "a backup of an earlier schema is brought to this one") {
  const auto old = folder.path() / "old.sqlite";
  {
    const auto connection = connect({.path = old}, old, WriterLock());
    REQUIRE(guarded(old, [&] { return migrate(*connection, embedded_migrations().first(3)); }));
  }
  REQUIRE(restore(old, path));
  REQUIRE(builds_in(path) == 0);
}

TEST_CASE_METHOD(BackedUp, "a database that is deleted or replaced while it is open is noticed") {
  const std::string part = GENERATE("", "-wal");
  const bool is_replaced = GENERATE(false, true);
  CAPTURE(part, is_replaced);
  Stores stores(path);
  REQUIRE(stores.database->check_files());
  fs::remove(path.string() + part);
  // A second name for another file, so that the number of the removed one is not given out again.
  if (is_replaced) fs::create_hard_link(copy, path.string() + part);
  REQUIRE(stores.database->check_files().error().code == ErrorCode::damaged);
  const auto refused = stores.builds.discover(BuildOrigin::nightly, "n9");
  REQUIRE(refused.error().code == ErrorCode::damaged);
  REQUIRE_THAT(refused.error().text(), Contains(path.string()) && Contains("restore a backup"));
}

TEST_CASE_METHOD(BackedUp, "a check of the invariants stops when it is asked to") {
  const auto reader = Database::open({.path = path, .read_only = true}).value();
  std::stop_source stop;
  stop.request_stop();
  REQUIRE(reader->check_invariants(stop.get_token()).error().code == ErrorCode::cancelled);
}
