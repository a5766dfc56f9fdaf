#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"

namespace torchwatch::caches {

/// What [build] cache is looked after with; what is referred to must outlive each call.
struct Parts {
  storage::Database& database;
  const config::Config& config;
  builds::CommitBuilder* commits = nullptr;  ///< null: no commits are built here any more
};

/// What lies in [build] cache, in bytes.
struct Sizes {
  std::int64_t commits = 0;
  std::int64_t releases = 0;
  std::int64_t kits = 0;
  std::int64_t packages = 0;  ///< that a backend compiled

  std::int64_t sum() const { return commits + releases + kits + packages; }
};

struct Tidied {
  Sizes before;
  Sizes after;
  std::vector<std::filesystem::path> copies;  ///< of the database before migrations, removed
};

/// Brings [build] cache to at most `bytes_max`, whatever was used longest ago first: builds of
/// commits, releases, kits, packages. A release stays that a person pinned, or that a comparison,
/// an open incident or the next nightly needs; one that goes is fetched again when it is needed.
/// Kits and packages stay where those releases alone have more than `bytes_max`.
/// Removes copies of the database that were made before migrations, but the newest. Call it while
/// nothing is measured. Errors: those of storage; unavailable (the disk).
Result<Tidied> tidy(const Parts&, std::int64_t bytes_max);

/// Returns the bytes to which a cache must shrink for the reserve to be free; nothing if enough is
/// free already, or if even an empty cache leaves less: it would be emptied in vain.
std::optional<std::int64_t> bytes_to_keep(std::int64_t cached, std::int64_t free_bytes,
                                          std::int64_t reserve);

/// Makes place for work: brings the cache down until [build] disk_reserve is free on its disk. Call
/// it while nothing is measured. Errors: those of health::require_disk_reserve, when even an empty
/// cache leaves less; it stays as it is then.
Status reserve_disk(const Parts&);

}  // namespace torchwatch::caches
