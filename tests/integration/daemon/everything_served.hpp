#pragma once

#include <map>
#include <string>
#include <vector>

#include "running_service.hpp"

/// Everything that a service shows to one who may see all.
struct Served {
  std::string text;                          ///< heads and bodies of all answers
  std::map<std::string, int> content_types;  ///< how many answers of each
  std::vector<std::string> failed;           ///< addresses that were answered by a fault
};

/// Asks for the first page, for every page and twin that a page leads to, for every address of
/// openapi.json (with the ids 1 and 2), and for some that are not there.
Served everything_served(torchwatch::test::RunningService&);
