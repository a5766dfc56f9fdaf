#include "torchwatch/builds/tree.hpp"

#include <elf.h>

#include <catch2/catch.hpp>

#include "elf_maker.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/builds/file_hashes.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::write_tree;

/// The error of inspecting a tree in which something is wrong.
Error error_of(const fs::path& folder) {
  const auto tree = inspect(folder);
  REQUIRE_FALSE(tree.has_value());
  return tree.error();
}

bool mentions(const Error& error, const std::string& text) {
  return error.text().find(text) != std::string::npos;
}

TEST_CASE("a complete tree says its version and its commit") {
  const test::TemporaryFolder folder;
  write_tree(folder.path() / "t");
  const auto tree = inspect(folder.path() / "t/");
  REQUIRE(tree.has_value());
  CHECK(tree->folder == folder.path() / "t");
  CHECK(tree->version == "2.13.0+cpu");
  CHECK(tree->embedded_commit == "cf30153c4c131c8164ee7798e5022d810682e2cb");
  CHECK(tree->content_hash.size() == 64);
}

TEST_CASE("a tree of links has the hash of what is behind them") {
  const test::TemporaryFolder folder;
  write_tree(folder.path() / "a");
  fs::create_directories(folder.path() / "b/lib");
  fs::create_symlink(folder.path() / "a/include", folder.path() / "b/include");
  for (const auto& entry : fs::directory_iterator(folder.path() / "a/lib")) {
    fs::create_symlink(entry.path(), folder.path() / "b/lib" / entry.path().filename());
  }
  folder.write("b/build-version", "another\n");
  folder.write("b/build-hash", "0123\n");
  const auto a = inspect(folder.path() / "a");
  const auto b = inspect(folder.path() / "b");
  REQUIRE(a.has_value());
  REQUIRE(b.has_value());
  CHECK(a->content_hash == b->content_hash);
}

TEST_CASE("another content, another name and one more library give other hashes") {
  const test::TemporaryFolder folder;
  write_tree(folder.path() / "a", "a");
  write_tree(folder.path() / "b", "b");
  write_tree(folder.path() / "c", "a");
  const auto a = inspect(folder.path() / "a")->content_hash;
  CHECK(a != inspect(folder.path() / "b")->content_hash);
  CHECK(a == inspect(folder.path() / "c")->content_hash);
  folder.write("c/lib/libmore.so.1", bytes_of({}));
  const auto more = inspect(folder.path() / "c")->content_hash;
  CHECK(a != more);
  fs::rename(folder.path() / "c/lib/libmore.so.1", folder.path() / "c/lib/libmore.so.2");
  CHECK(more != inspect(folder.path() / "c")->content_hash);
}

TEST_CASE("of trees with equal libraries those with other Python are other builds") {
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  const auto without = inspect(folder.path())->content_hash;
  folder.write("python-hash", "aa\n");
  const auto with = inspect(folder.path())->content_hash;
  CHECK(without != with);
  folder.write("python-hash", "bb\n");
  CHECK(with != inspect(folder.path())->content_hash);
}

TEST_CASE("hashes of more files than are to be known are forgotten, and made again") {
  const test::TemporaryFolder folder;
  FileHashes hashes(2);
  const auto hash_of = [&](const std::string& text) {
    return hashes.of(folder.write(text, text)).value();
  };
  const auto first = hash_of("a");
  hash_of("b");
  CHECK(hashes.known() == 2);
  CHECK(hashes.of(folder.path() / "a").value() == first);
  CHECK(hashes.known() == 2);
  hash_of("c");
  CHECK(hashes.known() == 1);
  CHECK(hashes.of(folder.path() / "a").value() == first);
}

TEST_CASE("a library that is replaced is hashed again") {
  const test::TemporaryFolder folder;
  write_tree(folder.path(), "aa");
  const auto before = inspect(folder.path())->content_hash;
  folder.write("replacement", bytes_of({.symbols = {"bb"}}));
  fs::rename(folder.path() / "replacement", folder.path() / "lib/libtorch_cpu.so");
  CHECK(before != inspect(folder.path())->content_hash);
}

