#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// The files of a build on this machine.
struct BuildFiles {
  bool were_there = false;    ///< the build was found, fetched or made here
  bool are_there = false;     ///< and not removed since
  bool are_pinned = false;    ///< somebody wants them kept
  bool are_in_cache = false;  ///< [build] cache has them, which removes what is not pinned
  std::optional<std::int64_t> bytes = {};  ///< nothing: not counted yet
  storage::WallMillis last_used = 0;       ///< 0: not known
};

/// "pinned", "there" or "gone"; empty where there never were any.
std::string_view word_of(const BuildFiles&);

/// Makes a build's members, as API and command line list it, but its folder: paths are private.
nlohmann::json json_of(const storage::BuildRow&, const BuildFiles&);

/// Returns the files of each of the builds by asking for them, with the newest use by a comparison.
/// Errors: those of storage.
using AskForFiles = std::function<BuildFiles(const storage::BuildRow&)>;
Result<std::vector<BuildFiles>> files_of(storage::Database&, const AskForFiles&,
                                         const std::vector<storage::BuildRow>&);

}  // namespace torchwatch::report
