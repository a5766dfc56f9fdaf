#include "torchwatch/builds/elf_file.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "open_to_read.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameBytesMax = 4096;
constexpr std::size_t kDynamicEntriesMax = 65'536;
constexpr std::size_t kNamesBytesMax = std::size_t{64} << 20U;
constexpr std::size_t kProgramHeadersMax = 1024;

tl::unexpected<Error> damaged(const fs::path& path, const std::string& what) {
  return fail(ErrorCode::invalid, path.string() + " is a damaged library (" + what +
                                      "): fetch or build this tree again");
}

/// An ELF file that is read in pieces: a LibTorch library has hundreds of megabytes.
class Reader {
 public:
  static Result<Reader> open(const fs::path& path) {
    TW_TRY(UniqueFd file, open_to_read(path));
    return Reader(path, std::move(file));
  }

  const fs::path& path() const { return path_; }

  /// Up to `size` bytes; fewer only at the end of the file.
  Result<std::string> read(std::uint64_t offset, std::size_t size) const {
    std::string bytes(size, '\0');
    std::size_t have = 0;
    while (have < size) {
      const ssize_t got =
          pread(file_.get(), bytes.data() + have, size - have, static_cast<off_t>(offset + have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EINVAL) return damaged(path_, "an offset beyond its end");
      if (got < 0) {
        return fail(ErrorCode::unavailable,
                    "cannot read " + path_.string() + ": " + strerror(errno));
      }
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
  }

  template <typename T>
  Result<std::vector<T>> read_array(std::uint64_t offset, std::size_t count) const {
    TW_TRY(const std::string bytes, read(offset, count * sizeof(T)));
    if (bytes.size() != count * sizeof(T)) return damaged(path_, "it ends too early");
    std::vector<T> items(count);
    std::memcpy(items.data(), bytes.data(), bytes.size());
    return items;
  }

 private:
  Reader(fs::path path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  fs::path path_;
  UniqueFd file_;
};

Result<ElfHeader> read_header(const Reader& reader) {
  constexpr std::size_t kUpToMachine = EI_NIDENT + 2 * sizeof(std::uint16_t);
  TW_TRY(const std::string bytes, reader.read(0, kUpToMachine));
  if (bytes.size() < kUpToMachine || !bytes.starts_with(std::string_view(ELFMAG, SELFMAG))) {
    return fail(ErrorCode::invalid, reader.path().string() + " is not a library (no ELF header)");
  }
  const bool is_big = bytes[EI_DATA] == ELFDATA2MSB;
  const auto half = [&](std::size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<std::uint16_t>(is_big ? first << 8U | second : second << 8U | first);
  };
  return ElfHeader{.file_class = static_cast<std::uint8_t>(bytes[EI_CLASS]),
                   .type = half(EI_NIDENT),
                   .machine = half(EI_NIDENT + sizeof(std::uint16_t))};
}

using ProgramHeaders = std::vector<ElfW(Phdr)>;

Result<ProgramHeaders> read_program_headers(const Reader& reader) {
  TW_TRY(const ElfHeader header, read_header(reader));
  constexpr std::uint8_t kOwnClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (header.file_class != kOwnClass) {
    return fail(ErrorCode::invalid, reader.path().string() + " is not for this machine");
  }
  TW_TRY(const auto headers, reader.read_array<ElfW(Ehdr)>(0, 1));
  const auto& elf = headers.front();
  if (elf.e_phnum > kProgramHeadersMax || elf.e_phentsize != sizeof(ElfW(Phdr))) {
    return damaged(reader.path(), "its program headers");
  }
  return reader.read_array<ElfW(Phdr)>(elf.e_phoff, elf.e_phnum);
}

/// Where in the file an address lies.
Result<std::uint64_t> offset_of(const ProgramHeaders& headers, std::uint64_t address,
                                const fs::path& path) {
  for (const auto& header : headers) {
    if (header.p_type != PT_LOAD || address < header.p_vaddr) continue;
    if (address - header.p_vaddr < header.p_filesz) {
      return header.p_offset + (address - header.p_vaddr);
    }
  }
  return damaged(path, "an address outside of it");
}

struct DynamicSection {
  std::vector<ElfW(Dyn)> entries;
  std::uint64_t names_offset = 0;
  std::uint64_t names_size = 0;
};

Result<DynamicSection> read_section(const Reader& reader) {
  TW_TRY(const ProgramHeaders headers, read_program_headers(reader));
  const auto dynamic = std::ranges::find(headers, static_cast<ElfW(Word)>(PT_DYNAMIC),
                                         [](const auto& header) { return header.p_type; });
  if (dynamic == headers.end()) return damaged(reader.path(), "it has no dynamic section");
  const std::size_t count = dynamic->p_filesz / sizeof(ElfW(Dyn));
  if (count > kDynamicEntriesMax) return damaged(reader.path(), "its dynamic section is too long");
  DynamicSection section;
  TW_TRY(section.entries, reader.read_array<ElfW(Dyn)>(dynamic->p_offset, count));
  std::uint64_t names_address = 0;
  for (const auto& entry : section.entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) names_address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) section.names_size = entry.d_un.d_val;
  }
  TW_TRY(section.names_offset, offset_of(headers, names_address, reader.path()));
  return section;
}

Result<std::string> name_at(const Reader& reader, const DynamicSection& section,
                            std::uint64_t index) {
  if (index >= section.names_size) return damaged(reader.path(), "a name outside its table");
  TW_TRY(std::string bytes, reader.read(section.names_offset + index, kNameBytesMax));
  const std::size_t end = bytes.find('\0');
  if (end == std::string::npos) return damaged(reader.path(), "a name without end");
  bytes.resize(end);
  return bytes;
}

/// Where the text of an entry goes; null where nobody wants it.
std::string* member_for(const ElfW(Dyn) & entry, ElfDynamic& dynamic) {
  switch (entry.d_tag) {
    case DT_SONAME:
      return &dynamic.soname;
    case DT_RPATH:
      return &dynamic.rpath;
    case DT_RUNPATH:
      return &dynamic.runpath;
    case DT_NEEDED:
      return &dynamic.needed.emplace_back();
    default:
      return nullptr;
  }
}

}  // namespace

