#include "elf_maker.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <fstream>

namespace torchwatch::test {
namespace {

namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr std::uint16_t kOwnMachine = EM_AARCH64;
#else
constexpr std::uint16_t kOwnMachine = EM_X86_64;
#endif

/// Strings one after the other, each found again by its offset.
class Names {
 public:
  std::uint64_t add(const std::string& name) {
    const std::size_t at = bytes_.size();
    bytes_ += name;
    bytes_ += '\0';
    return at;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

template <typename T>
std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

ElfW(Dyn) entry(std::int64_t tag, std::uint64_t value) {
  ElfW(Dyn) dynamic{};
  dynamic.d_tag = tag;
  dynamic.d_un.d_val = value;
  return dynamic;
}

std::vector<ElfW(Dyn)> entries_of(const ElfLibrary& library, Names& names) {
  std::vector<ElfW(Dyn)> entries;
  for (const auto& name : library.needed) entries.push_back(entry(DT_NEEDED, names.add(name)));
  if (!library.soname.empty()) entries.push_back(entry(DT_SONAME, names.add(library.soname)));
  if (!library.rpath.empty()) entries.push_back(entry(DT_RPATH, names.add(library.rpath)));
  if (!library.runpath.empty()) entries.push_back(entry(DT_RUNPATH, names.add(library.runpath)));
  for (const auto& name : library.symbols) names.add(name);
  return entries;
}

ElfW(Phdr)
    segment(std::uint32_t type, std::uint64_t offset, std::uint64_t address, std::uint64_t size) {
  ElfW(Phdr) header{};
  header.p_type = type;
  header.p_offset = offset;
  header.p_vaddr = address;
  header.p_filesz = size;
  header.p_memsz = size;
  return header;
}

ElfW(Ehdr) file_header(const ElfLibrary& library) {
  ElfW(Ehdr) header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = library.type;
  header.e_machine = library.machine == 0 ? kOwnMachine : library.machine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(ElfW(Phdr));
  header.e_phnum = 2;
  return header;
}

void write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

std::string bytes_of(const ElfLibrary& library) {
  constexpr std::uint64_t kBase = 0x10000;  // addresses differ from offsets, as in real libraries
  Names names;
  auto entries = entries_of(library, names);
  const std::uint64_t dynamic_at = sizeof(ElfW(Ehdr)) + 2 * sizeof(ElfW(Phdr));
  const std::uint64_t dynamic_size = (entries.size() + 3) * sizeof(ElfW(Dyn));
  const std::uint64_t names_at = dynamic_at + dynamic_size;
  entries.push_back(entry(DT_STRTAB, kBase + names_at));
  entries.push_back(entry(DT_STRSZ, names.bytes().size()));
  entries.push_back(entry(DT_NULL, 0));
  const std::uint64_t size = names_at + names.bytes().size();
  std::string bytes = raw(file_header(library)) + raw(segment(PT_LOAD, 0, kBase, size)) +
                      raw(segment(PT_DYNAMIC, dynamic_at, kBase + dynamic_at, dynamic_size));
  for (const auto& dynamic : entries) bytes += raw(dynamic);
  return bytes + names.bytes();
}

void write_tree(const fs::path& folder, const std::string& mark) {
  const fs::path lib = folder / "lib";
  write(lib / "libc10.so",
        bytes_of({.soname = "libc10.so",
                  .symbols = {"_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_"}}));
  write(lib / "libtorch_cpu.so", bytes_of({.soname = "libtorch_cpu.so",
                                           .needed = {"libc10.so"},
                                           .runpath = "$ORIGIN",
                                           .symbols = {mark}}));
  write(lib / "libtorch.so",
        bytes_of({.soname = "libtorch.so", .needed = {"libtorch_cpu.so"}, .runpath = "$ORIGIN"}));
  write(folder / "include" / "torch" / "torch.h", "// torch\n");
  write(folder / "build-version", "2.13.0+cpu\n");
  write(folder / "build-hash", "cf30153c4c131c8164ee7798e5022d810682e2cb\n");
}

}  // namespace torchwatch::test
