#include "torchwatch/builds/library_search.hpp"

#include <catch2/catch.hpp>

#include "elf_maker.hpp"
#include "link_set.hpp"
#include "temporary_folder.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::write_tree;

std::vector<std::string> missing_in(const LibraryNeeds& needs) {
  std::vector<std::string> names;
  for (const auto& missing : needs.missing) names.push_back(missing.name);
  return names;
}

TEST_CASE("needs are found by RUNPATH, the environment and the system, and in turn by theirs") {
  const test::TemporaryFolder folder;
  folder.write("system/libc.so.6", bytes_of({}));
  folder.write("environment/liba.so", bytes_of({.needed = {"libc.so.6"}}));
  folder.write("beside/libb.so", bytes_of({.needed = {"libgone.so", "libc.so.6"}}));
  const auto top =
      folder.write("lib/libtop.so",
                   bytes_of({.needed = {"liba.so", "libb.so"}, .runpath = "$ORIGIN/../beside"}));
  const LibrarySearch search({folder.path() / "environment"}, {folder.path() / "system"});
  const auto needs = search.needs_of(top);
  REQUIRE(needs.has_value());
  CHECK(missing_in(*needs) == std::vector<std::string>{"libgone.so"});
  CHECK(needs->missing[0].needed_by.filename() == "libb.so");
  CHECK(needs->folders ==
        std::vector<fs::path>{folder.path() / "environment", folder.path() / "lib/../beside"});
}

TEST_CASE("an RPATH counts for those it loads, a RUNPATH does not") {
  const bool by_rpath = GENERATE(true, false);
  const test::TemporaryFolder folder;
  folder.write("x/liba.so", bytes_of({.needed = {"libb.so"}}));
  folder.write("x/libb.so", bytes_of({}));
  const std::string path = "$ORIGIN/x";
  const auto top =
      folder.write("libtop.so", bytes_of({.needed = {"liba.so"},
                                          .rpath = by_rpath ? path : std::string(),
                                          .runpath = by_rpath ? std::string() : path}));
  const auto needs = LibrarySearch({}, {}).needs_of(top);
  REQUIRE(needs.has_value());
  CHECK(needs->missing.empty() == by_rpath);
}

TEST_CASE("libraries that need each other are looked at once") {
  const test::TemporaryFolder folder;
  folder.write("libb.so", bytes_of({.needed = {"liba.so"}, .runpath = "$ORIGIN"}));
  const auto top = folder.write("liba.so", bytes_of({.needed = {"libb.so"}, .runpath = "$ORIGIN"}));
  const auto needs = LibrarySearch({}, {}).needs_of(top);
  REQUIRE(needs.has_value());
  CHECK(needs->missing.empty());
}

TEST_CASE("libtorch is linked where everything it needs is present, its CPU part alone elsewhere") {
  const test::TemporaryFolder folder;
  const bool has_cuda = GENERATE(true, false);
  write_tree(folder.path(), "a", has_cuda);
  const auto set = link_set_of(*inspect(folder.path()), LibrarySearch({}, {}));
  REQUIRE(set.has_value());
  const std::vector<std::string> cpu_part{"torch_cpu", "c10"};
  const std::vector<std::string> all{"torch", "torch_cpu", "c10"};
  CHECK(set->libraries == (has_cuda ? cpu_part : all));
  CHECK(set->cxx11_abi == 1);
}

TEST_CASE("a planted build's libtorch has no search path of its own and is linked all the same") {
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  folder.write("lib/libtorch.so",
               bytes_of({.soname = "libtorch.so", .needed = {"libtorch_cpu.so"}}));
  const auto set = link_set_of(*inspect(folder.path()), LibrarySearch({}, {}));
  REQUIRE(set.has_value());
  CHECK(set->libraries.front() == "torch");
}

TEST_CASE("a tree whose CPU part cannot be loaded is refused with the library's name") {
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  folder.write("lib/libtorch_cpu.so", bytes_of({.needed = {"libcudart.so.13"}}));
  const auto set = link_set_of(*inspect(folder.path()), LibrarySearch({}, {}));
  REQUIRE_FALSE(set.has_value());
  CHECK(set.error().code == ErrorCode::invalid);
  CHECK(set.error().message.find("libtorch_cpu.so needs libcudart.so.13") != std::string::npos);
}

TEST_CASE("the ABI is read from torchCheckFail alone, whatever else has __cxx11 in its name") {
  const test::TemporaryFolder folder;
  write_tree(folder.path());
  folder.write("lib/libc10.so",
               bytes_of({.symbols = {"_ZNKSt7__cxx1112basic_stringIcE3endEv",
                                     "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"}}));
  CHECK(link_set_of(*inspect(folder.path()), LibrarySearch({}, {}))->cxx11_abi == 0);
  folder.write("lib/libc10.so", bytes_of({.symbols = {"_ZNKSt7__cxx1112basic_stringIcE3endEv"}}));
  const auto set = link_set_of(*inspect(folder.path()), LibrarySearch({}, {}));
  REQUIRE_FALSE(set.has_value());
  CHECK(set.error().message.find("libc10.so") != std::string::npos);
}

}  // namespace
}  // namespace torchwatch::builds
