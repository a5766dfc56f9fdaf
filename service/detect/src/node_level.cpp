#include "torchwatch/detect/node_level.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "torchwatch/records/statistics.hpp"

namespace torchwatch::detect {
namespace {

constexpr int kResamples = 1'000;
constexpr std::uint64_t kSeed = 20261128;
constexpr double kTail = 0.005;
/// Keeps nodes apart solvable that have no item in common; far below any difference of times.
constexpr double kTie = 1e-9;

using Item = std::map<std::string, double>;

/// How often each node measured what others measured, too.
std::map<std::string, int> shared_items(const std::vector<NodeItem>& items) {
  std::map<std::string, int> counts;
  for (const auto& item : items) {
    for (const auto& [node, log] : item.logs) counts[node] += item.logs.size() > 1 ? 1 : 0;
  }
  return counts;
}

/// Without the nodes that have too few items. Items of a node that is left out may be the last ones
/// of another.
std::vector<NodeItem> with_enough(std::vector<NodeItem> items) {
  const auto is_rare = [](const auto& entry) { return entry.second < kNodeItemsLeast; };
  for (auto counts = shared_items(items); std::ranges::any_of(counts, is_rare);
       counts = shared_items(items)) {
    for (auto& item : items) {
      std::erase_if(item.logs,
                    [&](const auto& entry) { return counts[entry.first] < kNodeItemsLeast; });
    }
  }
  return items;
}

/// Two nodes that measured the same item, and ln of the first one's figure / the second one's.
struct Difference {
  std::size_t first = 0;
  std::size_t second = 0;
  double log = 0;
};

/// Every difference within an item; nodes by their places in `names`.
std::vector<Difference> differences_of(const Item& logs, const std::vector<std::string>& names) {
  const auto place = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::lower_bound(names, name) - names.begin());
  };
  std::vector<Difference> all;
  for (auto one = logs.begin(); one != logs.end(); ++one) {
    for (auto other = std::next(one); other != logs.end(); ++other) {
      all.push_back({place(one->first), place(other->first), one->second - other->second});
    }
  }
  return all;
}

/// Solves `matrix` x = `right`, a positive definite system.
std::vector<double> solved(std::vector<std::vector<double>> matrix, std::vector<double> right) {
  const auto size = right.size();
  for (std::size_t at = 0; at < size; ++at) {
    for (std::size_t row = at + 1; row < size; ++row) {
      const double factor = matrix[row][at] / matrix[at][at];
      for (std::size_t column = at; column < size; ++column) {
        matrix[row][column] -= factor * matrix[at][column];
      }
      right[row] -= factor * right[at];
    }
  }
  for (std::size_t at = size; at-- > 0;) {
    for (std::size_t column = at + 1; column < size; ++column) {
      right[at] -= matrix[at][column] * right[column];
    }
    right[at] /= matrix[at][at];
  }
  return right;
}

/// The nodes of a class with what tells them apart.
class Nodes {
 public:
  explicit Nodes(const std::vector<NodeItem>& items) {
    for (const auto& [name, count] : shared_items(items)) names_.push_back(name);
    group_.resize(names_.size());
    std::iota(group_.begin(), group_.end(), std::size_t{0});
    for (const auto& item : items) {
      if (item.logs.size() < 2) continue;
      items_.push_back(differences_of(item.logs, names_));
      for (const auto& each : items_.back()) join(each.first, each.second);
    }
  }

  const std::vector<std::string>& names() const { return names_; }

