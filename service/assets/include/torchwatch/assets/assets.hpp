#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/http/router.hpp"

namespace torchwatch::assets {

/// Returns the folder of the pages' script and style as part of an address: "assets/5d1c0b7e/". Its
/// name changes with every byte of the files, so that browsers may keep them for ever. `disk`:
/// where the files are read from while they are worked on; empty: those of the program.
std::string folder(const std::filesystem::path& disk = {});

/// Returns the routes of these files. From disk a file is read each time it is asked for; those
/// that are not there are the program's. Thread-safe.
std::vector<http::Route> routes(std::filesystem::path disk = {});

}  // namespace torchwatch::assets
