#include "torchwatch/builds/last_use.hpp"

#include <fstream>
#include <system_error>

namespace torchwatch::builds {

namespace fs = std::filesystem;

void note_use(const fs::path& folder) {
  std::ofstream(folder / kLastUsed).flush();
  std::error_code ignored;
  fs::last_write_time(folder / kLastUsed, fs::file_time_type::clock::now(), ignored);
}

std::optional<fs::file_time_type> noted_use_of(const fs::path& folder) {
  std::error_code error;
  const auto noted = fs::last_write_time(folder / kLastUsed, error);
  return error ? std::nullopt : std::optional(noted);
}

fs::file_time_type last_use_of(const fs::path& folder) {
  if (const auto noted = noted_use_of(folder)) return *noted;
  std::error_code error;
  const auto made = fs::last_write_time(folder, error);
  return error ? fs::file_time_type::min() : made;
}

}  // namespace torchwatch::builds
