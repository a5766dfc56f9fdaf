#include "torchwatch/health/health.hpp"

#include <algorithm>
#include <iterator>

namespace torchwatch::health {

bool Health::note(const std::string& source, const std::string& problem) {
  const std::scoped_lock lock(mutex_);
  const auto known = std::ranges::find(noted_, source, &Problem::source);
  if (problem.empty()) {
    if (known == noted_.end()) return false;
    noted_.erase(known);
    return true;
  }
  if (known == noted_.end()) {
    noted_.push_back({.source = source,
                      .item = "",
                      .since = clock_.wall_now(),
                      .sentence = sentence_on(source),
                      .detail = problem});
    return true;
  }
  const bool is_other = known->detail != problem;
  known->detail = problem;
  return is_other;
}

std::vector<Problem> Health::noted() const {
  const std::scoped_lock lock(mutex_);
  return noted_;
}

std::vector<Problem> Health::problems() const {
  auto all = noted();
  auto stored = stored_problems(database_);
  if (stored) {
    std::ranges::move(*stored, std::back_inserter(all));
  } else if (std::ranges::find(all, "storage", &Problem::source) == all.end()) {
    all.push_back({.source = "storage",
                   .item = "",
                   .since = clock_.wall_now(),
                   .sentence = sentence_on("storage"),
                   .detail = stored.error().text()});
  }
  return all;
}

}  // namespace torchwatch::health
