#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "file_content.hpp"
#include "forked_child.hpp"
#include "raw_sql.hpp"
#include "stores.hpp"
#include "temporary_folder.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

struct OneFile {
  test::TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "state" / "torchwatch.sqlite";

  Result<std::unique_ptr<Database>> open() const { return Database::open({path, "", false}); }
  Result<std::unique_ptr<Database>> open_reader() const { return Database::open({path, "", true}); }
};

}  // namespace

TEST_CASE_METHOD(OneFile, "a database is made with its folder, and opened again with its rows") {
  {
    Stores stores(path);
    const std::filesystem::path migrations =
        std::filesystem::path(TORCHWATCH_SOURCE_DIR) / "storage/database/migrations";
    const auto files = std::distance(std::filesystem::directory_iterator(migrations), {});
    REQUIRE(stores.database->schema_version() == files);
    ready_build(stores.builds, "n1", "h1");
  }
  Stores again(path);
  REQUIRE(again.builds.list().value().size() == 1);
  REQUIRE(again.database->check_invariants().value().empty());
}

TEST_CASE_METHOD(OneFile, "a second writer is refused with the name of the first") {
  const auto first = open().value();
  const auto error = open().error();
  REQUIRE(error.code == ErrorCode::conflict);
  REQUIRE_THAT(error.message, Catch::Contains(std::to_string(::getpid()) + " ("));
  REQUIRE_THAT(error.text(), Catch::Contains("try again when it has ended"));
}

TEST_CASE_METHOD(OneFile, "what is stored beside a writer of another process is kept by both") {
  constexpr std::size_t kEach = 30;  // too few for one to wait for the other until it gives up
  REQUIRE(open());
  test::ForkedChild writer([this](int report) {
    Stores stores(path);
    if (::write(report, "r", 1) != 1) return 1;
    for (std::size_t i = 0; i < kEach; ++i)
      ready_build(stores.builds, "n" + std::to_string(i), "h");
    return 0;
  });
  REQUIRE(writer.next_report() == 'r');
  {
    Stores beside(Database::open({.path = path, .beside_writer = true}).value());
    for (std::size_t i = 0; i < kEach; ++i)
      ready_build(beside.builds, "b" + std::to_string(i), "h");
  }
  REQUIRE(writer.wait().exit_status == 0);
  Stores stores(path);
  REQUIRE(stores.builds.list().value().size() == 2 * kEach);
  REQUIRE(stores.database->check_invariants().value().empty());
}

TEST_CASE_METHOD(OneFile, "what is stored beside a writer outlives that one, and stops no other") {
  auto first = open().value();
  Stores beside(Database::open({.path = path, .beside_writer = true}).value());
  first.reset();
  Stores second(path);
  ready_build(beside.builds, "b", "h");
  ready_build(second.builds, "n", "h");
  REQUIRE(second.builds.list().value().size() == 2);
}

TEST_CASE_METHOD(OneFile, "nothing can be stored beside a writer where there is no database") {
  REQUIRE(Database::open({.path = path, .beside_writer = true}).error().code ==
          ErrorCode::not_found);
}

TEST_CASE_METHOD(OneFile, "a writer of another process holds the database until it dies") {
  {
    test::ForkedChild holder([this](int report) {
      const auto database = open().value();
      return ::write(report, "r", 1) == 1 ? ::pause() : 1;
    });
    REQUIRE(holder.next_report() == 'r');
    REQUIRE(open().error().code == ErrorCode::conflict);
  }
  REQUIRE(open());
}

TEST_CASE_METHOD(OneFile, "two names of one database are one database") {
  const auto first = open().value();
  const auto link = folder.path() / "link.sqlite";
  std::filesystem::create_symlink(path, link);
  REQUIRE(Database::open({link, "", false}).error().code == ErrorCode::conflict);
}

TEST_CASE_METHOD(OneFile, "a child process does not inherit the lock") {
  auto database = open().value();
  test::ForkedChild inheritor([](int report) {
    ::dup2(report, 1);
    ::execl("/bin/sh", "sh", "-c", "echo; exec sleep 600", static_cast<char*>(nullptr));
    return 1;
  });
  REQUIRE(inheritor.next_report() == '\n');
  database.reset();
  REQUIRE(open());
}

