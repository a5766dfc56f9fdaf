#include "torchwatch/builds/tree.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "torchwatch/builds/file_hashes.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLineBytesMax = 4096;
constexpr std::array kDemandedLibraries{"libtorch.so", "libtorch_cpu.so", "libc10.so"};

/// Returns the first line of a small file such as build-version.
Result<std::string> read_line(const fs::path& path) {
  TW_TRY(const std::string text, platform::read_foreign_file(path, kLineBytesMax));
  return text.substr(0, text.find_first_of("\r\n"));
}

Result<std::string> read_mark(const fs::path& folder, const char* name) {
  auto line = read_line(folder / name);
  if (!line && line.error().code == ErrorCode::not_found) {
    return fail(ErrorCode::invalid, folder.string() + " is not complete: it has no " + name +
                                        " (written last; is it still being made?)");
  }
  if (line && line->empty()) {
    return fail(ErrorCode::invalid, (folder / name).string() + " is empty: make this build again");
  }
  return line;
}

/// The version is stored and shown as it stands.
Result<std::string> read_version(const fs::path& folder) {
  TW_TRY(auto version, read_mark(folder, "build-version"));
  const auto shown = printable(version);
  if (shown == version) return version;
  return fail(ErrorCode::invalid,
              "invalid build-version \"" + shown + "\": must be UTF-8 without control characters");
}

bool is_library_name(const std::string& name) {
  return name.ends_with(".so") || name.find(".so.") != std::string::npos;
}

/// Returns the libraries in lib/, sorted by name. A folder of such a name is not one of them.
Result<std::vector<fs::path>> libraries_of(const fs::path& folder) {
  std::vector<fs::path> libraries;
  std::error_code error;
  fs::directory_iterator entry(folder / "lib", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code broken_link;
    if (!is_library_name(entry->path().filename().string())) continue;
    if (!entry->is_directory(broken_link)) libraries.push_back(entry->path());
  }
  if (error) {
    return fail(ErrorCode::invalid, folder.string() +
                                        " is not a LibTorch tree: cannot list its lib/ (" +
                                        error.message() + ")");
  }
  std::ranges::sort(libraries);
  return libraries;
}

/// An entry counts as there when it is a link that leads nowhere: that gets an error of its own.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

Status check_demanded(const fs::path& folder) {
  for (const char* name : kDemandedLibraries) {
    if (!is_there(folder / "lib" / name)) {
      return fail(ErrorCode::invalid,
                  folder.string() + " is not a LibTorch tree: it has no lib/" + name,
                  "name the folder that holds lib/ and include/");
    }
  }
  std::error_code ignored;
  if (!fs::is_directory(folder / "include", ignored)) {
    return fail(ErrorCode::invalid, folder.string() + " has no folder include/ (or a link to one " +
                                        "that is gone): runner kits need its headers");
  }
  return {};
}

/// The first bytes of an ELF file, which say for which machine it was made.
struct ElfHeader {
  std::uint8_t file_class = 0;  ///< ELFCLASS64 ...
  std::uint16_t type = 0;       ///< ET_DYN ...
  std::uint16_t machine = 0;    ///< EM_X86_64 ...
};

Result<ElfHeader> read_elf_header(const fs::path& path) {
  TW_TRY(const UniqueFd file, platform::open_to_read(path));
  std::array<unsigned char, EI_NIDENT + 2 * sizeof(std::uint16_t)> bytes{};
  const ssize_t got = pread(file.get(), bytes.data(), bytes.size(), 0);
  if (got < 0) {
    return fail(ErrorCode::unavailable, "cannot read " + path.string() + ": " + strerror(errno));
  }
  if (static_cast<std::size_t>(got) < bytes.size() ||
      std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    return fail(ErrorCode::invalid, path.string() + " is not a library (no ELF header)");
  }
  const bool is_big = bytes[EI_DATA] == ELFDATA2MSB;
  const auto half = [&](std::size_t at) {
    const unsigned high = bytes.at(is_big ? at : at + 1);
    const unsigned low = bytes.at(is_big ? at + 1 : at);
    return static_cast<std::uint16_t>(high << 8U | low);
  };
  return ElfHeader{.file_class = bytes[EI_CLASS],
                   .type = half(EI_NIDENT),
                   .machine = half(EI_NIDENT + sizeof(std::uint16_t))};
}

std::string machine_name(std::uint16_t machine) {
  if (machine == EM_X86_64) return "x86-64";
  if (machine == EM_AARCH64) return "AArch64";
  if (machine == EM_386) return "x86 (32 bit)";
  if (machine == EM_PPC64) return "PowerPC64";
  return "ELF machine " + std::to_string(machine);
}

Status check_library(const fs::path& path, const ElfHeader& own) {
  const auto header = read_elf_header(path);
  if (!header && header.error().code == ErrorCode::unavailable) return fail(header.error());
  if (!header) return fail(header.error().as(ErrorCode::invalid));
  if (header->machine != own.machine || header->file_class != own.file_class) {
    return fail(ErrorCode::invalid, path.string() + " is made for " +
                                        machine_name(header->machine) + ", this machine is " +
                                        machine_name(own.machine) + ": take the build for " +
                                        machine_name(own.machine));
  }
  if (header->type != ET_DYN) {
    return fail(ErrorCode::invalid, path.string() + " is an ELF file but not a shared library");
  }
  return {};
}

/// What decides on what a build computes: its libraries, and the hash of its Python part, if its
/// maker has left one.
Result<std::string> content_hash_of(const fs::path& folder, std::vector<fs::path> contents) {
  if (is_there(folder / kPythonHash)) contents.push_back(folder / kPythonHash);
  digest::Sha256 hash;
  for (const auto& path : contents) {
    TW_TRY(const std::string file_hash, process_file_hashes().of(path));
    hash.add_field(path.filename().string());
    hash.add_field(file_hash);
  }
  return hash.hex();
}

/// A tree that was checked, and not hashed yet.
struct CheckedTree {
  Tree tree;
  std::vector<fs::path> libraries;
};

Result<CheckedTree> checked(const fs::path& folder) {
  std::error_code error;
  fs::path absolute = fs::absolute(folder, error).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  if (error || !fs::is_directory(absolute, error)) {
    return fail(ErrorCode::not_found, "there is no folder " + folder.string());
  }
  CheckedTree checked;
  auto& tree = checked.tree;
  tree.folder = absolute;
  TW_TRY_VOID(check_demanded(absolute));
  TW_TRY(tree.embedded_commit, read_mark(absolute, "build-hash"));
  TW_TRY(tree.version, read_version(absolute));
  if (auto origin = read_line(absolute / kOrigin)) tree.origin = *std::move(origin);
  TW_TRY(checked.libraries, libraries_of(absolute));
  TW_TRY(const ElfHeader own, read_elf_header("/proc/self/exe"));
  for (const auto& path : checked.libraries) TW_TRY_VOID(check_library(path, own));
  return checked;
}

}  // namespace

Result<Tree> inspect(const fs::path& folder) {
  TW_TRY(auto found, checked(folder));
  TW_TRY(found.tree.content_hash, content_hash_of(found.tree.folder, std::move(found.libraries)));
  return std::move(found.tree);
}

Status check_tree(const fs::path& folder) {
  const auto found = checked(folder);
  return found ? Status{} : Status{fail(found.error())};
}

}  // namespace torchwatch::builds
