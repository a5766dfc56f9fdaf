#pragma once

#include <filesystem>
#include <string_view>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::platform {

/// Writes `path` so that it exists whole or not at all, also after a power cut: path.partial,
/// fsync, rename, fsync of the folder. Errors: not_found (its folder), unavailable.
Status publish_file(const std::filesystem::path& path, std::string_view bytes);

/// A folder that is made beside its final place (`<final>.partial`, emptied first; with a mark
/// `<final>.<mark>.partial`). `publish` flushes everything in it and renames it; the destructor
/// removes one that was not published.
class PartialFolder {
 public:
  /// Makes the empty folder and its parents. Tries that must not share a folder have a mark of
  /// their own each. Errors: unavailable.
  static Result<PartialFolder> create(std::filesystem::path final_folder,
                                      std::string_view mark = {});
  PartialFolder(PartialFolder&&) noexcept;
  PartialFolder& operator=(PartialFolder&&) noexcept;
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;
  ~PartialFolder();

  const std::filesystem::path& path() const { return partial_; }
  /// Makes the folder visible under its final name. Errors: conflict if that exists, unavailable.
  Status publish();

 private:
  PartialFolder(std::filesystem::path final_folder, std::string_view mark);
  std::filesystem::path final_;
  std::filesystem::path partial_;  ///< empty once published or moved from
};

/// Opens a regular file, behind links. Errors: not_found (also a link that leads nowhere), invalid
/// (a folder, a pipe), unavailable.
Result<UniqueFd> open_to_read(const std::filesystem::path&);

/// Returns the whole content of a file. Errors: as of open_to_read; corrupt if it is longer than
/// `bytes_max` bytes.
Result<std::string> read_file(const std::filesystem::path&, std::size_t bytes_max);

/// The same of a file that foreign code has made, which a run, a build and a recipe are: behind a
/// link of its making could be a file that only we may read. Errors: as of read_file; invalid, also
/// where a link stands in its place.
Result<std::string> read_foreign_file(const std::filesystem::path&, std::size_t bytes_max);

}  // namespace torchwatch::platform
