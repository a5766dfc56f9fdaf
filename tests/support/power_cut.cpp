#include "power_cut.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <utility>

#include "file_content.hpp"

namespace torchwatch::test {
namespace {

constexpr std::size_t kSectorBytes = 512;

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace

class PowerCut::Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  bool coin() { return (engine_() >> 40U & 1U) != 0; }

 private:
  std::mt19937_64 engine_;
};

void PowerCut::opened(const std::string& path, bool existed) {
  const auto known = files_.find(path);
  if (known == files_.end()) {
    File file;
    if (existed) file.durable = content_of(path);
    file.is_new = !existed;
    files_.emplace(path, std::move(file));
    return;
  }
  if (existed) return;
  known->second = File{std::move(known->second.durable), true, true, {}};
}

void PowerCut::wrote(const std::string& path, std::int64_t offset, std::string bytes) {
  files_[path].unsynced.push_back({offset, std::move(bytes), false});
}

void PowerCut::truncated(const std::string& path, std::int64_t size) {
  files_[path].unsynced.push_back({size, "", true});
}

void PowerCut::synced(const std::string& path) {
  auto& file = files_[path];
  file.durable = current(file);
  file.is_new = false;
  file.unsynced.clear();
}

void PowerCut::removed(const std::string& path, bool folder_synced) {
  auto& file = files_[path];
  file.exists = false;
  file.is_new = false;
  file.unsynced.clear();
  if (folder_synced) file.durable.reset();
}

void PowerCut::apply(std::string& content, const Change& change) {
  const auto offset = static_cast<std::size_t>(change.offset);
  if (change.truncates) {
    content.resize(offset);
    return;
  }
  content.resize(std::max(content.size(), offset + change.bytes.size()));
  content.replace(offset, change.bytes.size(), change.bytes);
}

std::string PowerCut::current(const File& file) {
  std::string content = file.is_new ? "" : file.durable.value_or("");
  for (const auto& change : file.unsynced) apply(content, change);
  return content;
}

void PowerCut::apply_some(std::string& content, const Change& change, Dice& dice) {
  if (change.truncates) {
    if (dice.coin()) apply(content, change);
    return;
  }
  for (std::size_t done = 0; done < change.bytes.size();) {
    const auto offset = static_cast<std::size_t>(change.offset) + done;
    const auto size = std::min(kSectorBytes - offset % kSectorBytes, change.bytes.size() - done);
    if (dice.coin()) {
      apply(content, {static_cast<std::int64_t>(offset), change.bytes.substr(done, size), false});
    }
    done += size;
  }
}

std::optional<std::string> PowerCut::after_cut(const File& file, Survivors survivors, Dice& dice) {
  if (survivors == Survivors::none) return file.durable;
  if (survivors == Survivors::all) {
    return file.exists ? std::optional(current(file)) : std::nullopt;
  }
  if (!file.exists) return dice.coin() ? file.durable : std::nullopt;
  if (file.is_new && dice.coin()) return file.durable;
  std::string content = file.is_new ? "" : file.durable.value_or("");
  for (const auto& change : file.unsynced) apply_some(content, change, dice);
  return content;
}

void PowerCut::cut(Survivors survivors, std::uint64_t seed) const {
  Dice dice(seed);
  for (const auto& [path, file] : files_) {
    const auto content = after_cut(file, survivors, dice);
    if (content) {
      write_file(path, *content);
    } else {
      ::unlink(path.c_str());
    }
    ::unlink((path + "-shm").c_str());  // memory of processes that are no more
  }
}

}  // namespace torchwatch::test
