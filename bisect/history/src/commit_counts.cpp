#include "torchwatch/history/commit_counts.hpp"

#include "torchwatch/history/commit_history.hpp"

namespace torchwatch::bisect {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMost = 10'000;  ///< two releases are some 5,000 apart
constexpr std::size_t kKept = 5'000;

/// The same time for all that is not there.
fs::file_time_type time_of(const fs::path& file) {
  std::error_code missing;
  const auto time = fs::last_write_time(file, missing);
  return missing ? fs::file_time_type::min() : time;
}

}  // namespace

std::optional<std::int64_t> CommitCounts::between(const std::string& from, const std::string& to) {
  const Pair pair(from, to);
  if (const auto count = known(pair)) return *count;
  // A handle belongs to one thread.
  const auto history = CommitHistory::open(repository_);
  if (!history) return std::nullopt;
  const auto folder = history->folder();
  // Before the commits are looked for: what is fetched meanwhile must not pass for known.
  const auto mark = mark_of(folder);
  const auto count = history->count(from, to, kMost);
  keep(pair, count, folder, mark);
  return count.value_or(std::nullopt);
}

CommitCounts::Mark CommitCounts::mark_of(const fs::path& folder) {
  return {time_of(folder / "FETCH_HEAD"), time_of(folder / "packed-refs"),
          time_of(folder / "objects" / "pack"), time_of(folder / "refs" / "heads")};
}

std::optional<CommitCounts::Count> CommitCounts::known(const Pair& pair) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = counted_.find(pair); found != counted_.end()) return found->second;
  if (missing_.contains(pair) && mark_of(folder_) == mark_) return Count();
  return std::nullopt;
}

void CommitCounts::keep(const Pair& pair, const Result<Count>& count, const fs::path& folder,
                        const Mark& mark) {
  const std::scoped_lock lock(mutex_);
  if (count) {
    if (counted_.size() >= kKept) counted_.clear();
    counted_.insert_or_assign(pair, *count);
  } else if (count.error().code == ErrorCode::not_found) {
    if (missing_.size() >= kKept || mark != mark_) missing_.clear();
    folder_ = folder;
    mark_ = mark;
    missing_.insert(pair);
  }
}

}  // namespace torchwatch::bisect
