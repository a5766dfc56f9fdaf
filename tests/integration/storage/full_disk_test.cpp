#include <sched.h>
#include <sys/mount.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "forked_child.hpp"
#include "skipped.hpp"
#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

constexpr int kNoPrivilege = 77;

/// A file system of 4 MB that only this process sees and that ends with it.
bool mount_small_disk(const std::filesystem::path& at) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", at.c_str(), "tmpfs", 0, "size=4m") == 0;
}

Error fill(Stores& stores) {
  for (int i = 0;; ++i) {
    const auto name = std::to_string(i) + std::string(20'000, 'x');
    const auto stored = stores.builds.discover(BuildOrigin::nightly, name);
    if (!stored) return stored.error();
  }
}

/// Returns the number of the first expectation that does not hold, or 0.
int use_full_disk(const std::filesystem::path& folder) {
  if (!mount_small_disk(folder)) return kNoPrivilege;
  const auto ballast = folder / "ballast";
  std::ofstream(ballast) << std::string(500'000, 'b');
  Stores stores(folder / "t.sqlite");
  const auto error = fill(stores);
  if (error.code != ErrorCode::unavailable) return 1;
  if (error.message.find("the disk is full (0 MiB free on its file system)") == std::string::npos) {
    return 2;
  }
  const auto rows = stores.builds.list();
  if (!rows || rows->size() < 10) return 3;
  // More than the disk holds: for a few pages SQLite may still find space in files of its own.
  const auto more = stores.builds.discover(BuildOrigin::nightly, std::string(4'000'000, 'y'));
  if (more || more.error().code != ErrorCode::unavailable) return 4;
  std::filesystem::remove(ballast);
  if (!stores.builds.discover(BuildOrigin::nightly, "after")) return 5;
  if (stores.builds.list()->size() != rows->size() + 1) return 6;
  return stores.database->check_invariants()->empty() ? 0 : 7;
}

}  // namespace

TEST_CASE("on a full disk writing stops with a clear error, reading works, and space cures it") {
  const test::MemoryFolder folder;
  test::ForkedChild child([&](int) { return use_full_disk(folder.path()); });
  const int status = child.wait().exit_status;
  if (status == kNoPrivilege) {
    test::say_skipped("mounting a small file system needs root");
    return;
  }
  REQUIRE(status == 0);
}
