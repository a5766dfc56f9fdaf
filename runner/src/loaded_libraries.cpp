#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "facts.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::runner {
namespace {

namespace fs = std::filesystem;

struct Library {
  fs::path path;
  std::string build_id;
};

/// Searches one note segment, as mapped by the loader, for GNU's build id.
std::string build_id_in(const unsigned char* note, std::size_t size) {
  const auto padded = [](std::size_t bytes) { return (bytes + 3U) & ~std::size_t{3}; };
  const auto* const end = note + size;
  while (std::cmp_less_equal(sizeof(ElfW(Nhdr)), end - note)) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    const auto* name = note + sizeof header;
    const auto* content = name + padded(header.n_namesz);
    if (std::cmp_greater(header.n_descsz, end - content)) break;
    const bool is_gnu = header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0;
    if (is_gnu && header.n_type == NT_GNU_BUILD_ID) {
      return hex_of({reinterpret_cast<const char*>(content), header.n_descsz});
    }
    note = content + padded(header.n_descsz);
  }
  return {};
}

int collect(dl_phdr_info* info, std::size_t, void* out) {
  const std::string_view name = info->dlpi_name;
  if (name.find('/') == std::string_view::npos) return 0;  // the program itself, the vdso
  Library library;
  std::error_code ignored;
  library.path = fs::canonical(name, ignored);
  if (library.path.empty()) library.path = name;
  for (ElfW(Half) i = 0; i < info->dlpi_phnum && library.build_id.empty(); ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // The loader tells addresses as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* note = reinterpret_cast<const unsigned char*>(info->dlpi_addr + segment.p_vaddr);
    library.build_id = build_id_in(note, segment.p_memsz);
  }
  static_cast<std::vector<Library>*>(out)->push_back(std::move(library));
  return 0;
}

/// Returns whether this program needs the library with every build. The others differ from build to
/// build (a wheel brings libraries of its own), so they do not describe the machine.
bool is_of_the_machine(const std::string& name) {
  constexpr std::array kOwn{"libc.so", "libm.so", "libstdc++.so", "libgcc_s.so"};
  return std::ranges::any_of(kOwn, [&](const char* own) { return name.starts_with(own); });
}

/// Returns whether the library lies in a system folder, where one name can lead to different files.
bool is_installed(const fs::path& path) {
  const auto text = path.string();
  return text.starts_with("/usr/") || text.starts_with("/lib");
}

}  // namespace

std::map<std::string, std::string> library_facts() {
  std::vector<Library> libraries;
  dl_iterate_phdr(collect, &libraries);
  std::map<std::string, std::string> facts;
  for (const auto& [path, build_id] : libraries) {
    const auto name = path.filename().string();
    const auto id = build_id.empty() ? std::string("no build id") : build_id;
    const std::string key = (is_of_the_machine(name) ? "library." : "build.library.") + name;
    facts[key] = is_installed(path) ? path.string() + " " + id : id;
  }
  return facts;
}

}  // namespace torchwatch::runner
