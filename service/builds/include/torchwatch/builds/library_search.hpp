#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::builds {

/// A library that something needs and the loader would not find.
struct MissingLibrary {
  std::string name;
  std::filesystem::path needed_by;
};

struct LibraryNeeds {
  std::vector<MissingLibrary> missing;
  std::vector<std::filesystem::path>
      folders;  ///< that needed libraries were found in, system's not
};

/// Finds libraries where the loader would, without loading any: DT_RPATH of the library and of
/// those that need it, LD_LIBRARY_PATH, DT_RUNPATH, then the system's folders.
class LibrarySearch {
 public:
  /// `environment_folders`: LD_LIBRARY_PATH. What lies in a system folder is taken to be complete.
  LibrarySearch(std::vector<std::filesystem::path> environment_folders,
                std::vector<std::filesystem::path> system_folders)
      : environment_folders_(std::move(environment_folders)),
        system_folders_(std::move(system_folders)) {}

  /// As this process and its children would search: LD_LIBRARY_PATH, /etc/ld.so.conf, defaults.
  static LibrarySearch of_this_machine();

  /// The same search with one folder more, before LD_LIBRARY_PATH's.
  LibrarySearch with(std::filesystem::path folder) const;

  /// Everything that `library` needs, and what that needs in turn. Errors: not_found, invalid (a
  /// library that cannot be read).
  Result<LibraryNeeds> needs_of(const std::filesystem::path& library) const;

 private:
  std::vector<std::filesystem::path> environment_folders_;
  std::vector<std::filesystem::path> system_folders_;
};

}  // namespace torchwatch::builds
