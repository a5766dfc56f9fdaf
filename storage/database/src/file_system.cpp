#include "file_system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::storage {
namespace {

struct NetworkFileSystem {
  std::int64_t type;
  std::string_view name;
};

// statfs(2) and linux/magic.h. FUSE is not among them: containers run on it locally.
constexpr std::array kNetworkFileSystems{
    NetworkFileSystem{0x6969, "NFS"},        NetworkFileSystem{0xFF534D42, "CIFS"},
    NetworkFileSystem{0xFE534D42, "SMB2"},   NetworkFileSystem{0x517B, "SMB"},
    NetworkFileSystem{0x01021997, "9P"},     NetworkFileSystem{0x00C36400, "Ceph"},
    NetworkFileSystem{0x0BD00BD0, "Lustre"}, NetworkFileSystem{0x47504653, "GPFS"},
    NetworkFileSystem{0x5346414F, "AFS"},    NetworkFileSystem{0x73757245, "Coda"},
    NetworkFileSystem{0x7461636F, "OCFS2"},  NetworkFileSystem{0x01161970, "GFS2"}};

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

tl::unexpected<Error> cannot_hand_over(const std::filesystem::path& file,
                                       const std::filesystem::path& like) {
  return fail(ErrorCode::unavailable, file.string() + " cannot be given owner and mode of " +
                                          like.string() + ": " + std::strerror(errno));
}

}  // namespace

std::string network_file_system(std::int64_t statfs_type) {
  // f_type is signed on some machines: compare the low 32 bits.
  const auto type = statfs_type & 0xFFFFFFFF;
  for (const auto& known : kNetworkFileSystems) {
    if (known.type == type) return std::string(known.name);
  }
  return "";
}

/// Makes the folder and those above it. What is new is synced from below: without its name in the
/// folder above, a power cut would lose a folder with all that was synced in it.
Status make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.empty() || std::filesystem::exists(folder, error)) return {};
  const auto above = folder_of(folder);
  TW_TRY_VOID(make_folder(above));
  const bool is_new = std::filesystem::create_directory(folder, error);
  if (error) {
    return fail(ErrorCode::unavailable,
                "folder " + folder.string() + " cannot be made: " + error.message(),
                "make it, or choose another [storage] path");
  }
  return is_new ? sync_to_disk(above) : Status{};
}

Status prepare_folder_of(const std::filesystem::path& file) {
  const auto folder = folder_of(file);
  TW_TRY_VOID(make_folder(folder));
  struct statfs facts{};
  if (::statfs(folder.c_str(), &facts) != 0) return {};  // opening the file reports the error
  const auto network = network_file_system(facts.f_type);
  if (network.empty()) return {};
  return fail(ErrorCode::invalid,
              file.string() + " is on a network file system (" + network +
                  "), where SQLite's WAL mode is not safe",
              "choose a [storage] path on a local disk");
}

std::optional<FileIdentity> identity_of(const std::filesystem::path& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return FileIdentity{facts.st_dev, facts.st_ino};
}

bool is_exchanged(const std::filesystem::path& path, const FileIdentity& known) {
  if (const auto now = identity_of(path)) return *now != known;
  return errno == ENOENT || errno == ENOTDIR;
}

std::string free_space_note(const std::filesystem::path& file) {
  struct statvfs facts{};
  if (::statvfs(folder_of(file).c_str(), &facts) != 0) return "";
  const auto mebibytes = static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize >> 20U;
  return std::to_string(mebibytes) + " MiB free on its file system";
}

Status take_mode(const std::filesystem::path& file, const std::filesystem::path& like) {
  constexpr mode_t kReadAndWrite = 0666;
  struct stat facts{};
  if (::stat(like.c_str(), &facts) == 0 &&
      ::chmod(file.c_str(), facts.st_mode & kReadAndWrite) == 0) {
    return {};
  }
  return cannot_hand_over(file, like);
}

Status take_owner(const std::filesystem::path& file, const std::filesystem::path& like) {
  struct stat facts{};
  if (::geteuid() != 0) return {};
  if (::stat(like.c_str(), &facts) == 0 &&
      ::lchown(file.c_str(), facts.st_uid, facts.st_gid) == 0) {
    return {};
  }
  return cannot_hand_over(file, like);
}

Status sync_to_disk(const std::filesystem::path& path) {
  const UniqueFd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.is_open() && ::fsync(opened.get()) == 0) return {};
  return fail(ErrorCode::unavailable,
              path.string() + " cannot be synced to the disk: " + std::strerror(errno));
}

}  // namespace torchwatch::storage
