#include "torchwatch/executor/library_placement.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/platform/publish.hpp"

using namespace torchwatch;
namespace fs = std::filesystem;

namespace {

/// A build as wheels lay it out: site/torch/lib, and CUDA libraries in site/nvidia.
fs::path make_build(const test::TemporaryFolder& folder) {
  for (const char* const name : {"libtorch_cpu.so", "libtorch.so", "libc10.so", "libgomp-a3.so.1",
                                 "libtorch_cuda.so", "libother.so.2"}) {
    folder.write(std::string("site/torch/lib/") + name, name);
  }
  folder.write("site/torch/build-version", "2.13.0");
  folder.write("site/nvidia/cublas/lib/libcublas.so.12", "cublas");
  const fs::path lib = folder.path() / "site" / "torch" / "lib";
  fs::create_symlink("libother.so.2", lib / "libother.so");
  fs::create_symlink("nowhere", lib / "dangling.so");
  return lib;
}

std::string content(const fs::path& path) {
  return platform::read_file(path, 1000).value_or("cannot be read");
}

}  // namespace

TEST_CASE("files that dominate are copied, the rest is the build's own") {
  const test::TemporaryFolder folder;
  const fs::path lib = make_build(folder);
  const auto placed = executor::place(lib, folder.path() / "scratch");
  REQUIRE(placed);
  for (const char* const name :
       {"libtorch_cpu.so", "libtorch.so", "libc10.so", "libgomp-a3.so.1"}) {
    INFO(name);
    CHECK(content(placed->folder() / name) == name);
    CHECK_FALSE(fs::equivalent(placed->folder() / name, lib / name));
  }
  for (const char* const name : {"libtorch_cuda.so", "libother.so.2", "libother.so"}) {
    CHECK(fs::equivalent(placed->folder() / name, lib / name));
  }
  CHECK_FALSE(fs::exists(fs::symlink_status(placed->folder() / "dangling.so")));
}

TEST_CASE("libraries find their neighbours from the copy as from the build") {
  const test::TemporaryFolder folder;
  const auto placed = executor::place(make_build(folder), folder.path() / "scratch");
  REQUIRE(placed);
  CHECK(content(placed->folder() / ".." / "build-version") == "2.13.0");
  CHECK(content(placed->folder() / "../../nvidia/cublas/lib/libcublas.so.12") == "cublas");
}

TEST_CASE("a build that consists of links is copied from what is behind them") {
  const test::TemporaryFolder folder;
  const fs::path lib = make_build(folder);
  const fs::path planted = folder.path() / "planted" / "lib";
  fs::create_directories(planted);
  fs::create_symlink(lib / "libtorch_cpu.so", planted / "libtorch_cpu.so");
  const auto placed = executor::place(planted, folder.path() / "scratch");
  REQUIRE(placed);
  CHECK(fs::is_regular_file(fs::symlink_status(placed->folder() / "libtorch_cpu.so")));
  CHECK(content(placed->folder() / "libtorch_cpu.so") == "libtorch_cpu.so");
}

TEST_CASE("each copy is a new one, gone with its owner, and the build stays as it was") {
  const test::TemporaryFolder folder;
  const fs::path lib = make_build(folder);
  const fs::path scratch = folder.path() / "scratch";
  {
    auto first = executor::place(lib, scratch);
    const auto second = executor::place(lib, scratch);
    REQUIRE(first);
    REQUIRE(second);
    CHECK_FALSE(fs::equivalent(first->folder() / "libc10.so", second->folder() / "libc10.so"));
    const executor::PlacedLibraries moved = std::move(*first);
    CHECK(fs::exists(moved.folder() / "libc10.so"));
  }
  CHECK(fs::is_empty(scratch));
  CHECK(content(lib / "libother.so") == "libother.so.2");
  CHECK(content(lib / ".." / ".." / "nvidia/cublas/lib/libcublas.so.12") == "cublas");
}

TEST_CASE("a disk without space for the copies is reported before anything is copied") {
  const test::TemporaryFolder folder;
  const fs::path lib = make_build(folder);
  fs::resize_file(lib / "libtorch_cpu.so", std::uintmax_t{8} << 40U);  // 8 TiB of nothing
  const auto placed = executor::place(lib, folder.path() / "scratch");
  REQUIRE_FALSE(placed);
  CHECK(placed.error().code == ErrorCode::unavailable);
  CHECK(placed.error().message.find("TiB are needed") != std::string::npos);
  CHECK(fs::is_empty(folder.path() / "scratch"));
}

TEST_CASE("what is not a build cannot be placed") {
  const test::TemporaryFolder folder;
  const auto placed = executor::place(folder.path(), folder.path() / "scratch");
  REQUIRE_FALSE(placed);
  CHECK(placed.error().code == ErrorCode::not_found);
}

TEST_CASE("two builds that share the dominating file need no placement, others do") {
  const test::TemporaryFolder folder;
  const fs::path base = folder.write("base/lib/libtorch_cpu.so", "x").parent_path();
  const fs::path other = folder.write("other/lib/libtorch_cpu.so", "x").parent_path();
  const fs::path planted = folder.path() / "planted";
  fs::create_directory(planted);
  fs::create_symlink(base / "libtorch_cpu.so", planted / "libtorch_cpu.so");
  CHECK(executor::needs_placement(base, planted) == false);
  CHECK(executor::needs_placement(base, base) == false);
  CHECK(executor::needs_placement(base, other) == true);
  CHECK_FALSE(executor::needs_placement(base, folder.path()));
}
