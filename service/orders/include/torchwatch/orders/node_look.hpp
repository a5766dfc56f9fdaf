#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::orders {

/// What a node says of itself.
struct NodeLook {
  std::string node;
  std::string version;  ///< of torchwatch-carry there
  std::string glibc;
  std::int64_t wall_ms = 0;         ///< its clock, in milliseconds since 1970
  std::vector<std::string> unseen;  ///< of the paths that it was asked for
  std::string scratch_problem;      ///< why its scratch folder cannot be used; empty: it can
  bool has_sandbox = false;         ///< bubblewrap confines a process there
};

/// The version of this torchwatch.
std::string own_version();

/// Looks at this machine.
NodeLook look_here(const std::filesystem::path& scratch,
                   const std::vector<std::filesystem::path>& paths);

std::string to_json(const NodeLook&);
/// Errors: corrupt.
Result<NodeLook> parse_look(std::string_view json);

}  // namespace torchwatch::orders
