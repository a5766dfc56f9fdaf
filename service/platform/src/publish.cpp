#include "torchwatch/platform/publish.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <vector>

#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::platform {
namespace {

namespace fs = std::filesystem;

/// Up to this many files are flushed one by one; a LibTorch tree has ten thousand headers, for
/// which one flush of the whole file system is quicker by minutes.
constexpr std::size_t kFlushSinglyMax = 256;

tl::unexpected<Error> failed(const std::string& doing, const fs::path& path, int error) {
  const auto code = error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
  return fail(code, doing + " " + path.string() + ": " + std::strerror(error));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

fs::path partial_of(fs::path path) {
  return path += ".partial";
}

fs::path marked(fs::path path, std::string_view mark) {
  return (path += ".") += mark;
}

Status write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("cannot write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status flush(const fs::path& path, int flags) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (!fd.is_open()) return failed("cannot open", path, errno);
  if (fsync(fd.get()) != 0) return failed("cannot flush", path, errno);
  return {};
}

Status flush_file_system(const fs::path& folder) {
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (!fd.is_open()) return failed("cannot open", folder, errno);
  if (syncfs(fd.get()) != 0) return failed("cannot flush the file system of", folder, errno);
  return {};
}

struct Tree {
  std::vector<fs::path> files;
  std::vector<fs::path> folders;
};

Result<Tree> list_tree(const fs::path& root) {
  Tree tree{.files = {}, .folders = {root}};
  std::error_code error;
  fs::recursive_directory_iterator entry(root, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const auto status = entry->symlink_status(error);
    if (error) break;
    if (fs::is_directory(status)) tree.folders.push_back(entry->path());
    if (fs::is_regular_file(status)) tree.files.push_back(entry->path());
  }
  if (error) return failed("cannot list", root, error.value());
  return tree;
}

Status flush_tree(const fs::path& root) {
  TW_TRY(const Tree tree, list_tree(root));
  if (tree.files.size() + tree.folders.size() > kFlushSinglyMax) return flush_file_system(root);
  for (const auto& file : tree.files) TW_TRY_VOID(flush(file, 0));
  for (const auto& folder : tree.folders) TW_TRY_VOID(flush(folder, O_DIRECTORY));
  return {};
}

/// What is missing is the folder: the file itself is made here.
tl::unexpected<Error> cannot_create(const fs::path& path, int error) {
  if (error != ENOENT) return failed("cannot create", path, error);
  return fail(ErrorCode::not_found, "there is no folder " + folder_of(path).string(),
              "make it first, or name another");
}

Status write_flushed(const fs::path& path, std::string_view bytes) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.is_open()) return cannot_create(path, errno);
  TW_TRY_VOID(write_all(fd.get(), bytes, path));
  if (fsync(fd.get()) != 0) return failed("cannot flush", path, errno);
  return {};
}

Status rename_file(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return failed("cannot rename to", to, errno);
  return flush(folder_of(to), O_DIRECTORY);
}

Status rename_folder(const fs::path& from, const fs::path& to) {
  int rc = renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  if (rc != 0 && errno == EINVAL) {  // a file system that has no such flag
    errno = EEXIST;
    if (!fs::exists(fs::symlink_status(to))) rc = std::rename(from.c_str(), to.c_str());
  }
  if (rc != 0 && errno == EEXIST) {
    return fail(ErrorCode::conflict, to.string() + " exists already; it is left as it is");
  }
  if (rc != 0) return failed("cannot rename to", to, errno);
  return flush(folder_of(to), O_DIRECTORY);
}

Status write_and_rename(const fs::path& partial, const fs::path& path, std::string_view bytes) {
  TW_TRY_VOID(write_flushed(partial, bytes));
  TW_TRY_VOID(failpoint("publish.before_file_rename"));
  return rename_file(partial, path);
}

tl::unexpected<Error> cannot_open(const fs::path& path, int error) {
  std::error_code ignored;
  if (error == ENOENT && fs::is_symlink(path, ignored)) {
    return fail(ErrorCode::not_found, path.string() + " is a link to " +
                                          fs::read_symlink(path, ignored).string() +
                                          ", which does not exist");
  }
  if (error == ELOOP) return fail(ErrorCode::invalid, path.string() + " is a link, not a file");
  return failed("cannot open", path, error);
}

/// Opens a regular file with these flags beside those of every reading.
Result<UniqueFd> open_regular(const fs::path& path, int flags) {
  // Non-blocking, so that a pipe put in the file's place cannot hold the reader.
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
  if (!file.is_open()) return cannot_open(path, errno);
  struct stat about{};
  if (fstat(file.get(), &about) != 0) return cannot_open(path, errno);
  if (!S_ISREG(about.st_mode)) {
    return fail(ErrorCode::invalid, path.string() + " is not a regular file");
  }
  return file;
}

/// Returns what the open file holds; `path` is its name for messages.
Result<std::string> read_open(const UniqueFd& file, const fs::path& path, std::size_t bytes_max) {
  std::string bytes;
  std::array<char, 1U << 16U> block{};
  for (;;) {
    const ssize_t got = read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("cannot read", path, errno);
    if (got == 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(got));
    if (bytes.size() > bytes_max) {
      return fail(ErrorCode::corrupt, path.string() + " is larger than the " +
                                          std::to_string(bytes_max) + " bytes allowed for it");
    }
  }
}

}  // namespace

Status publish_file(const fs::path& path, std::string_view bytes) {
  const fs::path partial = partial_of(path);
  auto status = write_and_rename(partial, path, bytes);
  std::error_code ignored;
  if (!status) fs::remove(partial, ignored);
  return status;
}

PartialFolder::PartialFolder(fs::path final_folder, std::string_view mark)
    : final_(std::move(final_folder)),
      partial_(partial_of(mark.empty() ? final_ : marked(final_, mark))) {}

Result<PartialFolder> PartialFolder::create(fs::path final_folder, std::string_view mark) {
  if (!final_folder.has_filename()) final_folder = final_folder.parent_path();
  PartialFolder folder(std::move(final_folder), mark);
  std::error_code error;
  fs::remove_all(folder.partial_, error);
  if (!error) fs::create_directories(folder.partial_, error);
  if (error) return failed("cannot make the folder", folder.partial_, error.value());
  return folder;
}

PartialFolder::PartialFolder(PartialFolder&& other) noexcept
    : final_(std::move(other.final_)), partial_(std::exchange(other.partial_, {})) {}

PartialFolder& PartialFolder::operator=(PartialFolder&& other) noexcept {
  std::swap(final_, other.final_);
  std::swap(partial_, other.partial_);
  return *this;
}

PartialFolder::~PartialFolder() {
  std::error_code ignored;
  if (!partial_.empty()) fs::remove_all(partial_, ignored);
}

Status PartialFolder::publish() {
  TW_TRY_VOID(flush_tree(partial_));
  TW_TRY_VOID(failpoint("publish.before_folder_rename"));
  TW_TRY_VOID(rename_folder(partial_, final_));
  partial_.clear();
  return {};
}

Result<UniqueFd> open_to_read(const fs::path& path) {
  return open_regular(path, 0);
}

Result<std::string> read_file(const fs::path& path, std::size_t bytes_max) {
  TW_TRY(const UniqueFd file, open_regular(path, 0));
  return read_open(file, path, bytes_max);
}

Result<std::string> read_foreign_file(const fs::path& path, std::size_t bytes_max) {
  TW_TRY(const UniqueFd file, open_regular(path, O_NOFOLLOW));
  return read_open(file, path, bytes_max);
}

}  // namespace torchwatch::platform
