#include <algorithm>
#include <cmath>

#include "probe_choice.hpp"

namespace torchwatch::bisect {
namespace {

/// A class at or behind the culprit with less than this probability, or with more than the rest,
/// tells too little for a build of its own.
constexpr double kWorthBuilding = 0.02;

struct Candidate {
  std::size_t place = 0;
  double bad = 0;  ///< probability that the class is at or behind the culprit
};

std::vector<std::size_t> not_built(const Measure& measure, const SearchRecord& record) {
  std::vector<std::size_t> places;
  if (measure.reference && !record.builds().is_built(place_of(measure.reference))) {
    places.push_back(*measure.reference);
  }
  if (!record.builds().is_built(static_cast<Place>(measure.candidate))) {
    places.push_back(measure.candidate);
  }
  return places;
}

std::vector<Candidate> candidates(const std::vector<double>& posterior,
                                  const SearchRecord& record) {
  std::vector<Candidate> result;
  double bad = 0;
  for (std::size_t place = 0; place < posterior.size(); ++place) {
    bad += posterior[place];
    const auto at = static_cast<Place>(place);
    const bool tells = bad >= kWorthBuilding && bad <= 1 - kWorthBuilding;
    if (tells && !record.builds().is_built(at) && !record.builds().is_broken(at))
      result.push_back({place, bad});
  }
  return result;
}

}  // namespace

std::vector<std::size_t> choose_builds(const Measure& measure, const std::vector<double>& posterior,
                                       const SearchRecord& record, std::size_t builders) {
  auto wanted = not_built(measure, record);
  if (wanted.size() > builders) wanted.resize(builders);
  if (wanted.empty() || builders == 1 || measure.purpose != Purpose::probe) return wanted;

  // Read together, classes that cut the posterior into equal parts tell most.
  std::vector<std::size_t> places;
  const auto all = candidates(posterior, record);
  const auto free = static_cast<std::size_t>(
      std::max(0, record.settings().builds_max - record.builds().attempts()));
  const std::size_t parts = std::min(builders, free) + 1;
  for (std::size_t part = 1; part < parts && !all.empty(); ++part) {
    const double cut = static_cast<double>(part) / static_cast<double>(parts);
    const auto nearest =
        std::min_element(all.begin(), all.end(), [&](const Candidate& a, const Candidate& b) {
          return std::abs(a.bad - cut) < std::abs(b.bad - cut);
        });
    if (places.empty() || places.back() < nearest->place) places.push_back(nearest->place);
  }
  return places.empty() ? wanted : places;
}

}  // namespace torchwatch::bisect
