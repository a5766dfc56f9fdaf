#include "torchwatch/platform/folder.hpp"

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

}  // namespace torchwatch::platform
