#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "torchwatch/daemon/application.hpp"

namespace torchwatch::daemon {

/// What lies in [build] cache, in bytes.
struct CacheSizes {
  std::int64_t commits = 0;
  std::int64_t releases = 0;
  std::int64_t kits = 0;

  std::int64_t sum() const { return commits + releases + kits; }
};

struct Tidied {
  CacheSizes before;
  CacheSizes after;
  std::vector<std::filesystem::path> copies;  ///< of the database before migrations, removed
};

/// Brings [build] cache to at most `bytes_max`, whatever was used longest ago first: builds of
/// commits, releases, kits. A release stays that a comparison, an open incident or the next nightly
/// needs; one that goes is fetched again when it is needed. Removes copies of the database that
/// were made before migrations, but the newest. Call it while nothing is measured. Errors: those of
/// storage; unavailable (the disk).
Result<Tidied> tidy_caches(Application&, std::int64_t bytes_max);

/// Notes that something in the cache is used now.
void note_use(const std::filesystem::path& folder);

/// Makes room for work: brings the cache down until [build] disk_reserve is free on its disk.
/// Errors: unavailable, when even an empty cache leaves less.
Status reserve_disk(Application&);

}  // namespace torchwatch::daemon
