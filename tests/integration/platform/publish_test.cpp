#include "torchwatch/platform/publish.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "temporary_folder.hpp"

using namespace torchwatch;
namespace fs = std::filesystem;

TEST_CASE("a published file has its bytes and leaves nothing beside it") {
  const test::TemporaryFolder folder;
  const std::string bytes("a\0b\n", 4);
  REQUIRE(platform::publish_file(folder.path() / "f", bytes));
  CHECK(platform::read_file(folder.path() / "f", 4) == bytes);
  CHECK_FALSE(fs::exists(folder.path() / "f.partial"));
}

TEST_CASE("a file that cannot be written whole is not there at all") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "f";
  const pid_t pid = fork();
  if (pid == 0) {  // as on a full disk: the third block is refused
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 8192, .rlim_max = 8192};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto status = platform::publish_file(path, std::string(20'000, 'x'));
    _exit(!status && status.error().code == ErrorCode::unavailable ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("publishing into a folder that is not there says so") {
  const test::TemporaryFolder folder;
  const auto status = platform::publish_file(folder.path() / "missing" / "f", "x");
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::not_found);
  CHECK(status.error().message.find("there is no folder") != std::string::npos);
  CHECK(status.error().message.ends_with("/missing"));
}

TEST_CASE("a partial folder is seen under its final name only when it is published") {
  const test::TemporaryFolder folder;
  const fs::path final_folder = folder.path() / "a" / "build";
  auto partial = platform::PartialFolder::create(final_folder);
  REQUIRE(partial);
  fs::create_directory(partial->path() / "lib");
  fs::create_symlink("nowhere", partial->path() / "lib" / "link");
  REQUIRE(platform::publish_file(partial->path() / "lib" / "file", "x"));
  CHECK_FALSE(fs::exists(final_folder));
  REQUIRE(partial->publish());
  CHECK(fs::exists(final_folder / "lib" / "file"));
  CHECK(fs::is_symlink(final_folder / "lib" / "link"));
}

TEST_CASE("a partial folder that is not published goes away, also after it was moved") {
  const test::TemporaryFolder folder;
  {
    auto first = platform::PartialFolder::create(folder.path() / "build");
    REQUIRE(first);
    const platform::PartialFolder second = std::move(*first);
    CHECK(fs::exists(second.path()));
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a folder that is there already is left as it is") {
  const test::TemporaryFolder folder;
  folder.write("build/old", "x");
  auto partial = platform::PartialFolder::create(folder.path() / "build");
  REQUIRE(partial);
  const auto status = partial->publish();
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::conflict);
  CHECK(fs::exists(folder.path() / "build" / "old"));
}

TEST_CASE("what an earlier try left in the partial folder is gone") {
  const test::TemporaryFolder folder;
  folder.write("build.partial/stale", "x");
  const auto partial = platform::PartialFolder::create(folder.path() / "build");
  REQUIRE(partial);
  CHECK(fs::is_empty(partial->path()));
}

TEST_CASE("partial folders with marks of their own are apart, and end under one name") {
  const test::TemporaryFolder folder;
  auto first = platform::PartialFolder::create(folder.path() / "build", "1");
  auto second = platform::PartialFolder::create(folder.path() / "build", "2");
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->path() == folder.path() / "build.1.partial");
  REQUIRE(platform::publish_file(first->path() / "file", "x"));
  CHECK(fs::is_empty(second->path()));
  REQUIRE(second->publish());
  CHECK(fs::is_empty(folder.path() / "build"));
}

TEST_CASE("a folder of many files is published as well") {
  const test::TemporaryFolder folder;
  auto partial = platform::PartialFolder::create(folder.path() / "build");
  REQUIRE(partial);
  for (int i = 0; i < 300; ++i) folder.write("build.partial/" + std::to_string(i), "x");
  REQUIRE(partial->publish());
  CHECK(fs::exists(folder.path() / "build" / "299"));
}

TEST_CASE("reading is bounded, and knows files from what only looks like one") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("f", "12345");
  CHECK(platform::read_file(file, 5) == std::string("12345"));
  CHECK(platform::read_file(file, 4).error().code == ErrorCode::corrupt);
  CHECK(platform::read_file(folder.path() / "missing", 4).error().code == ErrorCode::not_found);
  CHECK(platform::read_file(folder.path(), 4).error().code == ErrorCode::invalid);
  const fs::path link = folder.path() / "link";
  fs::create_symlink(file, link);
  CHECK(platform::read_file(link, 5) == std::string("12345"));
  CHECK(platform::read_foreign_file(file, 5) == std::string("12345"));
  CHECK(platform::read_foreign_file(link, 5).error().message ==
        link.string() + " is a link, not a file");
  const fs::path pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(platform::read_file(pipe, 4).error().code == ErrorCode::invalid);
}
