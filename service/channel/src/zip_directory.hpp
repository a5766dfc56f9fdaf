#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::channel {

struct ZipMember {
  std::string name;  ///< every byte of it: libarchive gives names up to the first zero byte only
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint32_t unix_mode = 0;  ///< st_mode; 0: not archived on Unix
};

/// The central directory of a zip file, which libarchive reads as well but shows in parts: here
/// are exact names and the sizes of packed members. Nothing is believed: whoever unpacks compares
/// both. Errors: corrupt (no zip, cut off, more than `entries_max` members), not_found.
Result<std::vector<ZipMember>> read_zip_directory(const std::filesystem::path&,
                                                  std::size_t entries_max);

}  // namespace torchwatch::channel
