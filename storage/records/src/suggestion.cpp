#include "torchwatch/records/suggestion.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace torchwatch {
namespace {

constexpr std::size_t kLongestWord = 100;  // input of any length costs a bounded time
constexpr std::size_t kShortestPart = 3;
constexpr std::size_t kSuggestionsMax = 3;

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

bool is_part(std::string_view part, std::string_view whole) {
  return part.size() >= kShortestPart && whole.find(part) != std::string_view::npos;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > kLongestWord) return {};
  const std::size_t slips_max = std::min<std::size_t>(2, word.size() / 2);
  const std::string wanted = lower(word);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& name : known) {
    const std::string candidate = lower(name);
    const std::size_t slips = distance(wanted, candidate);
    if (slips <= slips_max || is_part(wanted, candidate) || is_part(candidate, wanted)) {
      near.emplace_back(slips, name);
    }
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> names;
  for (auto& [slips, name] : near) {
    if (names.size() < kSuggestionsMax) names.push_back(std::move(name));
  }
  return names;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto names = nearest(word, known);
  if (names.empty()) return {};
  std::string text = "did you mean " + names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text + "? ";
}

}  // namespace torchwatch
