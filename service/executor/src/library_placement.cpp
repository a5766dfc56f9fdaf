#include "torchwatch/executor/library_placement.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "torchwatch/figures/figures.hpp"

namespace torchwatch::executor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDominant = "libtorch_cpu.so";
/// Disk space that must remain for results and the system.
constexpr std::uintmax_t kReservedBytes = 64U << 20U;

bool is_copied(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == kDominant || name == "libtorch.so" || name == "libc10.so" ||
         name.starts_with("libgomp");
}

tl::unexpected<Error> failed(const fs::path& path, const std::error_code& error) {
  return fail(ErrorCode::unavailable,
              "placing libraries: " + path.string() + ": " + error.message());
}

Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  if (error) return failed(folder, error);
  return entries;
}

Status check_space(const std::vector<fs::path>& files, const fs::path& scratch) {
  std::error_code error;
  std::uintmax_t needed = kReservedBytes;
  for (const fs::path& file : files) {
    if (!is_copied(file)) continue;
    needed += fs::file_size(file, error);
    if (error) return failed(file, error);
  }
  const fs::space_info space = fs::space(scratch, error);
  if (error) return failed(scratch, error);
  if (space.available >= needed) return {};
  return fail(ErrorCode::unavailable,
              "placing libraries: " + scratch.string() + " has " +
                  figures::bytes(static_cast<std::int64_t>(space.available)) + " left and " +
                  figures::bytes(static_cast<std::int64_t>(needed)) + " are needed",
              "free disk space or set [measure] place_libraries = false");
}

/// Makes a hard link if possible: the loader's canonical path of a library then lies in this
/// folder, like that of the copies. Folders and files of other file systems get a symbolic link.
Status link_entry(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const fs::path real = fs::canonical(from, error);
  if (error) return {};  // a dangling link of the build: nothing to load
  if (fs::is_regular_file(real, error)) {
    fs::create_hard_link(real, to, error);
    if (!error) return {};
    error.clear();
  }
  fs::create_symlink(real, to, error);
  if (error) return failed(to, error);
  return {};
}

Status copy_entry(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error) return failed(to, error);
  return {};
}

Status fill(const std::vector<fs::path>& files, const fs::path& folder) {
  for (const fs::path& file : files) {
    const fs::path to = folder / file.filename();
    TW_TRY_VOID(is_copied(file) ? copy_entry(file, to) : link_entry(file, to));
  }
  return {};
}

/// Links the folders that libraries find by $ORIGIN/.. and $ORIGIN/../../nvidia.
Status link_siblings(const fs::path& libraries, const fs::path& tree) {
  TW_TRY(const auto siblings, entries_of(libraries.parent_path()));
  for (const fs::path& sibling : siblings) {
    if (sibling.filename() == libraries.filename()) continue;
    TW_TRY_VOID(link_entry(sibling, tree / sibling.filename()));
  }
  const fs::path packages = libraries.parent_path().parent_path();
  std::error_code ignored;
  if (!fs::exists(packages / "nvidia", ignored)) return {};
  return link_entry(packages / "nvidia", tree.parent_path() / "nvidia");
}

Result<fs::path> make_root(const fs::path& scratch) {
  std::error_code error;
  fs::create_directories(scratch, error);
  if (error) return failed(scratch, error);
  std::string name = (fs::absolute(scratch) / (std::string(kPlacedPrefix) + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    return failed(scratch, std::error_code(errno, std::generic_category()));
  }
  return fs::path(name);
}

Result<fs::path> dominant_file(const fs::path& libraries) {
  std::error_code error;
  fs::path file = libraries / kDominant;
  if (!fs::is_regular_file(file, error)) {
    return fail(ErrorCode::not_found, "no " + file.string() + ": not the lib/ of a LibTorch build");
  }
  return file;
}

}  // namespace

PlacedLibraries::PlacedLibraries(PlacedLibraries&& other) noexcept
    : root_(std::exchange(other.root_, {})), folder_(std::move(other.folder_)) {}

PlacedLibraries& PlacedLibraries::operator=(PlacedLibraries&& other) noexcept {
  std::swap(root_, other.root_);
  std::swap(folder_, other.folder_);
  return *this;
}

PlacedLibraries::~PlacedLibraries() {
  std::error_code ignored;
  if (!root_.empty()) fs::remove_all(root_, ignored);
}

Result<PlacedLibraries> place(const fs::path& libraries, const fs::path& scratch) {
  TW_TRY(const fs::path dominant, dominant_file(libraries));
  const fs::path source = fs::absolute(dominant).lexically_normal().parent_path();
  TW_TRY(const auto files, entries_of(source));
  TW_TRY(fs::path root, make_root(scratch));
  PlacedLibraries placed(std::move(root));
  TW_TRY_VOID(check_space(files, placed.root_));
  placed.folder_ = placed.root_ / "build" / "lib";
  std::error_code error;
  fs::create_directories(placed.folder_, error);
  if (error) return failed(placed.folder_, error);
  TW_TRY_VOID(fill(files, placed.folder_));
  TW_TRY_VOID(link_siblings(source, placed.folder_.parent_path()));
  return placed;
}

Result<bool> needs_placement(const fs::path& libraries_a, const fs::path& libraries_b) {
  TW_TRY(const fs::path a, dominant_file(libraries_a));
  TW_TRY(const fs::path b, dominant_file(libraries_b));
  std::error_code error;
  const bool is_same = fs::equivalent(a, b, error);
  if (error) return failed(a, error);
  return !is_same;
}

}  // namespace torchwatch::executor
