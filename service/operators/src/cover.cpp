#include "torchwatch/operators/cover.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "torchwatch/operators/suspects.hpp"

namespace torchwatch::operators {
namespace {

using Names = std::set<std::string>;

/// The operators that are judged in a workload.
Names judged_in(const WatchedPairs& watched) {
  Names names;
  if (watched.pairs.empty()) return names;
  for (const auto& [name, figures] : watched.pairs.front().before) {
    const auto self_ns = static_cast<double>(figures.self_ns);
    if (name != kOutsideOperators && self_ns >= kShareJudged * watched.iteration_ns) {
      names.insert(name);
    }
  }
  return names;
}

}  // namespace

std::set<Benchmark> cover(const std::vector<WatchedPairs>& all) {
  std::map<Benchmark, Names> left;
  std::map<std::string, std::size_t> lacking;
  for (const auto& watched : all) {
    auto& names = left[watched.benchmark] = judged_in(watched);
    for (const auto& name : names) lacking[name] = std::min(lacking[name] + 1, kWatchedIn);
  }
  const auto shows = [&](const auto& each) {
    return std::ranges::count_if(each.second,
                                 [&](const std::string& name) { return lacking[name] > 0; });
  };
  std::set<Benchmark> chosen;
  while (!left.empty()) {
    const auto best = std::ranges::max_element(left, {}, shows);
    if (shows(*best) == 0) return chosen;
    for (const auto& name : best->second) {
      auto& count = lacking[name];
      if (count > 0) --count;
    }
    chosen.insert(best->first);
    left.erase(best);
  }
  return chosen;
}

}  // namespace torchwatch::operators
