#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace torchwatch::test {

/// Returns the bytes of a file; nothing of one that cannot be read.
inline std::string content_of(const std::filesystem::path& file) {
  std::ostringstream content;
  content << std::ifstream(file, std::ios::binary).rdbuf();
  return content.str();
}

}  // namespace torchwatch::test
