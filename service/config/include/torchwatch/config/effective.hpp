#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/config/config.hpp"

namespace torchwatch::config {

/// The value of one key as the program uses it, and where it comes from.
struct EffectiveValue {
  KeyDescription key;
  std::string value;  ///< as it would be written in TOML; names and passwords in URLs are hidden
  int line = 0;       ///< of the file; 0: the file does not set it
};

/// Returns the value of every key, table by table. Errors: those of load.
Result<std::vector<EffectiveValue>> effective_values(const std::filesystem::path& file,
                                                     bool required);

}  // namespace torchwatch::config