  /// ln of each node's level against the others, from all items.
  std::vector<double> levels() const {
    std::vector<std::size_t> all(items_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return levels_from(all);
  }

  /// The same from as many items, drawn with replacement.
  std::vector<double> resampled_levels(std::mt19937_64& random) const {
    std::vector<std::size_t> drawn(items_.size());
    for (auto& each : drawn) each = random() % items_.size();
    return levels_from(drawn);
  }

 private:
  /// Nodes that items connect, directly or by other nodes, can be compared.
  void join(std::size_t one, std::size_t other) {
    const auto from = group_[one];
    const auto to = group_[other];
    std::ranges::replace(group_, from, to);
  }

  std::vector<double> levels_from(const std::vector<std::size_t>& drawn) const {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> by_pair;
    for (const auto item : drawn) {
      for (const auto& each : items_[item]) by_pair[{each.first, each.second}].push_back(each.log);
    }
    const auto size = names_.size();
    std::vector matrix(size, std::vector<double>(size, 0.0));
    std::vector<double> right(size, 0.0);
    for (std::size_t at = 0; at < size; ++at) matrix[at][at] = kTie;
    for (auto& [pair, logs] : by_pair) {
      const auto [first, second] = pair;
      const auto weight = static_cast<double>(logs.size());
      const double middle = median(std::move(logs));
      matrix[first][first] += weight;
      matrix[second][second] += weight;
      matrix[first][second] -= weight;
      matrix[second][first] -= weight;
      right[first] += weight * middle;
      right[second] -= weight * middle;
    }
    return against_others(solved(std::move(matrix), std::move(right)));
  }

  /// A node is compared with the median of the others, so that one bad node makes no good one
  /// differ. Of the two in the middle that one counts that is nearer, for the same reason.
  std::vector<double> against_others(const std::vector<double>& effects) const {
    std::vector<double> levels;
    for (std::size_t node = 0; node < effects.size(); ++node) {
      std::vector<double> others;
      for (std::size_t other = 0; other < effects.size(); ++other) {
        if (other != node && group_[other] == group_[node]) others.push_back(effects[other]);
      }
      std::ranges::sort(others);
      const double low = others.empty() ? effects[node] : others[(others.size() - 1) / 2];
      const double high = others.empty() ? effects[node] : others[others.size() / 2];
      levels.push_back(effects[node] - std::clamp(effects[node], low, high));
    }
    return levels;
  }

  std::vector<std::string> names_;  ///< in order
  std::vector<std::size_t> group_;  ///< by node: equal for nodes that can be compared
  std::vector<std::vector<Difference>> items_;
};

/// Gives the nodes that have enough items their levels with intervals.
void estimate_levels(const std::vector<NodeItem>& items, std::map<std::string, NodeLevel>& found) {
  const Nodes nodes(items);
  if (nodes.names().empty()) return;
  const auto levels = nodes.levels();
  std::vector<std::vector<double>> resampled(levels.size());
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < kResamples; ++i) {
    const auto drawn = nodes.resampled_levels(random);
    for (std::size_t node = 0; node < drawn.size(); ++node) resampled[node].push_back(drawn[node]);
  }
  const auto tail = static_cast<std::size_t>(std::lround(kTail * kResamples));
  for (std::size_t node = 0; node < levels.size(); ++node) {
    std::ranges::sort(resampled[node]);
    auto& level = found[nodes.names()[node]];
    level.ratio = std::exp(levels[node]);
    level.low = std::exp(resampled[node][tail]);
    level.high = std::exp(resampled[node][kResamples - 1 - tail]);
  }
}

/// Every node of the items, with how many of them it shares with others.
std::map<std::string, NodeLevel> counted(const std::vector<NodeItem>& items) {
  std::map<std::string, NodeLevel> found;
  std::map<std::string, std::set<std::int64_t>> builds;
  for (const auto& item : items) {
    for (const auto& [node, log] : item.logs) {
      auto& level = found[node];
      level.node = node;
      if (item.logs.size() < 2) continue;
      ++level.items;
      builds[node].insert(item.build);
    }
  }
  for (const auto& [node, of] : builds) found[node].builds = static_cast<int>(of.size());
  return found;
}

}  // namespace

std::vector<NodeLevel> node_levels(std::span<const NodeItem> items, double beyond) {
  std::vector all(items.begin(), items.end());
  auto found = counted(all);
  const auto enough = with_enough(std::move(all));
  for (auto& [node, level] : counted(enough)) found[node] = std::move(level);
  estimate_levels(enough, found);
  std::vector<NodeLevel> levels;
  for (auto& [node, level] : found) {
    const bool is_beyond = level.low > 1 + beyond || level.high < 1 / (1 + beyond);
    level.differs = is_beyond && level.items >= kNodeItemsLeast && level.builds >= kNodeBuildsLeast;
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace torchwatch::detect
