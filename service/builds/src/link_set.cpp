#include "link_set.hpp"

#include <string_view>

#include "torchwatch/builds/elf_file.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

/// The C++ ABI is in the name of a function that every build exports. Any other symbol with
/// __cxx11 proves nothing: builds of the old ABI export some (releases.md 1).
Result<int> read_abi(const fs::path& library) {
  TW_TRY(const std::string names, read_elf_names(library));
  bool is_there = false;
  for (std::size_t begin = 0; begin < names.size();) {
    const std::string_view name(names.c_str() + begin);
    begin += name.size() + 1;
    if (name.find("torchCheckFail") == std::string::npos) continue;
    is_there = true;
    if (name.find("__cxx11") != std::string::npos) return 1;
  }
  if (is_there) return 0;
  return fail(ErrorCode::invalid, "cannot read the C++ ABI of " + library.string() +
                                      ": it has no c10::detail::torchCheckFail; is it LibTorch's?");
}

}  // namespace

Result<LinkSet> link_set_of(const Tree& tree, const LibrarySearch& machine) {
  const fs::path lib = tree.folder / "lib";
  // Runs have the tree's lib/ in LD_LIBRARY_PATH; a planted build's libtorch.so has no RUNPATH.
  const LibrarySearch search = machine.with(lib);
  TW_TRY(const auto cpu_needs, search.needs_of(lib / "libtorch_cpu.so"));
  if (!cpu_needs.missing.empty()) {
    const auto& missing = cpu_needs.missing.front();
    return fail(ErrorCode::invalid, missing.needed_by.string() + " needs " + missing.name +
                                        ", which is not on this machine: put it beside it");
  }
  TW_TRY(const auto all_needs, search.needs_of(lib / "libtorch.so"));
  const bool is_whole = all_needs.missing.empty();
  LinkSet set{.libraries = {"torch_cpu", "c10"},
              .folders = is_whole ? all_needs.folders : cpu_needs.folders};
  if (is_whole) set.libraries.insert(set.libraries.begin(), "torch");
  TW_TRY(set.cxx11_abi, read_abi(lib / "libc10.so"));
  return set;
}

}  // namespace torchwatch::builds
