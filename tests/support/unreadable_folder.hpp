#pragma once

#include <sys/types.h>

#include <filesystem>

namespace torchwatch::test {

/// While it lives, this process can open the folder, but reading its entries fails with EIO, as on
/// a damaged disk; also after the folder was renamed. One at a time. Its source defines readdir():
/// name it among the SOURCES of a test.
class UnreadableFolder {
 public:
  explicit UnreadableFolder(const std::filesystem::path& folder);
  UnreadableFolder(const UnreadableFolder&) = delete;
  UnreadableFolder& operator=(const UnreadableFolder&) = delete;
  ~UnreadableFolder();
};

}  // namespace torchwatch::test
