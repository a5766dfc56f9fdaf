#pragma once

#include <filesystem>

namespace torchwatch::storage {

/// Returns whether a newer program has written the file, so that this one can only leave it alone;
/// also false where that cannot be read.
bool is_of_newer_program(const std::filesystem::path&);

}  // namespace torchwatch::storage
