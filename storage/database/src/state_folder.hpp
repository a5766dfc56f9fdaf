#pragma once

#include <string>

#include "connection.hpp"

namespace torchwatch::storage {

// The folder of the database may be moved with all that lies in it, so paths below it are stored
// relative to it.

/// Returns the path as it is stored: relative if it lies below the folder of the database.
std::string stored_path(const Connection&, const std::string& path);
/// Returns the path that was stored so.
std::string path_of(const Connection&, const std::string& stored);

/// Makes paths relative that an earlier version stored as they were.
void make_paths_relative(Connection&);

}  // namespace torchwatch::storage
