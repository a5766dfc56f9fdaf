#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::builds {

struct ElfHeader {
  std::uint8_t file_class = 0;  ///< ELFCLASS64 ...
  std::uint16_t type = 0;       ///< ET_DYN ...
  std::uint16_t machine = 0;    ///< EM_X86_64 ...
};

/// What the loader is told by a shared library.
struct ElfDynamic {
  std::string soname;
  std::vector<std::string> needed;  ///< DT_NEEDED, in the file's order
  std::string rpath;                ///< DT_RPATH: also counts for the libraries it loads
  std::string runpath;              ///< DT_RUNPATH: counts for its own needs only
};

/// Errors: not_found, invalid (no ELF file), unavailable.
Result<ElfHeader> read_elf_header(const std::filesystem::path&);

/// For files of this machine's class and byte order. Errors: as above; invalid also for a damaged
/// file or one without a dynamic section.
Result<ElfDynamic> read_elf_dynamic(const std::filesystem::path&);

/// The string table of the dynamic section: symbol and library names, each ended by a zero byte.
/// Errors: as above; invalid when it is longer than 64 MiB.
Result<std::string> read_elf_names(const std::filesystem::path&);

/// "x86-64", "AArch64", "ELF machine 243".
std::string machine_name(std::uint16_t machine);

/// The machine that this very process was compiled for. Errors: unavailable (/proc not mounted).
Result<ElfHeader> own_elf_header();

}  // namespace torchwatch::builds
