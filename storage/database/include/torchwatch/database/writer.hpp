#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace torchwatch::storage {

/// Returns the process that has the database open for writing, as in "4711 (torchwatch nightly)";
/// nothing if none has, or if it cannot be seen from here. Takes no lock, so it hinders nobody.
std::optional<std::string> writer_of(const std::filesystem::path& database);

}  // namespace torchwatch::storage
