#pragma once

#include <string_view>

namespace torchwatch::web {

/// style.css beside this file, as it was when the program was built.
std::string_view style_sheet();

/// Hex SHA-256 of it.
std::string_view style_sheet_sha256();

}  // namespace torchwatch::web
