#include "suggestion.hpp"

#include <algorithm>
#include <numeric>

namespace torchwatch::config {
namespace {

/// Levenshtein distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestWord = 100;  // input of any length costs a bounded time
  if (word.size() > kLongestWord) return {};
  std::size_t least = std::min<std::size_t>(2, word.size() / 2) + 1;
  std::string best;
  for (const auto& candidate : known) {
    const std::size_t slips = distance(word, candidate);
    if (slips >= least) continue;
    least = slips;
    best = candidate;
  }
  return best;
}

}  // namespace torchwatch::config
