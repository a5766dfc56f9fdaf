#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

#include "torchwatch/exports/exports.hpp"

namespace torchwatch::exports {

/// Writes rows of equal members.
class RowWriter {
 public:
  RowWriter(ExportFormat format, std::ostream& out) : format_(format), out_(out) {}

  Status write(const nlohmann::ordered_json& row);

  /// Ends the table. One without rows has its heading, which `like` has the members of.
  Status finish(const nlohmann::ordered_json& like);

 private:
  void write_heading(const nlohmann::ordered_json& row);
  Status status() const;

  ExportFormat format_;
  std::ostream& out_;
  bool is_first_ = true;
};

}  // namespace torchwatch::exports
