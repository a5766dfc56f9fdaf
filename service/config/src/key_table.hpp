#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/config/config.hpp"

namespace torchwatch::config {

/// One key with all that loading, the example file and the help need.
struct Key {
  std::string table;
  std::string name;
  std::string type;
  std::string allowed;  ///< empty: anything of the type
  std::string meaning;
  /// Sets the member. Errors say what is wrong with the value, but not file, line and key.
  std::function<Status(const toml::node&, Config&)> read;
  /// Returns the member's value as it would be written in TOML.
  std::function<std::string(const Config&)> write;
  /// Makes a relative path start at the folder. Does nothing for other types.
  std::function<void(const std::filesystem::path& folder, Config&)> resolve;
};

/// Every key, table by table in the order of the example file.
const std::vector<Key>& key_table();

}  // namespace torchwatch::config
