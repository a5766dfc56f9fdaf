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

/// All effects measured of one series, and how noisy they are.
class Evidence {
 public:
  explicit Evidence(const SearchSeries&);

  /// The pairs of `to` against `from`; the other way round their signs are turned.
  void add(Span, const std::vector<double>& effects);

  /// What the ends read in those pairs by themselves: the good end, and what the bad end had more.
  void add_level(const std::vector<double>& good, const std::vector<double>& effects);
  /// Runs of the place without a partner, in the unit of the ends' readings.
  void add_alone(Place, const std::vector<double>& readings);

  /// Drops what was read of the place, in pairs and alone.
  void forget(Place);
  /// Drops what the ends read, and the runs alone, which were to be compared with it.
  void forget_level();

  int count(Span) const;         ///< pairs
  int count_alone(Place) const;  ///< runs
  bool has_level() const { return !good_.empty(); }
  /// The runs alone, as effects against the good end.
  std::map<Place, std::vector<double>> alone() const;
  /// Spread of one run alone, as far as runs of one build scatter about their centre.
  double alone_scale() const { return alone_scale_; }
  /// How well the ends' level is known, with which all runs alone are compared.
  double level_error() const { return level_.error; }

  /// The change over the span by its own direct pairs; count 0 if there are none.
  Estimate direct(Span) const;
  /// Its 99 % interval's half-width as a statement about the code, not only about the two builds.
  double half_width(const Estimate&) const;
  /// Spread of the difference between two builds of code that is alike.
  double build_spread() const;

  const std::map<Span, std::vector<double>>& samples() const { return samples_; }
  double scale() const { return scale_; }
  const SearchSeries& series() const { return series_; }

 private:
  void learn_scale();
  void learn_level();

  SearchSeries series_;
  std::map<Span, std::vector<double>> samples_;
  double scale_;
  double freedom_;
  std::vector<double> good_;  ///< readings of the ends, pair by pair
  std::vector<double> bad_;
  std::map<Place, std::vector<double>> alone_;
  Estimate level_;  ///< half-way between the ends
  double good_level_ = 0;
  double alone_scale_;
};

}  // namespace torchwatch::bisect
