#pragma once

#include <optional>
#include <string>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// The settings of the two sides of a comparison of purpose study, in the words that people write.
struct StudyRow {
  std::string name = {};       ///< of the pair in its file; empty where it has none
  std::string baseline = {};   ///< "threads=1"
  std::string candidate = {};  ///< "threads=2"; differs from `baseline`
  bool operator==(const StudyRow&) const = default;
};

/// Comparisons of two settings of one build. Thread-safe as Database is.
class StudyStore {
 public:
  explicit StudyStore(Database& database) : database_(database) {}

  /// Opens a comparison of a build with itself under both settings. Errors: invalid, when they are
  /// equal or one is empty.
  Result<ComparisonRow> open(Id build, const std::string& plan_json, const StudyRow&,
                             WallMillis now);
  /// Returns the settings of a comparison; nothing where it is of another purpose.
  Result<std::optional<StudyRow>> find(Id comparison);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
