#include "torchwatch/channel/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "archive_names.hpp"
#include "torchwatch/builds/sha256.hpp"
#include "torchwatch/doors/publish.hpp"
#include "torchwatch/records/unique_fd.hpp"
#include "zip_directory.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytes = 1U << 20U;
constexpr mode_t kFileMode = 0644;
constexpr mode_t kFolderMode = 0755;

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, FreeArchive>;

/// A new file that is written once.
class NewFile {
 public:
  static Result<NewFile> create(const fs::path& path) {
    NewFile file(
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
    if (!file.fd_.is_open()) return cannot("create", path);
    fchmod(file.fd_.get(), kFileMode);
    return file;
  }
  Status write(std::string_view bytes, const fs::path& path) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return cannot("write", path);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

 private:
  explicit NewFile(int fd) : fd_(fd) {}
  static tl::unexpected<Error> cannot(const std::string& verb, const fs::path& path) {
    const ErrorCode code = errno == EEXIST ? ErrorCode::corrupt : ErrorCode::unavailable;
    return fail(code, "cannot " + verb + " " + path.string() + ": " + strerror(errno));
  }

  UniqueFd fd_;
};

/// libarchive makes files of devices and sockets.
bool is_file_or_folder(std::uint32_t mode) {
  const std::uint32_t type = mode & static_cast<std::uint32_t>(S_IFMT);
  return type == 0 || type == S_IFREG || type == S_IFDIR;
}

class Unpacking {
 public:
  Unpacking(const fs::path& zip, const fs::path& folder, const ArchiveLimits& limits,
            const ArchiveFilter& keep, std::stop_token stop)
      : zip_(zip), folder_(folder), limits_(limits), keep_(keep), stop_(std::move(stop)) {}

  Result<std::vector<ArchiveMember>> run() {
    TW_TRY_VOID(read_directory());
    TW_TRY_VOID(check_space());
    TW_TRY_VOID(open_reader());
    for (;;) {
      archive_entry* entry = nullptr;
      const int rc = archive_read_next_header(reader_.get(), &entry);
      if (rc == ARCHIVE_EOF) break;
      // Anything but OK: libarchive only warns of what makes an archive unfit to be installed.
      if (rc != ARCHIVE_OK) return refuse("", library_error());
      TW_TRY_VOID(take(entry));
    }
    if (!directory_.empty()) {
      return refuse(directory_.begin()->first, "it is in the directory and nowhere else");
    }
    return std::move(members_);
  }

 private:
  tl::unexpected<Error> refuse(const std::string& entry, const std::string& why) const {
    return fail(ErrorCode::corrupt, "archive " + zip_.string() + " is refused: " +
                                        (entry.empty() ? "" : printable(entry) + ": ") + why);
  }

  static std::string printable(std::string name) {
    for (char& c : name) c = c < ' ' || c > '~' ? '?' : c;
    return "\"" + name + "\"";
  }

  std::string library_error() const {
    const char* const text = archive_error_string(reader_.get());
    return text == nullptr ? "unreadable" : text;
  }

  /// All names are looked at before the first file is written.
  Status read_directory() {
    auto members = read_zip_directory(zip_, limits_.entries_max);
    if (!members) return fail(members.error());
    SeenNames seen;
    std::int64_t total = 0;
    for (auto& member : *members) {
      const std::string reason = reason_against(member.name, limits_);
      if (!reason.empty()) return refuse(member.name, reason);
      if (!seen.add(member.name)) return refuse(member.name, "there is another one of that name");
      if (!is_file_or_folder(member.unix_mode)) {
        return refuse(member.name, "it is neither a file nor a folder");
      }
      const auto bytes_max = static_cast<std::uint64_t>(limits_.bytes_max);
      if (member.bytes > bytes_max) return refuse(member.name, "it is too large");
      total += static_cast<std::int64_t>(member.bytes);
      if (total > limits_.bytes_max) return refuse(member.name, "all together is too large");
      if (keep_(member.name)) kept_bytes_ += static_cast<std::int64_t>(member.bytes);
      directory_.emplace(member.name, std::move(member));
    }
    return {};
  }

  Status check_space() const {
    std::error_code error;
    const auto space = fs::space(folder_, error);
    if (error || space.available >= static_cast<std::uintmax_t>(kept_bytes_)) return {};
    return fail(ErrorCode::unavailable,
                "unpacking " + zip_.string() + " takes " + std::to_string(kept_bytes_ >> 20U) +
                    " MiB, and " + folder_.string() + " has only " +
                    std::to_string(space.available >> 20U) + " MiB left: free some space");
  }

