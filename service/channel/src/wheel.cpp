#include "wheel.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "torchwatch/doors/publish.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRecordBytesMax = 16U << 20U;
constexpr std::size_t kSha256Bytes = 32;
constexpr std::string_view kRecordSuffix = ".dist-info/RECORD";

/// NAME.dist-info/RECORD at the wheel's root.
bool is_record(std::string_view name) {
  return name.ends_with(kRecordSuffix) && std::ranges::count(name, '/') == 1;
}

/// Fields of one line. A field in quotes has its quotes doubled.
std::vector<std::string> split_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

/// 43 digits of base64 for URLs, unpadded, as bytes; empty: they are not that.
std::string decode_sha256(std::string digits) {
  constexpr std::size_t kDigits = 43;
  if (digits.size() != kDigits) return {};
  std::ranges::replace(digits, '-', '+');
  std::ranges::replace(digits, '_', '/');
  digits += '=';
  std::array<unsigned char, kSha256Bytes + 1> bytes{};
  const int size =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(digits.data()),
                      static_cast<int>(digits.size()));
  if (size != static_cast<int>(bytes.size())) return {};
  return {bytes.begin(), bytes.begin() + kSha256Bytes};
}

tl::unexpected<Error> corrupt(const std::string& what) {
  return fail(ErrorCode::corrupt, "RECORD: " + what);
}

}  // namespace

Result<std::vector<RecordLine>> parse_record(const std::string& text) {
  constexpr std::size_t kFields = 3;
  constexpr std::string_view kAlgorithm = "sha256=";
  std::vector<RecordLine> record;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line == "\r") continue;
    const auto fields = split_fields(line);
    if (fields.size() != kFields || fields[0].empty()) {
      return corrupt("the line \"" + line + "\" is not `name,hash,size`");
    }
    RecordLine entry{.name = fields[0], .sha256 = {}};
    if (!fields[1].empty()) {
      if (fields[1].starts_with(kAlgorithm)) {
        entry.sha256 = decode_sha256(fields[1].substr(kAlgorithm.size()));
      }
      if (entry.sha256.empty()) return corrupt("the hash of " + entry.name + " is no sha256");
    }
    record.push_back(std::move(entry));
  }
  return record;
}

Status check_against_record(const std::vector<ArchiveMember>& members,
                            const std::vector<RecordLine>& record, const std::string& record_name) {
  std::map<std::string, std::string> listed;
  for (const auto& line : record) {
    if (!listed.emplace(line.name, line.sha256).second)
      return corrupt(line.name + " is listed twice");
  }
  for (const auto& member : members) {
    const auto line = listed.find(member.name);
    if (line == listed.end()) return corrupt(member.name + " is not listed");
    const bool is_exempt = member.name == record_name;
    if (!is_exempt && line->second != member.sha256) {
      return corrupt(member.name + (line->second.empty() ? " has no hash" : " has another hash"));
    }
    listed.erase(line);
  }
  if (!listed.empty()) return corrupt(listed.begin()->first + " is listed and not there");
  return {};
}

Status unpack_wheel(const fs::path& wheel, const fs::path& folder, const ArchiveLimits& limits,
                    const ArchiveFilter& keep, std::stop_token stop) {
  const auto keep_record_too = [&](std::string_view name) { return is_record(name) || keep(name); };
  TW_TRY(const auto members, unpack_into(wheel, folder, limits, keep_record_too, std::move(stop)));
  const auto record =
      std::ranges::find_if(members, [](const auto& member) { return is_record(member.name); });
  if (record == members.end()) {
    return fail(ErrorCode::corrupt, wheel.string() + " is no wheel: it has no RECORD");
  }
  TW_TRY(const std::string text, doors::read_file(folder / record->name, kRecordBytesMax));
  auto lines = parse_record(text);
  auto checked =
      lines ? check_against_record(members, *lines, record->name) : Status(fail(lines.error()));
  if (!checked) return fail(checked.error().within("wheel " + wheel.string() + " is refused"));
  return {};
}

}  // namespace torchwatch::channel
