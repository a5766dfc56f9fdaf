#include "torchwatch/platform/folder.hpp"

#include <sys/stat.h>

namespace torchwatch::platform {
namespace {

template <typename Iterator>
Listing list(const std::filesystem::path& folder) {
  Listing listing;
  Iterator entry(folder, listing.error);
  while (!listing.error && entry != Iterator()) {
    listing.entries.push_back(*entry);
    entry.increment(listing.error);
  }
  return listing;
}

}  // namespace

Listing list_folder(const std::filesystem::path& folder) {
  return list<std::filesystem::directory_iterator>(folder);
}

Listing list_tree(const std::filesystem::path& folder) {
  return list<std::filesystem::recursive_directory_iterator>(folder);
}

bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto below = path.lexically_normal().lexically_relative(folder.lexically_normal());
  return !below.empty() && *below.begin() != "..";
}

std::filesystem::path without_links(const std::filesystem::path& path) {
  std::error_code error;
  auto followed = std::filesystem::weakly_canonical(path, error);
  return error ? path : followed;
}

void FileBytes::add(const std::filesystem::directory_entry& entry) {
  struct stat about{};
  if (lstat(entry.path().c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return;
  if (about.st_nlink == 1) {
    of_one_name_ += about.st_size;
  } else {
    of_several_names_[{about.st_dev, about.st_ino}] = about.st_size;
  }
}

void FileBytes::add(const FileBytes& other) {
  of_one_name_ += other.of_one_name_;
  of_several_names_.insert(other.of_several_names_.begin(), other.of_several_names_.end());
}

std::int64_t FileBytes::sum() const {
  auto sum = of_one_name_;
  for (const auto& [file, bytes] : of_several_names_) sum += bytes;
  return sum;
}

}  // namespace torchwatch::platform
