#include <catch2/catch.hpp>

#include "elf_maker.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/channel/channel.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

TEST_CASE("complete builds are listed, numbers in their names as numbers") {
  const test::TemporaryFolder folder;
  for (const char* name : {"2.13.0", "2.9.0", "2.9.0.dev20260102", "2.9.0.dev20251231", "a"}) {
    test::write_tree(folder.path() / name);
  }
  test::write_tree(folder.path() / "incomplete");
  fs::remove(folder.path() / "incomplete/build-hash");
  test::write_tree(folder.path() / ".hidden");
  test::write_tree(folder.path() / "copied.partial");
  folder.write("a-file", "");
  fs::create_directory_symlink(folder.path() / "a", folder.path() / "b");
  const auto channel = make_directory_channel(folder.path());
  CHECK(names_of(channel->list({}).value()) ==
        Names{"2.9.0", "2.9.0.dev20251231", "2.9.0.dev20260102", "2.13.0", "a", "b"});
}

TEST_CASE("a build whose name cannot be printed is listed as such, and refused with the remedy") {
  const test::TemporaryFolder folder;
  test::write_tree(folder.path() / "2026\xff");
  test::write_tree(folder.path() / "2026\033[2J");
  test::write_tree(folder.path() / "2026-ä");
  const auto channel = make_directory_channel(folder.path());
  const Names listed = names_of(channel->list({}).value());
  CHECK(listed == Names{"2026-ä", "2026\\x1B[2J", "2026\\xFF"});
  CHECK(channel->fetch({listed[0]}, {}));
  for (const auto& name : {listed[1], listed[2]}) {
    const auto refused = channel->fetch({name}, {});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::invalid);
    CHECK(refused.error().message.find("rename it") != std::string::npos);
  }
}

TEST_CASE("a build whose build-hash is not a commit is refused with what it must be") {
  const test::TemporaryFolder folder;
  test::write_tree(folder.path() / "one");
  folder.write("one/build-hash", "notasha\n");
  const auto refused = make_directory_channel(folder.path())->fetch({"one"}, {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::invalid);
  CHECK(refused.error().message ==
        "build one: invalid build-hash \"notasha\": must be 40 hexadecimal digits, as `git "
        "rev-parse` prints them");
}

TEST_CASE("a build is taken where it lies") {
  const test::TemporaryFolder folder;
  test::write_tree(folder.path() / "one");
  const auto tree = make_directory_channel(folder.path())->fetch({"one"}, {});
  REQUIRE(tree.has_value());
  CHECK(tree->folder == folder.path() / "one");
}

TEST_CASE("what is not listed cannot be fetched") {
  const test::TemporaryFolder folder;
  test::write_tree(folder.path() / "in/one");
  test::write_tree(folder.path() / "outside");
  const auto channel = make_directory_channel(folder.path() / "in");
  for (const char* name : {"", "two", "../outside", "..", ".", "/", "one/../one"}) {
    const auto tree = channel->fetch({name}, {});
    REQUIRE_FALSE(tree.has_value());
    CHECK(tree.error().code == ErrorCode::not_found);
  }
}

TEST_CASE("a damaged build gives its own error, with its name") {
  const test::TemporaryFolder folder;
  test::write_tree(folder.path() / "one");
  folder.write("one/lib/libc10.so", "nonsense");
  const auto tree = make_directory_channel(folder.path())->fetch({"one"}, {});
  REQUIRE_FALSE(tree.has_value());
  CHECK(tree.error().message.find("build one: ") == 0);
}

TEST_CASE("a build whose whole channel is gone may come back with it") {
  const test::TemporaryFolder folder;
  test::write_tree(folder.path() / "in/one");
  const auto channel = make_directory_channel(folder.path() / "in");
  fs::rename(folder.path() / "in", folder.path() / "out");
  CHECK(channel->fetch({"one"}, {}).error().code == ErrorCode::unavailable);
  fs::rename(folder.path() / "out", folder.path() / "in");
  CHECK(channel->fetch({"one"}, {}));
}

TEST_CASE("a channel without its folder says which key to look at") {
  const auto list = make_directory_channel("/nowhere/at/all")->list({});
  REQUIRE_FALSE(list.has_value());
  CHECK(list.error().code == ErrorCode::not_found);
  CHECK(list.error().message.find("[channel] path") != std::string::npos);
}

}  // namespace
}  // namespace torchwatch::channel
