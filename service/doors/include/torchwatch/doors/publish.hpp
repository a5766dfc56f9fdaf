#pragma once

#include <filesystem>
#include <string_view>

#include "torchwatch/records/error.hpp"

namespace torchwatch::doors {

/// Writes `path` so that it is there whole or not at all, also after a power cut:
/// path.partial, fsync, rename, fsync of the folder.
Status publish_file(const std::filesystem::path& path, std::string_view bytes);

/// A folder in the making beside its final place (`<final>.partial`, emptied first). Published by
/// fsync of everything in it and a rename; removed again when it goes out of scope unpublished.
class PartialFolder {
 public:
  static Result<PartialFolder> create(std::filesystem::path final_folder);
  PartialFolder(PartialFolder&&) noexcept;
  PartialFolder& operator=(PartialFolder&&) noexcept;
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;
  ~PartialFolder();

  const std::filesystem::path& path() const { return partial_; }
  /// Makes the folder visible under its final name. Errors: conflict when that exists already.
  Status publish();

 private:
  explicit PartialFolder(std::filesystem::path final_folder);
  std::filesystem::path final_;
  std::filesystem::path partial_;  ///< empty once published or moved from
};

/// Whole content of a file of at most `bytes_max` bytes.
Result<std::string> read_file(const std::filesystem::path&, std::size_t bytes_max);

}  // namespace torchwatch::doors