TEST_CASE_METHOD(OneFile, "readers see what is committed while a writer writes, and only that") {
  Stores stores(path);
  ready_build(stores.builds, "n1", "h1");
  const auto reader = open_reader().value();
  BuildStore seen(*reader);
  REQUIRE(stores.database->transact([&]() -> Status {
    ready_build(stores.builds, "n2", "h2");
    REQUIRE(seen.list().value().size() == 1);
    return {};
  }));
  REQUIRE(seen.list().value().size() == 2);
}

TEST_CASE_METHOD(OneFile,
                 "a writer's file holds all that it stored, also where a reader closes last") {
  auto stores = std::make_unique<Stores>(path);
  ready_build(stores->builds, "n1", "h1");
  const auto reader = open_reader().value();
  REQUIRE(BuildStore(*reader).list().value().size() == 1);
  stores.reset();
  const auto copy = folder.path() / "copy.sqlite";
  std::filesystem::copy_file(path, copy);
  Stores copied(copy);
  CHECK(copied.builds.list().value().size() == 1);
}

TEST_CASE_METHOD(OneFile, "a reader of another process reads while a writer writes") {
  test::ForkedChild writer([this](int report) {
    Stores stores(path);
    for (int i = 0; i < 200; ++i) {
      ready_build(stores.builds, "n" + std::to_string(i), "h");
      if (i == 20 && ::write(report, "r", 1) != 1) return 1;
    }
    return 0;
  });
  REQUIRE(writer.next_report() == 'r');
  std::size_t before = 20;
  {
    const auto reader = open_reader().value();
    BuildStore builds(*reader);
    for (int i = 0; i < 50; ++i) {
      const auto seen = builds.list().value().size();
      REQUIRE(seen >= before);
      before = seen;
    }
  }
  REQUIRE(writer.wait().exit_status == 0);
  REQUIRE(BuildStore(*open_reader().value()).list().value().size() == 200);
}

TEST_CASE_METHOD(OneFile, "a reader writes nothing and needs a file that exists") {
  REQUIRE(open_reader().error().code == ErrorCode::not_found);
  REQUIRE_FALSE(std::filesystem::exists(path));
  REQUIRE(open());
  const auto reader = open_reader().value();
  REQUIRE(BuildStore(*reader).discover(BuildOrigin::nightly, "n").error().code ==
          ErrorCode::internal);
  REQUIRE(reader->check_invariants().value().empty());
}

TEST_CASE_METHOD(OneFile, "a path that is a folder is refused by its name") {
  std::filesystem::create_directories(path);
  for (const bool read_only : {false, true}) {
    const auto error = Database::open({path, "", read_only}).error();
    CHECK(error.code == ErrorCode::invalid);
    CHECK(error.message == "[storage] path " + path.string() + " is a folder");
  }
}

TEST_CASE_METHOD(OneFile, "a newer program's database is refused and left as it is") {
  const int known = open().value()->schema_version();
  test::raw_sql(path, "PRAGMA user_version = " + std::to_string(known + 1));
  const auto before = test::content_of(path);
  for (const bool read_only : {false, true}) {
    const auto error = Database::open({path, "", read_only}).error();
    REQUIRE(error.code == ErrorCode::conflict);
    REQUIRE_THAT(error.message, Catch::Contains("version " + std::to_string(known + 1)));
    REQUIRE_THAT(error.message, Catch::Contains("up to " + std::to_string(known)));
    REQUIRE_THAT(error.message, Catch::EndsWith("run the newer torchwatch that wrote it"));
  }
  REQUIRE(test::content_of(path) == before);
  const auto backup = path.string() + ".v" + std::to_string(known) + ".backup";
  std::ofstream(backup) << "what the newer program kept";
  CHECK_THAT(open().error().message, Catch::EndsWith(", or restore " + backup));
}

