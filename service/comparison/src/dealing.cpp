#include "dealing.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace torchwatch::comparison {
namespace {

/// How many benchmarks of a lane alternate. Were all begun at first, lanes could not be balanced
/// any more, as nobody knows how many blocks each will need: 3.5 times as fast on four nodes, with
/// eight 3.8 (tests/unit/comparison/dealing_scale_test.cpp).
constexpr int kAlternating = 8;

}  // namespace

Dealing::Dealing(std::vector<Portion> portions) {
  for (auto& portion : portions) portions_.push_back({std::move(portion)});
}

void Dealing::hold(int lane, const std::string& node, const std::string& machine_class) {
  held_[lane] = {node, machine_class};
}

void Dealing::leave(int lane) {
  held_.erase(lane);
}

std::optional<std::size_t> Dealing::take(int lane) {
  const auto& [node, machine_class] = held_.at(lane);
  std::set<std::string_view> held;  // each portion is sought in it
  for (const auto& [_, other] : held_) {
    // Lanes of two classes may share a node.
    if (other.machine_class == machine_class) held.insert(other.node);
  }
  const Dealt* longest = nullptr;
  const Dealt* own = nullptr;
  int begun = 0;
  for (const auto& portion : portions_) {
    if (!portion.next || portion.is_under_way) continue;
    if (portion.machine_class != machine_class) continue;
    const bool is_own = portion.node == node;
    begun += is_own ? 1 : 0;
    if (is_own && (own == nullptr || *portion.next < *own->next)) own = &portion;
    if (is_own || held.contains(portion.node)) continue;
    const auto rank = [](const Dealt& of) { return std::pair(-of.seconds, *of.next); };
    if (longest == nullptr || rank(portion) < rank(*longest)) longest = &portion;
  }
  const bool may_begin = longest != nullptr && (begun < kAlternating || own == nullptr);
  const auto* taken = may_begin ? longest : own;
  if (taken == nullptr) return std::nullopt;
  const auto index = static_cast<std::size_t>(taken - portions_.data());
  portions_[index].node = node;
  portions_[index].is_under_way = true;
  return index;
}

void Dealing::end(std::size_t portion, std::optional<Rank> next) {
  portions_[portion].is_under_way = false;
  portions_[portion].next = next;
}

int Dealing::decided() const {
  return static_cast<int>(
      std::ranges::count_if(portions_, [](const Dealt& portion) { return !portion.next; }));
}

int Dealing::open(const std::string& machine_class) const {
  return static_cast<int>(std::ranges::count_if(portions_, [&](const Dealt& portion) {
    return portion.next && portion.machine_class == machine_class;
  }));
}

bool Dealing::is_any_under_way(const std::string& machine_class) const {
  return std::ranges::any_of(portions_, [&](const Dealt& portion) {
    return portion.is_under_way && portion.machine_class == machine_class;
  });
}

}  // namespace torchwatch::comparison
