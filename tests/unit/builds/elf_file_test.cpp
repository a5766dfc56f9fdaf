#include "torchwatch/builds/elf_file.hpp"

#include <catch2/catch.hpp>

#include "elf_maker.hpp"
#include "temporary_folder.hpp"

namespace torchwatch::builds {
namespace {

using test::bytes_of;

TEST_CASE("a library's needs, its name and its search paths are read") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("liba.so", bytes_of({.soname = "liba.so.1",
                                                      .needed = {"libb.so", "libc.so.6"},
                                                      .rpath = "/opt/x",
                                                      .runpath = "$ORIGIN:$ORIGIN/../y"}));
  const auto dynamic = read_elf_dynamic(file);
  REQUIRE(dynamic.has_value());
  CHECK(dynamic->soname == "liba.so.1");
  CHECK(dynamic->needed == std::vector<std::string>{"libb.so", "libc.so.6"});
  CHECK(dynamic->rpath == "/opt/x");
  CHECK(dynamic->runpath == "$ORIGIN:$ORIGIN/../y");
}

TEST_CASE("the names of symbols are found in the table of names") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("liba.so", bytes_of({.symbols = {"some_function"}}));
  const auto names = read_elf_names(file);
  REQUIRE(names.has_value());
  CHECK(names->find("some_function") != std::string::npos);
}

TEST_CASE("every cut of a library is an error or reads the same, never a crash") {
  const test::TemporaryFolder folder;
  const std::string whole = bytes_of({.soname = "liba.so", .needed = {"libb.so"}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto file = folder.write("liba.so", whole.substr(0, size));
    if (const auto dynamic = read_elf_dynamic(file)) {
      CHECK(dynamic->needed == std::vector<std::string>{"libb.so"});
    } else {
      CHECK(dynamic.error().code == ErrorCode::invalid);
      CHECK(dynamic.error().message.find("liba.so") != std::string::npos);
    }
  }
}

TEST_CASE("every changed byte of a library is an error or a reading, never a crash") {
  const test::TemporaryFolder folder;
  const std::string whole = bytes_of({.soname = "liba.so", .needed = {"libb.so"}});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0xff);
    const auto file = folder.write("liba.so", changed);
    const auto dynamic = read_elf_dynamic(file);
    if (!dynamic) CHECK(dynamic.error().code == ErrorCode::invalid);
  }
}

TEST_CASE("text is no library, and this very program is for this machine") {
  const test::TemporaryFolder folder;
  const auto text = read_elf_header(folder.write("libtext.so", "INPUT(libtext.so.1)\n"));
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().code == ErrorCode::invalid);
  const auto own = own_elf_header();
  REQUIRE(own.has_value());
  CHECK_FALSE(machine_name(own->machine).empty());
}

TEST_CASE("a link that leads nowhere is named with its target") {
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink("gone.so", folder.path() / "liba.so");
  const auto header = read_elf_header(folder.path() / "liba.so");
  REQUIRE_FALSE(header.has_value());
  CHECK(header.error().code == ErrorCode::not_found);
  CHECK(header.error().message.find("gone.so") != std::string::npos);
}

}  // namespace
}  // namespace torchwatch::builds