TEST_CASE_METHOD(OneFile, "a reader asks for a migration instead of reading an older schema") {
  std::filesystem::create_directories(path.parent_path());
  test::raw_sql(path,
                "PRAGMA application_id = 1953955841; PRAGMA user_version = 0; CREATE TABLE t (a)");
  const auto error = open_reader().error();
  REQUIRE(error.code == ErrorCode::conflict);
  REQUIRE_THAT(error.text(), Catch::Contains("torchwatch serve"));
}

TEST_CASE_METHOD(OneFile, "another program's database is refused and left as it is") {
  std::filesystem::create_directories(path.parent_path());
  test::raw_sql(path, "CREATE TABLE bookmarks (url TEXT)");
  const auto before = test::content_of(path);
  const auto error = open().error();
  REQUIRE(error.code == ErrorCode::invalid);
  REQUIRE_THAT(error.message, Catch::Contains("another program"));
  REQUIRE(test::content_of(path) == before);
}

TEST_CASE_METHOD(OneFile, "a file that is not a database is called damaged and left as it is") {
  folder.write("state/torchwatch.sqlite", std::string(5000, 'x'));
  for (const bool read_only : {false, true}) {
    const auto error = Database::open({path, "", read_only}).error();
    REQUIRE(error.code == ErrorCode::damaged);
    REQUIRE_THAT(error.message, Catch::Contains(path.string()));
  }
  REQUIRE(test::content_of(path) == std::string(5000, 'x'));
}

TEST_CASE_METHOD(OneFile, "who may only read the folder of a stopped service reads its database") {
  if (geteuid() != 0) return;  // another user is needed
  const auto beside = path.parent_path() / "50% #1?.sqlite";
  for (const auto& file : {path, beside}) {
    Stores stores(file);
    ready_build(stores.builds, "one", "h");
  }
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(path.parent_path(), std::filesystem::perms(0755));
  constexpr uid_t kNobody = 65534;
  REQUIRE(seteuid(kNobody) == 0);
  std::vector<Result<std::unique_ptr<Database>>> readers;
  std::vector<std::size_t> builds;
  for (const auto& file : {path, beside}) {
    readers.push_back(Database::open({.path = file, .read_only = true}));
    if (readers.back()) builds.push_back(BuildStore(**readers.back()).list().value().size());
  }
  REQUIRE(seteuid(0) == 0);
  for (const auto& reader : readers) {
    if (!reader) FAIL(reader.error().text());
  }
  REQUIRE(builds == std::vector<std::size_t>{1, 1});
}

TEST_CASE_METHOD(OneFile, "a damaged page is called damaged, by reading and by the check") {
  {
    Stores stores(path);
    const auto comparison = comparison_of_two(stores);
    for (int i = 0; i < 50; ++i) {
      const auto token = "t" + std::to_string(i);
      REQUIRE(stores.runs.issue(order_of(comparison, token), token, 1));
      REQUIRE(stores.runs.record({{token, full_result(token)}}, 2));
    }
  }
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096);
    file << std::string(size - 4096, '\xA5');
  }
  const auto database = open();
  const auto error = database ? ComparisonStore(**database).list(10).error() : database.error();
  REQUIRE(error.code == ErrorCode::damaged);
  REQUIRE_THAT(error.message, Catch::Contains(path.string()));
  REQUIRE_THAT(error.text(), Catch::Contains("restore a backup"));
}

TEST_CASE_METHOD(OneFile, "a path that cannot be opened is unavailable, and named") {
  const auto file = folder.write("file", "");  // where the folder should be
  const auto error = Database::open({file / "x.sqlite", "", false}).error();
  REQUIRE(error.code == ErrorCode::unavailable);
  REQUIRE_THAT(error.message, Catch::Contains(file.string()));
}

TEST_CASE_METHOD(
    OneFile, "a writer whose lock file was removed is stopped once another one has taken over") {
  Stores first(path);
  ready_build(first.builds, "n1", "h1");
  std::filesystem::remove(path.string() + ".lock");
  Stores second(path);
  const auto error = first.builds.discover(BuildOrigin::nightly, "n2").error();
  REQUIRE(error.code == ErrorCode::conflict);
  REQUIRE_THAT(error.message, Catch::Contains("taken over"));
  ready_build(second.builds, "n2", "h2");
}