Result<ElfHeader> read_elf_header(const fs::path& path) {
  TW_TRY(const Reader reader, Reader::open(path));
  return read_header(reader);
}

Result<ElfDynamic> read_elf_dynamic(const fs::path& path) {
  TW_TRY(const Reader reader, Reader::open(path));
  TW_TRY(const DynamicSection section, read_section(reader));
  ElfDynamic dynamic;
  for (const auto& entry : section.entries) {
    if (entry.d_tag == DT_NULL) break;
    std::string* target = member_for(entry, dynamic);
    if (target == nullptr) continue;
    TW_TRY(*target, name_at(reader, section, entry.d_un.d_val));
  }
  return dynamic;
}

Result<std::string> read_elf_names(const fs::path& path) {
  TW_TRY(const Reader reader, Reader::open(path));
  TW_TRY(const DynamicSection section, read_section(reader));
  if (section.names_size > kNamesBytesMax) return damaged(path, "its table of names is too long");
  return reader.read(section.names_offset, section.names_size);
}

std::string machine_name(std::uint16_t machine) {
  if (machine == EM_X86_64) return "x86-64";
  if (machine == EM_AARCH64) return "AArch64";
  if (machine == EM_386) return "x86 (32 bit)";
  if (machine == EM_PPC64) return "PowerPC64";
  return "ELF machine " + std::to_string(machine);
}

Result<ElfHeader> own_elf_header() {
  return read_elf_header("/proc/self/exe");
}

}  // namespace torchwatch::builds
