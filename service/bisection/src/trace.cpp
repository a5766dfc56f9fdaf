#include "torchwatch/bisection/trace.hpp"

#include <algorithm>
#include <map>

#include "events.hpp"
#include "followed_search.hpp"
#include "torchwatch/bisect/posterior.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/statistics.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::bisection {
namespace {

using report::TraceStep;

using Class = std::size_t;
using Readings = std::map<std::size_t, std::vector<double>>;

/// Reads the events of one bisection one after the other.
class TraceReader {
 public:
  TraceReader(BisectionSpec spec, const std::vector<BisectionEvent>& events)
      : spec_(std::move(spec)), followed_(spec_, events) {}

  TraceStep step_of(const BisectionEvent& event) {
    TraceStep step;
    step.kind = kind_of(event);
    step.why = followed_.why(event);
    followed_.apply(event);
    std::visit([&](const auto& known) { read(known, step); }, event);
    return step;
  }

  /// What comes after the events that were read. Nothing before the ends are measured: until then
  /// nobody but the repository knows how many classes there are.
  std::optional<report::SearchOutlook> outlook() const {
    const auto* search = followed_.search();
    if (search == nullptr || !has_pairs_) return std::nullopt;
    report::SearchOutlook outlook{.commits = followed_.class_count(),
                                  .spent = search->spent(),
                                  .builds_max = spec_.builds_max,
                                  .runs_max = spec_.runs_max,
                                  .commits_left = bisect::commits_left(search->posterior())};
    const auto next = search->next();
    if (const auto* wanted = std::get_if<bisect::Measure>(&next)) {
      outlook.next = step_before(*wanted);
      outlook.needs_build = !search->next_builds(1).empty();
    }
    return outlook;
  }

 private:
  /// The measurement that comes next, as a step without readings.
  TraceStep step_before(const bisect::Measure& wanted) const {
    TraceStep step;
    step.kind = wanted.alone ? EventKind::measured_alone : EventKind::measured;
    step.purpose = wanted.purpose;
    step.place = wanted.candidate;
    step.commit = followed_.name_of(wanted.candidate);
    if (!wanted.alone) step.against = followed_.name_of(wanted.reference);
    step.why = followed_.why(wanted);
    return step;
  }

  void read(const CommitsWeighed& event, TraceStep& step) const { step.reason = event.reason; }

  void read(const PairsMeasured& event, TraceStep& step) {
    const auto& [candidate, reference, effects, references] = event.readings;
    has_begun_ = true;
    has_pairs_ = true;
    step.purpose = event.purpose;
    step.place = candidate;
    step.commit = note_read(candidate);
    step.against = note_read(reference);
    if (!reference) {
      for (const auto& [series, values] : references) {
        auto& known = good_readings_[series];
        known.insert(known.end(), values.begin(), values.end());
      }
    }
    for (const auto& [series, values] : effects) add(series, values, 0, step);
    believe(event.posterior, step);
  }

  void read(const RunsMeasured& event, TraceStep& step) {
    has_begun_ = true;
    step.purpose = event.purpose;
    step.place = event.readings.candidate;
    step.commit = note_read(event.readings.candidate);
    for (const auto& [series, values] : event.readings.readings) {
      const auto& good = good_readings_[series];
      if (!good.empty()) add(series, values, median(good), step);
    }
    believe(event.posterior, step);
  }

  void read(const CommitBuilt& event, TraceStep& step) {
    step.place = event.candidate;
    step.commit = event.commit;
    step.is_good_end = !event.candidate;
    // Before anything is measured the ends alone are built.
    if (!has_begun_ || step.is_good_end) step.purpose = bisect::Purpose::verify_ends;
    if (event.candidate) names_[*event.candidate] = event.commit;
    if (event.candidate && !event.at_hand) commits_[*event.candidate] = event.commit;
    if (!event.origin.empty()) step.reason = "made elsewhere (" + event.origin + ")";
  }

  void read(const BuildSetAside& event, TraceStep& step) const {
    step.commit = name(event.side);
    step.against = name(event.beside);
    step.reason = event.side == event.beside
                      ? "it had to be made anew, and somebody else made it this time"
                      : "it was made elsewhere, and that of " + short_sha(step.against) +
                            " was not; the recipe builds it";
  }

  void read(const CommitUnbuildable& event, TraceStep& step) const {
    step.place = event.candidate;
    step.commit = event.commit;
    step.reason = event.reason;
  }

  void read(const bisect::SameLibrary& event, TraceStep& step) const {
    step.commit = name(event.later);
    step.against = name(event.earlier);
  }

  void read(const SeriesDropped& event, TraceStep& step) const {
    step.place = event.candidate;
    if (event.candidate) step.commit = name(event.candidate);
    step.reason = event.reason;
  }
  void read(const MachineChanged& event, TraceStep& step) const { step.reason = event.reason; }

