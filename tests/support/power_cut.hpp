#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "faulty_vfs.hpp"

namespace torchwatch::test {

/// What the disk holds for certain, and what was changed since: enough to give every file a
/// content that it could have after a power cut. fsync of a file makes its name durable too (as on
/// ext4); a removal without a synced folder may be undone.
class PowerCut {
 public:
  void opened(const std::string& path, bool existed);
  void wrote(const std::string& path, std::int64_t offset, std::string bytes);
  void truncated(const std::string& path, std::int64_t size);
  void synced(const std::string& path);
  void removed(const std::string& path, bool folder_synced);

  /// Rewrites the files as the cut leaves them.
  void cut(Survivors, std::uint64_t seed) const;

 private:
  struct Change {
    std::int64_t offset = 0;  ///< of a truncation: the new size
    std::string bytes;
    bool truncates = false;
  };
  struct File {
    std::optional<std::string> durable;  ///< nothing: the name is not on the disk
    bool exists = true;
    bool is_new = false;  ///< made since: `unsynced` begins with an empty file
    std::vector<Change> unsynced;
  };
  class Dice;

  static void apply(std::string& content, const Change&);
  static std::string current(const File&);
  static std::optional<std::string> after_cut(const File&, Survivors, Dice&);
  static void apply_some(std::string& content, const Change&, Dice&);

  std::map<std::string, File> files_;
};

}  // namespace torchwatch::test