TEST_CASE("a folder that does not exist is not found") {
  CHECK(error_of("/nowhere/at/all").code == ErrorCode::not_found);
}

TEST_CASE("a tree without build-hash is not complete") {
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  fs::remove(folder.path() / "build-hash");
  const auto error = error_of(folder.path());
  CHECK(error.code == ErrorCode::invalid);
  CHECK(mentions(error, "not complete"));
  CHECK(mentions(error, "build-hash"));
}

TEST_CASE("a tree lacks what LibTorch has: each missing part is named") {
  const std::string missing =
      GENERATE("lib/libtorch.so", "lib/libtorch_cpu.so", "lib/libc10.so", "include", "lib");
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  fs::remove_all(folder.path() / missing);
  const auto error = error_of(folder.path());
  CHECK(error.code == ErrorCode::invalid);
  CHECK(mentions(error, missing));
}

TEST_CASE("a link that leads nowhere is an error that names both ends") {
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  fs::remove(folder.path() / "lib/libtorch_cpu.so");
  fs::create_symlink("/gone/libtorch_cpu.so", folder.path() / "lib/libtorch_cpu.so");
  const auto error = error_of(folder.path());
  CHECK(error.code == ErrorCode::invalid);
  CHECK(mentions(error, "lib/libtorch_cpu.so is a link to /gone/libtorch_cpu.so"));
}

TEST_CASE("a library of another machine type is an error that names both types") {
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  folder.write("lib/libc10.so", bytes_of({.machine = EM_S390}));
  const auto error = error_of(folder.path());
  CHECK(error.code == ErrorCode::invalid);
  CHECK(mentions(error, "lib/libc10.so is made for ELF machine 22, this machine is "));
}

TEST_CASE("a file that is not a library, or an executable, is refused") {
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  folder.write("lib/libc10.so", "INPUT(libc10.so.1)\n");
  CHECK(mentions(error_of(folder.path()), "libc10.so is not a library"));
  folder.write("lib/libc10.so", bytes_of({.type = ET_EXEC}));
  CHECK(mentions(error_of(folder.path()), "not a shared library"));
}

TEST_CASE("every cut of a library is an error that names it or leaves a tree, never a crash") {
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  const std::string whole = bytes_of({.soname = "libtorch.so", .needed = {"libtorch_cpu.so"}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    folder.write("lib/libtorch.so", whole.substr(0, size));
    if (const auto tree = inspect(folder.path()); !tree) {
      CHECK(tree.error().code == ErrorCode::invalid);
      CHECK(mentions(tree.error(), "libtorch.so"));
    }
  }
}

TEST_CASE("a build-version that cannot be stored and shown as it is, is refused by name") {
  const std::string version = GENERATE("\xff\xfe", "2.13\x1b[31m");
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  folder.write("build-version", version + "\n");
  const auto error = error_of(folder.path());
  CHECK(error.code == ErrorCode::invalid);
  CHECK(mentions(error, "invalid build-version \"" + printable(version) + "\": must be UTF-8"));
}

TEST_CASE("a mark that is a link is refused: behind it could be a file that only we may read") {
  const std::string mark = GENERATE("build-version", "build-hash");
  const test::TemporaryFolder folder;
  write_tree(folder.path() / "t");
  fs::remove(folder.path() / "t" / mark);
  fs::create_symlink(folder.write("token", "tw_secret"), folder.path() / "t" / mark);
  const auto error = error_of(folder.path() / "t");
  CHECK(mentions(error, mark + " is a link, not a file"));
  CHECK_FALSE(mentions(error, "tw_secret"));
}

TEST_CASE("an empty build-version is an error") {
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  folder.write("build-version", "");
  CHECK(mentions(error_of(folder.path()), "build-version is empty"));
}

}  // namespace
}  // namespace torchwatch::builds
