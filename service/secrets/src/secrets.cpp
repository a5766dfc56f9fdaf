#include "torchwatch/secrets/secrets.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::secrets {
namespace {

/// Tokens that hold a JWT, and keys of 8,192 bits, are of a few thousand bytes.
constexpr std::size_t kSecretLimitBytes = 16'384;

std::string octal(mode_t mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3) {
    digits += static_cast<char>('0' + ((mode >> shift) & 7U));
  }
  return digits;
}

/// Whether an access list lets nobody read the file but its owner, root and this user: so systemd
/// hands credentials to a service (LoadCredential=), and the bits of the group show the list's
/// mask.
bool is_for_this_user_only(int descriptor) {
  constexpr std::size_t kBytesMax = 4096;
  constexpr std::uint16_t kOwner = 0x01;
  constexpr std::uint16_t kUser = 0x02;
  constexpr std::uint16_t kMask = 0x10;
  struct Entry {
    std::uint16_t tag;
    std::uint16_t rights;
    std::uint32_t id;
  };
  std::array<char, kBytesMax> list{};
  std::size_t at = sizeof(std::uint32_t);  // behind the list's version
  const auto size = ::fgetxattr(descriptor, "system.posix_acl_access", list.data(), list.size());
  if (size < 0) return false;
  for (; at + sizeof(Entry) <= static_cast<std::size_t>(size); at += sizeof(Entry)) {
    Entry entry{};
    std::memcpy(&entry, list.data() + at, sizeof(entry));
    const bool is_ours = entry.tag == kUser && (entry.id == ::geteuid() || entry.id == 0);
    const bool is_harmless = entry.tag == kOwner || entry.tag == kMask || is_ours;
    if (entry.rights != 0 && !is_harmless) return false;
  }
  return true;
}

/// Checks the open file, so that nobody can exchange it between the check and the reading.
Status check_file(int descriptor, const std::string& name) {
  struct stat facts{};
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return fail(ErrorCode::invalid, "secret " + name + " is not a regular file");
  }
  const mode_t mode = facts.st_mode & 07777U;
  const bool is_listed = (mode & ~0640U) == 0 && is_for_this_user_only(descriptor);
  if (mode != 0600 && mode != 0400 && !is_listed) {
    return fail(ErrorCode::invalid,
                "secret " + name + " has mode " + octal(mode) + ", others may read it",
                "run: chmod 600 " + name);
  }
  return {};
}

Result<std::string> read_all(int descriptor, const std::string& name) {
  std::array<char, kSecretLimitBytes + 1> buffer{};
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const auto got = ::read(descriptor, buffer.data() + filled, buffer.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::unavailable, "cannot read secret " + name);
    if (got == 0) return std::string(buffer.data(), filled);
    filled += static_cast<std::size_t>(got);
  }
  return fail(ErrorCode::invalid, "secret " + name + " is longer than 16,384 bytes");
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

Result<std::string> read_secret_text(const std::filesystem::path& path) {
  const std::string name = path.string();
  // Without O_NONBLOCK a pipe put in the file's place would hold the daemon for ever.
  const UniqueFd file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    const auto code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
    return fail(code, "cannot open secret " + name + ": " +
                          std::error_code(errno, std::generic_category()).message());
  }
  TW_TRY_VOID(check_file(file.get(), name));
  TW_TRY(const std::string content, read_all(file.get(), name));
  std::string secret = trimmed(content);
  if (secret.empty()) return fail(ErrorCode::invalid, "secret " + name + " is empty");
  return secret;
}

Result<std::string> read_secret(const std::filesystem::path& path) {
  TW_TRY(auto secret, read_secret_text(path));
  // A line break would end the header that carries the secret.
  const bool is_line = std::none_of(secret.begin(), secret.end(), [](unsigned char character) {
    return std::iscntrl(character) != 0;
  });
  if (is_line) return secret;
  return fail(ErrorCode::invalid, "secret " + path.string() + " is not one line of text");
}

}  // namespace torchwatch::secrets
