#include "zip_maker.hpp"

#include <zlib.h>

#include "torchwatch/builds/sha256.hpp"

namespace torchwatch::test {
namespace {

constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kMadeOnUnix = 3U << 8U | kVersion;
constexpr std::uint16_t kDeflated = 8;

template <typename T>
std::string number(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xffU);
  }
  return bytes;
}
std::string half(std::uint64_t value) {
  return number(static_cast<std::uint16_t>(value));
}
std::string word(std::uint64_t value) {
  return number(static_cast<std::uint32_t>(value));
}

std::string deflated(const std::string& content) {
  constexpr int kRaw = -15;
  constexpr int kMemory = 8;
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kRaw, kMemory, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, content.size()), '\0');
  std::string input = content;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::uint64_t checksum(const ZipEntry& entry) {
  return crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()),
               static_cast<uInt>(entry.content.size())) +
         entry.wrong_crc_by;
}

/// What local header and directory have in common, from "version needed" to the name's length.
std::string common_fields(const ZipEntry& entry, std::size_t packed_size, std::uint64_t size) {
  return half(kVersion) + half(entry.flags) + half(entry.is_packed ? kDeflated : 0) + half(0) +
         half(0x21) + word(checksum(entry)) + word(packed_size) + word(size) +
         half(entry.name.size());
}

std::string base64_for_urls(const std::string& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : bytes) {
    buffer = buffer << 8U | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) text += kDigits[buffer >> (bits - 6) & 63U];
  }
  if (bits > 0) text += kDigits[buffer << (6 - bits) & 63U];
  return text;
}

}  // namespace

std::string zip_of(const std::vector<ZipEntry>& entries) {
  std::string file;
  std::string directory;
  std::size_t listed = 0;
  std::size_t place = 0;
  for (const auto& entry : entries) {
    const std::string packed = entry.is_packed ? deflated(entry.content) : entry.content;
    if (!entry.shares_place) {
      place = file.size();
      file += "PK\x03\x04" + common_fields(entry, packed.size(), entry.content.size()) + half(0) +
              entry.name + packed;
    }
    if (!entry.is_listed) continue;
    const auto size = static_cast<std::uint64_t>(static_cast<std::int64_t>(entry.content.size()) +
                                                 entry.wrong_size_by);
    directory += "PK\x01\x02" + half(kMadeOnUnix) + common_fields(entry, packed.size(), size) +
                 half(0) + half(0) + half(0) + half(0) +
                 word(static_cast<std::uint64_t>(entry.mode) << 16U) + word(place) + entry.name;
    ++listed;
  }
  return file + directory + "PK\x05\x06" + half(0) + half(0) + half(listed) + half(listed) +
         word(directory.size()) + word(file.size()) + half(0);
}

std::vector<ZipEntry> with_record(std::vector<ZipEntry> members, const std::string& name) {
  const std::string record_name = name + ".dist-info/RECORD";
  std::string record;
  for (const auto& member : members) {
    builds::Sha256 hash;
    hash.add(member.content);
    record += member.name + ",sha256=" + base64_for_urls(hash.digest()) + "," +
              std::to_string(member.content.size()) + "\n";
  }
  members.push_back({.name = record_name, .content = record + record_name + ",,\n"});
  return members;
}

}  // namespace torchwatch::test
