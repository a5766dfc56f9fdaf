#include "torchwatch/bisection/searched_range.hpp"

namespace torchwatch::bisection {
namespace {

constexpr std::int64_t kCommitsMost = 1'000;  ///< a page with more is read by nobody
constexpr std::size_t kRangesKept = 100;

std::string key_of(const BisectionSpec& spec) {
  auto key = spec.good + ".." + spec.bad;
  for (const auto& pattern : spec.cannot_change) key += "\n" + pattern;
  return key;
}

std::vector<report::RangeCommit> listed(const Range& range) {
  std::vector<report::RangeCommit> commits;
  for (const auto& commit : range.commits) {
    commits.push_back({.sha = commit.sha, .subject = commit.subject});
  }
  const auto& classes = range.folded.classes;
  for (std::size_t place = 0; place < classes.size(); ++place) {
    commits[classes[place].commit].place = place;
  }
  return commits;
}

Result<std::vector<report::RangeCommit>> read(const std::filesystem::path& repository,
                                              const BisectionSpec& spec) {
  // A handle belongs to one thread.
  TW_TRY(const auto history, bisect::CommitHistory::open(repository));
  TW_TRY(const auto count, history.count(spec.good, spec.bad, kCommitsMost));
  if (!count) return fail(ErrorCode::invalid, "the range has more than 1,000 commits");
  TW_TRY(const auto range, read_range(history, spec));
  return listed(range);
}

}  // namespace

Result<bisect::PathPatterns> cannot_change(const BisectionSpec& spec) {
  return bisect::PathPatterns::create(spec.cannot_change.empty() ? bisect::default_cannot_change()
                                                                 : spec.cannot_change);
}

Result<Range> read_range(const bisect::CommitHistory& history, const BisectionSpec& spec) {
  TW_TRY(auto commits, history.range(spec.good, spec.bad));
  TW_TRY(const auto patterns, cannot_change(spec));
  auto folded = bisect::fold(commits, patterns);
  return Range{.commits = std::move(commits), .folded = std::move(folded)};
}

report::SearchedRange SearchedRanges::of(const storage::BisectionRow& row) {
  report::SearchedRange range;
  const auto spec = parse_bisection_spec(row.spec_json);
  if (!spec) {
    range.missing = spec.error();
    return range;
  }
  for (const auto& searched : spec->series) range.series.push_back(searched.series);
  range.preset = spec->plan.preset;
  auto commits = commits_of(*spec);
  if (commits) {
    range.commits = *std::move(commits);
  } else {
    range.missing = commits.error();
  }
  return range;
}

Result<SearchedRanges::Commits> SearchedRanges::commits_of(const BisectionSpec& spec) {
  const auto key = key_of(spec);
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  TW_TRY(auto commits, read(repository_, spec));
  const std::scoped_lock lock(mutex_);
  if (known_.size() >= kRangesKept) known_.clear();
  return known_.insert_or_assign(key, std::move(commits)).first->second;
}

}  // namespace torchwatch::bisection
