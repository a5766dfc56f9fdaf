#pragma once

#include <span>
#include <string_view>

namespace torchwatch::assets {

/// A file that is part of the program, as it is and compressed.
struct Embedded {
  std::string_view name;  ///< "main.js"
  std::string_view tag;   ///< the SHA-256 of its bytes, in hexadecimal digits
  std::string_view plain;
  std::string_view gzip;
};

/// All files, sorted by name. The build makes this function: see src/embed.cpp.
std::span<const Embedded> embedded();

}  // namespace torchwatch::assets
