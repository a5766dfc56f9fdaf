#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/records/vocabulary.hpp"
#include "torchwatch/records/words.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::bisection {

/// What a stored event says has happened.
enum class EventKind {
  measured,        ///< pairs of two builds
  measured_alone,  ///< runs of one build
  built,
  unbuildable,
  same_library,  ///< two commits cannot be distinguished
  series_lost,   ///< a series is searched no further
  level_lost,    ///< the machine has changed
  reverted,      ///< a culprit was taken out of the newest commit
};

/// What a step measured of one series: the median change against the other side of its pairs, or,
/// for a build alone, against what the good end had read by then (ln of a ratio for times, else
/// bytes).
struct TraceReading {
  Series series;
  double effect = 0;
  int readings = 0;
};

/// One thing that happened in a bisection, with commits in the place of classes.
struct TraceStep {
  EventKind kind = EventKind::measured;
  std::optional<bisect::Purpose> purpose;  ///< of a measurement, and of the build of an end
  std::string commit;
  std::string against;  ///< the other side of the pairs
  std::vector<TraceReading> readings;
  std::string reason;  ///< why a commit has no build, a series was lost, ...
  /// The probability that the culprit is one of the commits behind `after` up to `up_to`, which are
  /// then the likeliest stretch between builds; 0 while no culprit is looked for.
  double probability = 0;
  std::string after;
  std::string up_to;
};

/// Says how a bisection went, from its stored events. Errors: corrupt, naming the event.
Result<std::vector<TraceStep>> trace_of(const storage::BisectionRow&,
                                        const std::vector<storage::BisectionEventRow>&);

/// Says in words what a step did and what it showed: "measured 1a2b3c4d5e6f against 5e6f1a2b3c4d".
std::string sentence_on(const TraceStep&);

/// Makes the steps as JSON, each with its sentence.
nlohmann::json to_json(const std::vector<TraceStep>&);

/// Makes the steps of a stored bisection. Errors: as of `trace_of`; of storage.
Result<nlohmann::json> trace_json(storage::Database&, const storage::BisectionRow&);

/// Estimates how many more commits a search tries before one is named, from the probability of each
/// to be the culprit: a commit tried tells at most one bit. 0 where nothing is looked for.
int commits_left(const std::vector<double>& posterior);

}  // namespace torchwatch::bisection

namespace torchwatch {

template <>
struct Words<bisection::EventKind> {
  using enum bisection::EventKind;
  static constexpr std::string_view kKind = "kind of an event";
  static constexpr std::array kAll{Word{measured, "measured"},
                                   Word{measured_alone, "measured_alone"},
                                   Word{built, "built"},
                                   Word{unbuildable, "unbuildable"},
                                   Word{same_library, "same_library"},
                                   Word{series_lost, "series_lost"},
                                   Word{level_lost, "level_lost"},
                                   Word{reverted, "reverted"}};
};

}  // namespace torchwatch
