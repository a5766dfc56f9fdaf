#pragma once

#include <map>
#include <utility>
#include <vector>

#include "robust_estimate.hpp"
#include "torchwatch/bisect/culprit_search.hpp"

namespace torchwatch::bisect {

/// A class by its index, or the good end, which lies before all of them.
using Place = int;
constexpr Place kGoodEnd = -1;

inline Place place_of(const Reference& reference) {
  return reference ? static_cast<Place>(*reference) : kGoodEnd;
}
inline Reference reference_of(Place place) {
  return place == kGoodEnd ? Reference() : Reference(static_cast<std::size_t>(place));
}

/// From one place to a later one: what lies between are the classes `from` + 1 .. `to`.
struct Span {
  Place from = kGoodEnd;
  Place to = 0;
  auto operator<=>(const Span&) const = default;
  bool holds(Place place) const { return from < place && place <= to; }
};

/// All effects measured of one target, and how noisy they are.
class Evidence {
 public:
  explicit Evidence(const SearchTarget&);

  /// The pairs of `to` against `from`; the other way round their signs are turned.
  void add(Span, const std::vector<double>& effects);

  /// The change over the span by its own direct pairs; count 0 if there are none.
  Estimate direct(Span) const;
  /// Its 99 % interval's half-width as a statement about the code, not only about the two builds.
  double half_width(const Estimate&) const;
  /// Spread of the difference between two builds of code that is alike.
  double build_spread() const;

  const std::map<Span, std::vector<double>>& samples() const { return samples_; }
  double scale() const { return scale_; }
  const SearchTarget& target() const { return target_; }

 private:
  SearchTarget target_;
  std::map<Span, std::vector<double>> samples_;
  double scale_;
  double freedom_;
};

}  // namespace torchwatch::bisect
