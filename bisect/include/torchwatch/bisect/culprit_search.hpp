#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/words.hpp"

namespace torchwatch::bisect {

/// A build to measure against: a class by its index (oldest first), or none for the good end. The
/// last class is the bad end.
using Reference = std::optional<std::size_t>;

/// By how much times of two builds of like code differ in where things lie, for each of the two.
/// Without an allowance for it the search blames 2 to 5 % wrongly where they do by 1 %
/// (docs/results/search.md).
inline constexpr double kBuildSpreadOfTimes = 0.003;

/// One series whose change is searched. Effects are additive and positive where it got worse: for
/// time ln(candidate / reference) of one pair, for memory and leaks the difference in bytes.
struct SearchSeries {
  double noise_sd = 0.02;   ///< expected spread of one pair's effect; 0 where it is exact
  double noise_weight = 4;  ///< pairs that this expectation counts for beside the measured ones
  double minimum_effect = 0.034;  ///< a smaller change is not searched (default: ln 1.035)
  /// Spread between builds of code that is alike (where it came to lie in memory): no number of
  /// pairs averages it out. 0 for code that always lies alike; for time kBuildSpreadOfTimes, 0.01
  /// with other compilers.
  double build_sd = 0;
};

struct SearchSettings {
  double confidence = 0.99;  ///< of the posterior before a class is called the culprit
  double build_cost = 5;     ///< of one build, in runs
  int builds_max = 40;       ///< builds of classes other than the last
  int runs_max = 1000;       ///< a pair of one series counts as two runs
  int verify_pairs = 6;      ///< at least, of the culprit against its parent (exact series: fewer)
  int culprits_max = 4;
};

// What has happened. A search is the replay of its events; nothing else enters.

/// How likely each class is before anything is measured, relative to the others; all alike without
/// it. One positive number a class; only before the first measurement.
struct Weighed {
  std::vector<double> weights;
};
/// A measurement as it was ordered: for each series the effect of every pair. A series that could
/// not be measured here is left out only with SeriesLost following.
struct Measured {
  std::size_t candidate = 0;
  Reference reference;
  std::map<std::size_t, std::vector<double>> effects;
  /// Where known, what the reference's run of each pair read by itself (ln of the time, bytes).
  /// From those of the ends the search knows what a class may be read alone against.
  std::map<std::size_t, std::vector<double>> references = {};
};
/// Runs of the class without a partner, as they were ordered: what each read by itself.
struct MeasuredAlone {
  std::size_t candidate = 0;
  std::map<std::size_t, std::vector<double>> readings;
};
/// What is read from now on cannot be compared with what the ends read (the machine has changed):
/// search on in pairs.
struct LevelLost {};
/// The class has a build (from now on it costs nothing); Measured implies it for its candidate.
struct Built {
  std::size_t candidate = 0;
};
/// The class cannot be built, or cannot run the workloads. Not for one that has readings.
struct Unbuildable {
  std::size_t candidate = 0;
};
/// Both have the same library, so nothing between them (the later one included) is the culprit.
struct SameLibrary {
  Reference earlier;
  std::size_t later = 0;
  bool operator==(const SameLibrary&) const = default;
};
/// The build counts no longer, and neither does what it read: another one of the same commit takes
/// its place.
struct SetAside {
  Reference side;
};
/// The series cannot be measured any more (its workload fails at an end): search without it.
struct SeriesLost {
  std::size_t series = 0;
  /// Where given, at this class alone, which may have readings: the class is not told from the next
  /// one by this series, and what was read of it counts on.
  std::optional<std::size_t> candidate = {};
};
using SearchEvent = std::variant<Weighed, Measured, MeasuredAlone, Built, Unbuildable, SetAside,
                                 SameLibrary, SeriesLost, LevelLost>;

// What to do next.

enum class Purpose { verify_ends, probe, verify_culprit, look_for_more };

/// Build what is not built of `candidate` and `reference`, measure that many interleaved pairs of
/// each series, and apply all of it as one Measured (so that a killed measurement is continued, not
/// judged half-done). More series than named are welcome where they come for free.
struct Measure {
  std::size_t candidate = 0;
  Reference reference;
  std::vector<std::size_t> series;
  int pairs = 1;
  bool alone = false;  ///< that many runs of the candidate only, to be applied as MeasuredAlone
  Purpose purpose = Purpose::probe;
  bool operator==(const Measure&) const = default;
};

/// What reading a class is worth while a culprit is looked for.
struct ProbeWorth {
  std::size_t candidate = 0;
  double bad = 0;     ///< probability that the culprit is the class or an earlier one
  double bits = 0;    ///< expected of `runs`; 0: nothing that is worth them
  int runs = 0;       ///< that it is valued by; one of them is ordered at a time
  int builds = 0;     ///< needed first
  double chance = 1;  ///< that they succeed
};

/// Why a class is measured next: no other one tells more per cost, times the chance that it builds.
struct ProbeReason {
  ProbeWorth chosen;
  double build_cost = 0;  ///< of one build, in runs
  /// The class that splits what is believed most evenly, where that is another one: the best to
  /// read if all cost and told the same.
  std::optional<ProbeWorth> most_even = {};
};

struct Spent {
  int builds = 0;
  int runs = 0;
};

enum class Outcome {
  found,              ///< every change of minimum_effect has its culprit
  partly_found,       ///< some have; the reason says what is left
  not_told_apart,     ///< a limit ended the search, or the ends are too noisy to tell whether they
                      ///< differ; `suspects`, if any, hold the culprit
  did_not_reproduce,  ///< the ends do not differ
  nothing_to_search,  ///< no class
};

/// An effect with its 99 % interval, in the series's unit.
struct Effect {
  std::size_t series = 0;
  double effect = 0;
  double low = 0;
  double high = 0;
  int pairs = 0;
  bool shows = false;  ///< clearly different from nothing, and large enough to count
};

/// One culprit, measured directly against the nearest earlier class that builds.
struct Culprit {
  std::vector<std::size_t> classes;  ///< several: those that do not build cannot be distinguished
  Reference parent;
  double confidence = 0;        ///< posterior probability of `classes`
  std::vector<Effect> effects;  ///< of every series that reproduced
};

struct Answer {
  Outcome outcome = Outcome::found;
  std::vector<Culprit> culprits;      ///< verified; in the order of their share of the change
  std::vector<std::size_t> suspects;  ///< the smallest set that holds an unfound culprit ...
  double suspects_confidence = 0;     ///< ... with this probability
  std::vector<Effect> ends;           ///< bad against good end, of every series
  int builds = 0;                     ///< between the ends, which are built too
  int runs = 0;
  std::vector<std::size_t> skipped;  ///< classes that could not be built, or measured any more
  std::string reason;                ///< a sentence or two for people
};

using Action = std::variant<Measure, Answer>;

/// The search for the commits behind a change: pure, so a killed search resumes by applying its
/// events again and repeats nothing. Between measurements it keeps, for every class, the
/// probability of being the first bad one, and orders what tells most per cost (a noisy binary
/// search with continuous evidence; see the README). Not thread-safe; copyable.
class CulpritSearch {
 public:
  /// invalid for settings out of range, or no series.
  static Result<CulpritSearch> create(SearchSettings, std::vector<SearchSeries>,
                                      std::size_t classes);

