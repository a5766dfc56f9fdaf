#include "zip_directory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

// Layout and names by PKWARE's APPNOTE, sections 4.3.12 to 4.3.16 and 4.5.3.
constexpr std::uint32_t kMemberSignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocatorSignature = 0x07064b50;
constexpr std::size_t kMemberBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::size_t kCommentBytesMax = 0xffff;
constexpr std::uint16_t kMadeOnUnix = 3;
constexpr std::uint16_t kSizesExtra = 1;
constexpr std::uint32_t kIn64 = 0xffffffff;
constexpr std::uint16_t kIn64Short = 0xffff;
constexpr std::uint64_t kDirectoryBytesMax = 64U << 20U;

/// Reads little-endian numbers; what lies outside is 0, after a look at `has`.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  bool has(std::size_t at, std::size_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }
  template <typename T>
  T number(std::size_t at) const {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T) && has(at + i, 1); ++i) {
      value |=
          static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes_[at + i])) << (8 * i));
    }
    return value;
  }
  std::uint16_t half(std::size_t at) const { return number<std::uint16_t>(at); }
  std::uint32_t word(std::size_t at) const { return number<std::uint32_t>(at); }
  std::uint64_t quad(std::size_t at) const { return number<std::uint64_t>(at); }
  std::string_view part(std::size_t at, std::size_t size) const { return bytes_.substr(at, size); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

class ZipFile {
 public:
  explicit ZipFile(fs::path path) : path_(std::move(path)), file_(path_, std::ios::binary) {
    file_.seekg(0, std::ios::end);
    size_ = file_ ? static_cast<std::uint64_t>(file_.tellg()) : 0;
  }

  bool is_open() const { return file_.is_open(); }
  std::uint64_t size() const { return size_; }
  const fs::path& path() const { return path_; }

  /// Empty where that does not lie in the file.
  std::string read(std::uint64_t offset, std::uint64_t bytes) {
    if (offset > size_ || bytes > size_ - offset) return {};
    std::string text(bytes, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(text.data(), static_cast<std::streamsize>(bytes));
    return file_ ? text : std::string();
  }

 private:
  fs::path path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

tl::unexpected<Error> damaged(const fs::path& path, const std::string& what) {
  return fail(ErrorCode::corrupt, path.string() + " is no whole zip file: " + what);
}

/// Where the directory lies.
struct End {
  std::uint64_t members = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t at = 0;  ///< of the end record itself: the directory ends here
};

/// The record whose comment reaches exactly to the end of the file.
std::optional<std::uint64_t> find_end(const Bytes& tail) {
  for (std::size_t at = tail.size() - std::min(tail.size(), kEndBytes) + 1; at-- > 0;) {
    if (tail.word(at) == kEndSignature && tail.has(at, kEndBytes) &&
        at + kEndBytes + tail.half(at + 20) == tail.size()) {
      return at;
    }
  }
  return {};
}

Result<End> read_end64(ZipFile& file, std::uint64_t end_at) {
  const std::string locator_text =
      end_at < kLocatorBytes ? std::string() : file.read(end_at - kLocatorBytes, kLocatorBytes);
  const Bytes locator(locator_text);
  if (locator.word(0) != kLocatorSignature) return damaged(file.path(), "no locator of its end");
  const std::uint64_t at = locator.quad(8);
  const std::string text = file.read(at, kEnd64Bytes);
  const Bytes record(text);
  if (record.word(0) != kEnd64Signature) return damaged(file.path(), "no 64-bit end record");
  return End{
      .members = record.quad(32), .bytes = record.quad(40), .offset = record.quad(48), .at = at};
}

Result<End> read_end(ZipFile& file) {
  const std::uint64_t tail_bytes =
      std::min<std::uint64_t>(file.size(), kEndBytes + kCommentBytesMax);
  const std::string text = file.read(file.size() - tail_bytes, tail_bytes);
  const Bytes tail(text);
  const auto found = find_end(tail);
  if (!found) return damaged(file.path(), "its directory is missing (cut off?)");
  const std::uint64_t at = file.size() - tail_bytes + *found;
  const Bytes record(tail.part(*found, kEndBytes));
  End end{
      .members = record.half(10), .bytes = record.word(12), .offset = record.word(16), .at = at};
  const bool needs_64 = end.members == kIn64Short || end.bytes == kIn64 || end.offset == kIn64;
  if (needs_64) {
    TW_TRY(end, read_end64(file, at));
  }
  if (end.offset > end.at || end.bytes != end.at - end.offset) {
    return damaged(file.path(), "its directory does not lie before its end");
  }
  return end;
}

/// Sizes that do not fit into 32 bits stand in an extra field, in this order, only those needed.
void read_large_sizes(const Bytes& extra, ZipMember& member) {
  std::size_t at = 0;
  while (extra.has(at, 4) && extra.half(at) != kSizesExtra) at += 4U + extra.half(at + 2);
  at += 4;
  for (std::uint64_t* size : {&member.bytes, &member.packed_bytes}) {
    if (*size != kIn64 || !extra.has(at, 8)) continue;
    *size = extra.quad(at);
    at += 8;
  }
}

}  // namespace

Result<std::vector<ZipMember>> read_zip_directory(const fs::path& path, std::size_t entries_max) {
  ZipFile file(path);
  if (!file.is_open()) return fail(ErrorCode::not_found, "cannot open " + path.string());
  TW_TRY(const End end, read_end(file));
  if (end.members > entries_max || end.bytes > kDirectoryBytesMax) {
    return damaged(path, "more than " + std::to_string(entries_max) + " members");
  }
  const std::string text = file.read(end.offset, end.bytes);
  const Bytes directory(text);
  std::vector<ZipMember> members;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < end.members; ++i) {
    if (!directory.has(at, kMemberBytes) || directory.word(at) != kMemberSignature) {
      return damaged(path, "its directory is damaged");
    }
    const std::size_t name = directory.half(at + 28);
    const std::size_t extra = directory.half(at + 30);
    const std::size_t comment = directory.half(at + 32);
    if (!directory.has(at + kMemberBytes, name + extra + comment)) {
      return damaged(path, "its directory is cut off");
    }
    ZipMember member{.name = std::string(directory.part(at + kMemberBytes, name)),
                     .packed_bytes = directory.word(at + 20),
                     .bytes = directory.word(at + 24),
                     .unix_mode = directory.half(at + 4) >> 8U == kMadeOnUnix
                                      ? directory.word(at + 38) >> 16U
                                      : 0};
    read_large_sizes(Bytes(directory.part(at + kMemberBytes + name, extra)), member);
    if (member.packed_bytes > file.size()) return damaged(path, "a member larger than the file");
    members.push_back(std::move(member));
    at += kMemberBytes + name + extra + comment;
  }
  if (at != directory.size()) return damaged(path, "its directory holds more than its members");
  return members;
}

}  // namespace torchwatch::channel