  Status open_reader() {
    reader_.reset(archive_read_new());
    // By its directory only: read as a stream, a file without its directory looks whole.
    archive_read_support_format_zip_seekable(reader_.get());
    if (archive_read_open_filename(reader_.get(), zip_.c_str(), kReadBytes) != ARCHIVE_OK) {
      return refuse("", library_error());
    }
    return {};
  }

  Status take(archive_entry* entry) {
    const char* const text = archive_entry_pathname(entry);
    const std::string name = text == nullptr ? "" : text;
    const auto found = directory_.find(name);
    if (found == directory_.end()) return refuse(name, "it is not in the directory");
    const ZipMember member = std::move(found->second);
    directory_.erase(found);
    const auto type = archive_entry_filetype(entry);
    if (archive_entry_is_encrypted(entry) != 0) return refuse(name, "it is encrypted");
    if (archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr ||
        (type != AE_IFREG && type != AE_IFDIR)) {
      return refuse(name, "it is neither a file nor a folder");
    }
    if ((type == AE_IFDIR) != name.ends_with('/')) return refuse(name, "its name does not fit");
    if (type == AE_IFDIR) return take_folder(member);
    return take_file(member);
  }

  Status take_folder(const ZipMember& member) const {
    if (member.bytes != 0) return refuse(member.name, "a folder with content");
    return keep_(member.name) ? make_folders(member.name) : Status();
  }

  /// The folders of a checked name, below the folder that we unpack into.
  Status make_folders(const std::string& name) const {
    for (std::size_t end = name.find('/'); end != std::string::npos;
         end = name.find('/', end + 1)) {
      const fs::path at = folder_ / name.substr(0, end);
      if (mkdir(at.c_str(), kFolderMode) == 0) {
        chmod(at.c_str(), kFolderMode);
      } else if (errno != EEXIST) {
        return fail(ErrorCode::unavailable, "cannot make " + at.string() + ": " + strerror(errno));
      }
    }
    return {};
  }

  Status take_file(const ZipMember& member) {
    const fs::path path = folder_ / member.name;
    std::optional<NewFile> file;
    if (keep_(member.name)) {
      TW_TRY_VOID(make_folders(member.name));
      TW_TRY(NewFile created, NewFile::create(path));
      file.emplace(std::move(created));
    }
    builds::Sha256 hash;
    std::int64_t bytes = 0;
    for (;;) {
      if (stop_.stop_requested()) return fail(ErrorCode::cancelled, "unpacking was stopped");
      const void* block = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      const int rc = archive_read_data_block(reader_.get(), &block, &size, &offset);
      if (rc == ARCHIVE_EOF) break;
      if (rc != ARCHIVE_OK) return refuse(member.name, library_error());
      if (offset != bytes) return refuse(member.name, "it has holes");
      const std::string_view piece(static_cast<const char*>(block), size);
      bytes += static_cast<std::int64_t>(size);
      TW_TRY_VOID(check_size(member, bytes));
      hash.add(piece);
      if (file) TW_TRY_VOID(file->write(piece, path));
    }
    if (bytes != static_cast<std::int64_t>(member.bytes))
      return refuse(member.name, "it is cut off");
    members_.push_back({.name = member.name, .bytes = bytes, .sha256 = hash.digest()});
    return {};
  }

  Status check_size(const ZipMember& member, std::int64_t bytes) const {
    if (bytes > static_cast<std::int64_t>(member.bytes)) {
      return refuse(member.name, "it is larger than the directory says");
    }
    const auto packed = static_cast<std::int64_t>(member.packed_bytes);
    if (bytes > limits_.packing_ratio_from_bytes && bytes / limits_.packing_ratio_max > packed) {
      return refuse(member.name, "it is packed more than " +
                                     std::to_string(limits_.packing_ratio_max) + " to 1");
    }
    return {};
  }

  const fs::path& zip_;
  const fs::path& folder_;
  const ArchiveLimits& limits_;
  const ArchiveFilter& keep_;
  std::stop_token stop_;
  Reader reader_;
  std::map<std::string, ZipMember> directory_;  ///< what is still to come
  std::int64_t kept_bytes_ = 0;
  std::vector<ArchiveMember> members_;
};

}  // namespace

Result<std::vector<ArchiveMember>> unpack_into(const fs::path& zip, const fs::path& folder,
                                               const ArchiveLimits& limits,
                                               const ArchiveFilter& keep, std::stop_token stop) {
  return Unpacking(zip, folder, limits, keep, std::move(stop)).run();
}

Status unpack(const fs::path& zip, const fs::path& folder, const ArchiveLimits& limits,
              std::stop_token stop) {
  TW_TRY(auto partial, doors::PartialFolder::create(folder));
  const auto keep_all = [](std::string_view) { return true; };
  TW_TRY_VOID(unpack_into(zip, partial.path(), limits, keep_all, std::move(stop)));
  return partial.publish();
}

}  // namespace torchwatch::channel
