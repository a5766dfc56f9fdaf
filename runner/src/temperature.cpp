#include "torchwatch/runner/temperature.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::runner {
namespace {

namespace fs = std::filesystem;

std::string word_in(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  return entries;
}

/// The kernel's drivers of processors' sensors, and its names for zones on a processor.
bool is_of_processor(std::string_view name) {
  return name == "coretemp" || name == "k10temp" || name == "zenpower" || name == "x86_pkg_temp" ||
         name.find("cpu") != std::string_view::npos;
}

void read_hottest(const fs::path& file, std::optional<std::int64_t>& hottest) {
  std::ifstream stream(file);
  std::int64_t milli = 0;
  if (!(stream >> milli)) return;
  constexpr std::int64_t kLeast = -50'000;
  constexpr std::int64_t kMost = 150'000;  // what a broken sensor says lies beyond
  if (milli < kLeast || milli > kMost) return;
  hottest = std::max(hottest.value_or(milli), milli);
}

bool is_reading(const std::string& name) {
  return name.starts_with("temp") && name.ends_with("_input");
}

}  // namespace

std::optional<std::int64_t> processor_temperature(const fs::path& root) {
  std::optional<std::int64_t> hottest;
  for (const auto& chip : entries_of(root / "sys/class/hwmon")) {
    if (!is_of_processor(word_in(chip / "name"))) continue;
    for (const auto& file : entries_of(chip)) {
      if (is_reading(file.filename().string())) read_hottest(file, hottest);
    }
  }
  for (const auto& zone : entries_of(root / "sys/class/thermal")) {
    if (is_of_processor(word_in(zone / "type"))) read_hottest(zone / "temp", hottest);
  }
  return hottest;
}

}  // namespace torchwatch::runner
