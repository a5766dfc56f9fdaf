#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace torchwatch::test {

/// A shared library for tests that nobody will load: its ELF header, its dynamic section and the
/// names in it, and nothing else.
struct ElfLibrary {
  std::string soname = {};
  std::vector<std::string> needed = {};
  std::string rpath = {};
  std::string runpath = {};
  std::vector<std::string> symbols = {};  ///< names in the table of names
  std::uint16_t machine = 0;              ///< 0: this machine's
  std::uint16_t type = 3;                 ///< ET_DYN
};

/// The bytes of its file.
std::string bytes_of(const ElfLibrary&);

/// A small LibTorch tree of such libraries, complete. `mark` makes the contents differ.
void write_tree(const std::filesystem::path& folder, const std::string& mark = "a");

}  // namespace torchwatch::test
