#include "torchwatch/caches/folder_sizes.hpp"

#include "torchwatch/platform/folder.hpp"

namespace torchwatch::caches {

FolderSizes::FolderSizes() : thread_([this](const std::stop_token& stop) { count(stop); }) {}

std::optional<std::int64_t> FolderSizes::of(const std::filesystem::path& folder) {
  const std::scoped_lock lock(mutex_);
  const auto [known, is_new] = sizes_.try_emplace(folder.string());
  if (is_new) {
    asked_.push_back(known->first);
    changed_.notify_all();
  }
  return known->second;
}

void FolderSizes::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return asked_.empty(); });
}

void FolderSizes::count(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !asked_.empty(); })) {
    const auto folder = asked_.front();
    lock.unlock();
    platform::FileBytes bytes;
    for (const auto& entry : platform::list_tree(folder).entries) bytes.add(entry);
    lock.lock();
    sizes_[folder] = bytes.sum();
    asked_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace torchwatch::caches