  void read(const RevertCheck& check, TraceStep& step) const {
    step.commit = name(check.culprit);
    const bool stays = !check.gone && !check.effects.empty() && check.reason.empty();
    step.reason = check.gone ? "undoes the change" : stays ? "leaves the change" : check.reason;
  }

  /// Names a side by its commit.
  std::string name(bisect::Reference side) const {
    if (!side) return spec_.good;
    const auto found = names_.find(*side);
    return found == names_.end() ? std::string{} : found->second;
  }

  /// Names a side that has readings now.
  std::string note_read(bisect::Reference side) {
    auto commit = name(side);
    if (side && !commit.empty()) commits_[*side] = commit;
    return commit;
  }

  void add(std::size_t series, const std::vector<double>& values, double level,
           TraceStep& step) const {
    if (values.empty()) return;
    step.readings.push_back(
        {spec_.series.at(series).series, median(values) - level, static_cast<int>(values.size())});
  }

  void believe(const std::vector<double>& posterior, TraceStep& step) const {
    step.posterior = posterior;
    if (posterior.size() == 1) return;  // of one candidate alone it is 1 whatever was measured
    std::string after = spec_.good;
    double mass = 0;
    for (Class place = 0; place < posterior.size(); ++place) {
      mass += posterior[place];
      const auto built = commits_.find(place);
      if (built == commits_.end()) continue;
      if (mass > step.probability) {
        step.probability = std::min(mass, 1.0);  // a sum of shares may exceed 1 by its rounding
        step.after = after;
        step.up_to = built->second;
      }
      after = built->second;
      mass = 0;
    }
  }

  BisectionSpec spec_;
  FollowedSearch followed_;
  std::map<Class, std::string> names_;    ///< of the classes that have a build
  std::map<Class, std::string> commits_;  ///< of those that the search built or read
  Readings good_readings_;                ///< what the good end has read so far
  bool has_begun_ = false;                ///< something was measured
  bool has_pairs_ = false;                ///< and in pairs, as the ends are
};

/// Whether the search has the series that an event names by their places.
bool has_series_of(const BisectionEvent& event, const BisectionSpec& spec) {
  const auto has = [&](const Readings& named) {
    return named.empty() || named.rbegin()->first < spec.series.size();
  };
  const auto* pairs = std::get_if<PairsMeasured>(&event);
  if (pairs != nullptr) return has(pairs->readings.effects) && has(pairs->readings.references);
  const auto* runs = std::get_if<RunsMeasured>(&event);
  return runs == nullptr || has(runs->readings.readings);
}

/// Whether the search only begins with that build, which is not a step of it.
bool was_at_hand(const BisectionEvent& event) {
  const auto* built = std::get_if<CommitBuilt>(&event);
  return built != nullptr && built->at_hand;
}

Result<BisectionEvent> parsed(const storage::BisectionRow& row, const BisectionSpec& spec,
                              const storage::BisectionEventRow& stored) {
  const auto where = "bisection " + std::to_string(row.id);
  auto event = parse_event(stored);
  if (!event) return fail(event.error().code, where + ", " + event.error().message);
  if (has_series_of(*event, spec)) return event;
  return fail(ErrorCode::corrupt, where + ", event " + std::to_string(stored.ordinal) +
                                      ": it has a series that is not searched for");
}

/// Follows the events up to the first that cannot be read.
report::SearchReplay followed(const storage::BisectionRow& row,
                              const std::vector<storage::BisectionEventRow>& stored) {
  report::SearchReplay replay;
  auto spec = parse_bisection_spec(row.spec_json);
  if (!spec) {
    replay.damage = spec.error();
    return replay;
  }
  std::vector<BisectionEvent> events;
  for (const auto& each : stored) {
    auto event = parsed(row, *spec, each);
    if (!event) {
      replay.damage = event.error();
      break;
    }
    events.push_back(*std::move(event));
  }
  TraceReader reader(*std::move(spec), events);
  for (const auto& event : events) {
    auto step = reader.step_of(event);
    if (!was_at_hand(event)) replay.steps.push_back(std::move(step));
  }
  const bool is_open = row.state == storage::BisectionState::open;
  if (is_open && !replay.damage) replay.outlook = reader.outlook();
  return replay;
}

}  // namespace

Result<std::vector<TraceStep>> trace_of(const storage::BisectionRow& row,
                                        const std::vector<storage::BisectionEventRow>& events) {
  auto replay = followed(row, events);
  if (replay.damage) return fail(*std::move(replay.damage));
  return std::move(replay.steps);
}

Result<std::vector<report::TraceStep>> trace_of(storage::Database& database,
                                                const storage::BisectionRow& row) {
  TW_TRY(const auto events, storage::BisectionStore(database).events_of(row.id));
  return trace_of(row, events);
}

report::SearchReplay replay_of(storage::Database& database, const storage::BisectionRow& row) {
  const auto events = storage::BisectionStore(database).events_of(row.id);
  return events ? followed(row, *events) : report::SearchReplay{.damage = events.error()};
}

}  // namespace torchwatch::bisection
