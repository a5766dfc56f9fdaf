#pragma once

#include <map>
#include <string>

namespace torchwatch::storage {

/// Reads lines "name: value", as tables `machine` and `machine_class` hold them.
std::map<std::string, std::string> facts_in(const std::string& lines);

}  // namespace torchwatch::storage