  CulpritSearch(const CulpritSearch&);
  CulpritSearch& operator=(const CulpritSearch&);
  CulpritSearch(CulpritSearch&&) noexcept;
  CulpritSearch& operator=(CulpritSearch&&) noexcept;
  ~CulpritSearch();

  /// The same until something is applied.
  Action next() const;

  /// The classes to build at once for what comes next, with `builders` builders (at least one);
  /// empty if everything for it is built. Apply each as Built or Unbuildable, then ask for next()
  /// again.
  std::vector<std::size_t> next_builds(std::size_t builders) const;

  /// Takes in what has happened. invalid if it names a class or series that does not exist or has
  /// no number in it; conflict if it contradicts an earlier event. The search is then unchanged.
  Status apply(const SearchEvent&);

  /// What has been read by now of what that measurement names, each with its 99 % interval: the
  /// change of the pairs, or of runs alone against the ends' level. Series without a reading are
  /// left out.
  std::vector<Effect> read(const Measure&) const;

  /// Why that probe is worth its cost now, by the rule that orders probes. Nothing for what is no
  /// probe, and while nothing is looked for.
  std::optional<ProbeReason> reason_of(const Measure&) const;

  /// Whether readings of the class count.
  bool is_measured(std::size_t candidate) const;

  /// What the search has cost so far: builds of classes between the ends, and runs.
  Spent spent() const;

  /// The probability of each class to be the culprit now looked for; sums to 1. Right after a
  /// search for one was given up, as it was then. All zero while nothing is looked for (before the
  /// ends are verified, after the last culprit).
  std::vector<double> posterior() const;

 private:
  class State;
  explicit CulpritSearch(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace torchwatch::bisect

namespace torchwatch {

template <>
struct Words<bisect::Purpose> {
  using enum bisect::Purpose;
  static constexpr std::string_view kKind = "purpose of a measurement";
  static constexpr std::array kAll{Word{verify_ends, "verify_ends"}, Word{probe, "probe"},
                                   Word{verify_culprit, "verify_culprit"},
                                   Word{look_for_more, "look_for_more"}};
};

}  // namespace torchwatch
