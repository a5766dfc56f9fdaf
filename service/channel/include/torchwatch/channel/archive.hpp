#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::channel {

/// What an archive may hold (reliability.md section 5). One entry over it and all is refused.
struct ArchiveLimits {
  std::size_t entries_max = 50'000;
  std::int64_t bytes_max = std::int64_t{12} << 30;   ///< unpacked, all together
  std::int64_t packing_ratio_max = 200;              ///< of an entry, from ...
  std::int64_t packing_ratio_from_bytes = 10 << 20;  ///< ... this size on
  std::size_t depth_max = 32;
  std::size_t name_part_bytes_max = 255;
};

struct ArchiveMember {
  std::string name;
  std::int64_t bytes = 0;
  std::string sha256;  ///< of its content, 32 raw bytes
};

/// Which of the files are to be written. All are read and checked.
using ArchiveFilter = std::function<bool(std::string_view name)>;

/// Unpacks a zip file into a folder that was made for it and is thrown away on an error: the whole
/// archive is refused at its first bad entry. Bad are: anything but files and folders; a name that
/// is absolute, has `.`, `..`, an empty part, a backslash or anything but printable ASCII in it;
/// two names that differ in case only; a wrong checksum; a directory that is cut off or says other
/// things than the reader found; anything over the limits. Files get mode 0644, folders 0755.
/// Errors: corrupt (naming archive, entry and reason), unavailable (disk), cancelled, not_found.
Result<std::vector<ArchiveMember>> unpack_into(const std::filesystem::path& zip,
                                               const std::filesystem::path& folder,
                                               const ArchiveLimits&, const ArchiveFilter& keep,
                                               std::stop_token stop);

/// The same with all files into `folder`, which appears whole or not at all. Errors: also conflict
/// (the folder exists).
Status unpack(const std::filesystem::path& zip, const std::filesystem::path& folder,
              const ArchiveLimits&, std::stop_token stop);

}  // namespace torchwatch::channel
