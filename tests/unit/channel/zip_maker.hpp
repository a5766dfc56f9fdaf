#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace torchwatch::test {

/// One member of a zip file, honest unless told otherwise.
struct ZipEntry {
  std::string name;
  std::string content = {};
  std::uint32_t mode = 0100644;    ///< st_mode, as Unix archivers store it
  bool is_packed = false;          ///< deflated instead of stored
  std::uint32_t wrong_crc_by = 0;  ///< added to the true checksum
  std::int64_t wrong_size_by = 0;  ///< added to the true size, in the directory
  std::uint16_t flags = 0;         ///< 1: says that it is encrypted
  bool is_listed = true;           ///< in the directory
  bool shares_place = false;       ///< its directory entry points to the member before
};

/// A zip file's bytes, hostile ones too: what archivers refuse to write, this does.
std::string zip_of(const std::vector<ZipEntry>&);

/// The members of a wheel with a true RECORD added.
std::vector<ZipEntry> with_record(std::vector<ZipEntry> members, const std::string& name = "x-1");

}  // namespace torchwatch::test
