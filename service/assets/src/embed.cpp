// Writes files into a source file that is compiled into the program:
//
//   torchwatch_embed OUT.cpp FILE...
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/platform/gzip.hpp"

namespace {

namespace fs = std::filesystem;

/// A string literal of any bytes, in lines: three octal digits end by themselves, unlike \x.
std::string literal_of(std::string_view bytes) {
  constexpr std::size_t kLine = 64;
  std::string text = "\"";
  std::size_t written = 0;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    const bool is_plain =
        value >= ' ' && value <= '~' && byte != '"' && byte != '\\' && byte != '?';
    if (is_plain) {
      text += byte;
    } else {
      text += '\\';
      for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + ((value >> shift) & 7));
    }
    if (++written % kLine == 0) text += "\"\n    \"";
  }
  return text + "\"";
}

std::string view_of(std::string_view bytes) {
  return "std::string_view(\n    " + literal_of(bytes) + ",\n    " + std::to_string(bytes.size()) +
         ")";
}

bool write(const fs::path& out, std::vector<fs::path> files) {
  std::ranges::sort(files, {}, [](const fs::path& file) { return file.filename(); });
  std::ofstream source(out, std::ios::binary | std::ios::trunc);
  source << "#include \"embedded.hpp\"\n\n#include <array>\n\nnamespace torchwatch::assets {\n\n"
            "std::span<const Embedded> embedded() {\n  static constexpr std::array<Embedded, "
         << files.size() << "> kFiles{\n";
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const auto packed = torchwatch::platform::gzip(bytes);
    if (!in || bytes.empty() || packed.empty()) {
      std::cerr << "torchwatch_embed: cannot read " << file << "\n";
      return false;
    }
    source << "      Embedded{" << literal_of(file.filename().string()) << ",\n    "
           << literal_of(torchwatch::digest::sha256_hex(bytes)) << ",\n    " << view_of(bytes)
           << ",\n    " << view_of(packed) << "},\n";
  }
  source << "  };\n  return kFiles;\n}\n\n}  // namespace torchwatch::assets\n";
  return static_cast<bool>(source.flush());
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<fs::path> given(arguments + 1, arguments + count);
  if (given.size() < 2) {
    std::cerr << "usage: torchwatch_embed OUT.cpp FILE...\n";
    return 2;
  }
  return write(given.front(), {given.begin() + 1, given.end()}) ? 0 : 1;
}
