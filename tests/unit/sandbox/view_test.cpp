#include "view.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"

using namespace torchwatch::sandbox;
using torchwatch::test::TemporaryFolder;
namespace fs = std::filesystem;

TEST_CASE("a path is shown with the links on its way and its real place") {
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  folder.write("real/build/lib/a.so", "");
  fs::create_symlink("real", root / "state");
  fs::create_directory_symlink(root / "real" / "build", root / "newest");
  View view;
  CHECK(show(view, root / "state" / "build" / "lib", Access::read) ==
        root / "real" / "build" / "lib");
  CHECK(show(view, root / "newest" / ".." / "build", Access::write) == root / "real" / "build");
  CHECK(view.links.at(root / "state") == "real");
  CHECK(view.links.at(root / "newest") == root / "real" / "build");
  CHECK(view.mounts.at(root / "real" / "build") == Access::write);
}

TEST_CASE("what does not exist, and a circle of links, is left out") {
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  fs::create_symlink("second", root / "first");
  fs::create_symlink("first", root / "second");
  View view;
  CHECK(show(view, root / "nothing", Access::read).empty());
  CHECK(show(view, root / "first", Access::read).empty());
  CHECK(view.mounts.empty());
  show_linked(view, root, {root});
}

TEST_CASE("links of a build are followed through all their hops") {
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  folder.write("builds/base/lib/libc10.so", "library");
  folder.write("builds/second/lib/own.so", "");
  folder.write("builds/third/lib/own.so", "");
  fs::create_symlink(root / "builds/base/lib/libc10.so", root / "builds/second/lib/libc10.so");
  fs::create_symlink("../../second/lib/libc10.so", root / "builds/third/lib/libc10.so");
  View view;
  show_linked(view, root / "builds/third/lib", {root / "builds"});
  CHECK(view.mounts.contains(root / "builds/second/lib"));
  CHECK(view.mounts.contains(root / "builds/base/lib"));
}

TEST_CASE("a link of a build that leads elsewhere shows nothing") {
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  folder.write("state/token", "secret");
  folder.write("builds/evil/lib/own.so", "");
  fs::create_symlink(root / "state/token", root / "builds/evil/lib/straight.so");
  fs::create_directory_symlink(root / "state", root / "builds/detour");
  fs::create_symlink(root / "builds/detour/token", root / "builds/evil/lib/by_detour.so");
  View view;
  show_linked(view, root / "builds/evil/lib", {root / "builds"});
  CHECK(view.mounts.empty());
}
