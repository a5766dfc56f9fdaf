#include "torchwatch/traces/traces.hpp"

#include <algorithm>
#include <system_error>
#include <vector>

#include "torchwatch/platform/folder.hpp"
#include "torchwatch/platform/gzip.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::traces {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBytesMax = std::size_t{256} << 20U;
constexpr std::string_view kEnding = ".json.gz";

struct Kept {
  fs::path path;
  fs::file_time_type written;
  std::int64_t bytes = 0;
};

/// Oldest first; what is gone meanwhile is left out.
std::vector<Kept> all_in(const platform::Listing& listing) {
  std::vector<Kept> all;
  for (const auto& entry : listing.entries) {
    if (!entry.path().filename().string().ends_with(kEnding)) continue;
    std::error_code gone;
    const auto written = entry.last_write_time(gone);
    const auto bytes = gone ? 0 : entry.file_size(gone);
    if (!gone) all.push_back({entry.path(), written, static_cast<std::int64_t>(bytes)});
  }
  std::ranges::sort(all, {}, &Kept::written);
  return all;
}

}  // namespace

fs::path folder_beside(const fs::path& database) {
  return database.parent_path() / "traces";
}

fs::path file_of(const fs::path& folder, const std::string& token) {
  return folder / (token + std::string(kEnding));
}

Result<bool> keep(const fs::path& written, const fs::path& file) {
  const auto text = platform::read_foreign_file(written, kBytesMax);
  if (!text && text.error().code == ErrorCode::unavailable) return fail(text.error());
  if (!text) return false;
  const auto compressed = platform::gzip(*text);
  if (compressed.empty()) return false;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) {
    return fail(ErrorCode::unavailable, file.parent_path().string() + ": " + error.message());
  }
  TW_TRY_VOID(platform::publish_file(file, compressed));
  return true;
}

std::optional<std::int64_t> size_of(const fs::path& file) {
  std::error_code missing;
  const auto bytes = fs::file_size(file, missing);
  return missing ? std::nullopt : std::optional(static_cast<std::int64_t>(bytes));
}

Result<std::string> read(const fs::path& file) {
  return platform::read_file(file, kBytesMax);
}

Result<int> remove_old(const fs::path& folder, fs::file_time_type oldest, std::int64_t bytes_max) {
  std::error_code error;
  if (!fs::exists(folder, error)) return 0;
  const auto listing = platform::list_folder(folder);
  const auto all = all_in(listing);
  std::int64_t bytes = 0;
  for (const auto& trace : all) bytes += trace.bytes;
  int removed = 0;
  error = listing.error;
  for (const auto& trace : all) {
    if (trace.written >= oldest && bytes <= bytes_max) break;
    std::error_code failed;
    if (fs::remove(trace.path, failed)) ++removed;
    if (failed) error = failed;
    bytes -= trace.bytes;
  }
  if (error) return fail(ErrorCode::unavailable, folder.string() + ": " + error.message());
  return removed;
}

}  // namespace torchwatch::traces
