#pragma once

#include <filesystem>
#include <string>

namespace torchwatch::test {

/// A fresh folder that is removed at the end of its scope; kept, and named on standard error,
/// when TORCHWATCH_KEEP is set, for a look after a failure.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  /// Writes a file in it (folders in between are made) and gives its path.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace torchwatch::test
