// A power cut right after the first start: the folder of the state must be on the disk by then.
#include <dlfcn.h>
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/database/database.hpp"

namespace {

std::atomic<ino_t> looked_for{0};
std::atomic<int> synced{0};

}  // namespace

// Counts how often the folder that is looked for is synced to the disk.
extern "C" int fsync(int file) {
  using Fsync = int (*)(int);
  static const auto real = reinterpret_cast<Fsync>(dlsym(RTLD_NEXT, "fsync"));
  struct stat about{};
  if (fstat(file, &about) == 0 && about.st_ino == looked_for) ++synced;
  return real(file);
}

using namespace torchwatch;

TEST_CASE("the folder above a new state folder is synced, and only when something was made in it") {
  const test::TemporaryFolder folder;
  struct stat about{};
  REQUIRE(stat(folder.path().c_str(), &about) == 0);
  looked_for = about.st_ino;
  synced = 0;
  for (int opened = 0; opened < 2; ++opened) {
    REQUIRE(storage::Database::open({folder.path() / "a" / "b" / "db.sqlite", "", false}));
    CHECK(synced == 1);
  }
  looked_for = 0;
}
