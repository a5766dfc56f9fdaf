#include "recorded_search.hpp"

#include <algorithm>
#include <ranges>
#include <set>

#include "torchwatch/bisect/early_answer.hpp"
#include "torchwatch/bisection/searched_range.hpp"

namespace torchwatch::bisection {
namespace {

bisect::SearchSettings settings_of(const BisectionSpec& spec) {
  bisect::SearchSettings settings;
  settings.confidence = spec.confidence;
  settings.builds_max = spec.builds_max;
  settings.runs_max = spec.runs_max;
  return settings;
}

void name_commit(std::size_t place, const std::string& sha, std::vector<bisect::Commit>& named) {
  if (place >= named.size()) named.resize(place + 1);
  named[place].sha = sha;
}

/// Notes the classes that an event names. Some have a number of every class.
void note_commits(const BisectionEvent& event, std::vector<bisect::Commit>& named) {
  const auto count_up_to = [&](const std::vector<double>& posterior) {
    named.resize(std::max(named.size(), posterior.size()));
  };
  if (const auto* weighed = std::get_if<CommitsWeighed>(&event)) count_up_to(weighed->weights);
  if (const auto* pairs = std::get_if<PairsMeasured>(&event)) count_up_to(pairs->posterior);
  if (const auto* runs = std::get_if<RunsMeasured>(&event)) count_up_to(runs->posterior);
  const auto* built = std::get_if<CommitBuilt>(&event);
  if (built != nullptr && built->candidate) name_commit(*built->candidate, built->commit, named);
  const auto* unbuildable = std::get_if<CommitUnbuildable>(&event);
  if (unbuildable != nullptr) name_commit(unbuildable->candidate, unbuildable->commit, named);
}

Status check_services(const comparison::Services& services) {
  if (services.history == nullptr) {
    return fail(ErrorCode::invalid,
                "commits cannot be searched: set [source] repository in the configuration");
  }
  if (services.commits == nullptr) {
    return fail(ErrorCode::invalid,
                "commits cannot be built: set [build] recipe in the configuration");
  }
  return {};
}

}  // namespace

std::vector<bisect::SearchSeries> series_of(const BisectionSpec& spec) {
  std::vector<bisect::SearchSeries> all_series;
  for (const auto& searched : spec.series) {
    bisect::SearchSeries series;
    series.noise_sd = searched.noise_sd;
    series.minimum_effect = searched.minimum_effect;
    series.build_sd = is_relative(searched.series.metric) ? bisect::kBuildSpreadOfTimes : 0;
    all_series.push_back(series);
  }
  return all_series;
}

Result<bisect::CulpritSearch> search_of(const BisectionSpec& spec, std::size_t classes) {
  return bisect::CulpritSearch::create(settings_of(spec), series_of(spec), classes);
}

std::vector<bisect::Commit> commits_named_by(const std::vector<BisectionEvent>& events) {
  std::vector<bisect::Commit> named;
  for (const auto& event : events) note_commits(event, named);
  return named;
}

std::string place_in(std::string origin, const std::string& sha) {
  for (auto at = origin.find(sha); at != std::string::npos; at = origin.find(sha)) {
    origin.erase(at, sha.size());
  }
  return origin;
}

RecordedSearch::RecordedSearch(storage::BisectionStore store, storage::Id bisection,
                               std::string good, bisect::CulpritSearch search)
    : store_(store), bisection_(bisection), good_(std::move(good)), search_(std::move(search)) {}

Result<RecordedSearch> RecordedSearch::open(comparison::Services& services, storage::Id bisection,
                                            const BisectionSpec& spec) {
  TW_TRY_VOID(check_services(services));
  TW_TRY(auto range, read_range(*services.history, spec));
  TW_TRY(auto search, search_of(spec, range.folded.classes.size()));
  RecordedSearch recorded(storage::BisectionStore(services.database), bisection, spec.good,
                          std::move(search));
  recorded.range_ = std::move(range.commits);
  recorded.commit_count_ = static_cast<int>(recorded.range_.size());
  recorded.folded_ = std::move(range.folded);
  TW_TRY_VOID(recorded.replay());
  return recorded;
}

Result<RecordedSearch> RecordedSearch::from_events(storage::Database& database,
                                                   storage::Id bisection,
                                                   const BisectionSpec& spec) {
  storage::BisectionStore store(database);
  TW_TRY(const auto rows, store.events_of(bisection));
  std::vector<BisectionEvent> events;
  for (const auto& row : rows) {
    TW_TRY(auto event, parse_event(row));
    events.push_back(std::move(event));
  }
  auto named = commits_named_by(events);
  TW_TRY(auto search, search_of(spec, named.size()));
  RecordedSearch recorded(store, bisection, spec.good, std::move(search));
  for (std::size_t place = 0; place < named.size(); ++place) {
    recorded.folded_.classes.push_back({.commit = place, .folded = {}});
  }
  recorded.range_ = std::move(named);
  TW_TRY_VOID(recorded.replay());
  return recorded;
}

Status RecordedSearch::replay() {
  TW_TRY(const auto rows, store_.events_of(bisection_));
  for (const auto& row : rows) {
    auto event = parse_event(row);
    if (!event) {
      return fail(event.error().code,
                  "bisection " + std::to_string(bisection_) + ", " + event.error().message,
                  event.error().remedy);
    }
    if (const auto applied = search_event_of(*event)) TW_TRY_VOID(search_.apply(*applied));
    events_.push_back(*std::move(event));
    next_ordinal_ = row.ordinal + 1;
  }
  return {};
}

Result<bisect::Answer> RecordedSearch::answer_now(const BisectionSpec& spec,
                                                  std::string reason) const {
  std::vector<bisect::SearchEvent> applied;
  for (const auto& event : events_) {
    if (auto known = search_event_of(event)) applied.push_back(*std::move(known));
  }
  return bisect::early_answer(settings_of(spec), series_of(spec), class_count(), applied,
                              std::move(reason));
}

Status RecordedSearch::record(BisectionEvent event) {
  if (const auto applied = search_event_of(event)) TW_TRY_VOID(search_.apply(*applied));
  if (auto* pairs = std::get_if<PairsMeasured>(&event)) pairs->posterior = search_.posterior();
  if (auto* runs = std::get_if<RunsMeasured>(&event)) runs->posterior = search_.posterior();
  TW_TRY_VOID(store_.append(bisection_, row_of(event, next_ordinal_)));
  ++next_ordinal_;
  events_.push_back(std::move(event));
  return {};
}

std::optional<std::string> RecordedSearch::origin_of(bisect::Reference side) const {
  for (const auto& event : events_ | std::views::reverse) {
    const auto* gone = std::get_if<BuildSetAside>(&event);
    if (gone != nullptr && gone->side == side) return std::nullopt;
    const auto* built = std::get_if<CommitBuilt>(&event);
    if (built != nullptr && built->candidate == side) return built->origin;
  }
  return std::nullopt;
}

builds::Maker RecordedSearch::maker_of(bisect::Reference side) const {
  const bool is_excluded = std::ranges::any_of(events_, [&](const BisectionEvent& event) {
    const auto* gone = std::get_if<BuildSetAside>(&event);
    return gone != nullptr && (gone->recipe_alone || (gone->side == side && gone->beside != side));
  });
  return is_excluded || origin_of(side) == "" ? builds::Maker::recipe : builds::Maker::anybody;
}

std::vector<BuildSetAside> RecordedSearch::unlike(bisect::Reference side,
                                                  bisect::Reference beside) const {
  const auto one = origin_of(side);
  const auto other = origin_of(beside);
  if (!one || !other || place_in(*one, sha_of(side)) == place_in(*other, sha_of(beside))) return {};
  const auto is_end = [&](bisect::Reference at) { return !at || is_bad_end(*at); };
  const auto is_culprits = [&](bisect::Reference at, bisect::Reference parent) {
    return at != parent && !(is_end(at) && is_end(parent));
  };
  // Once may be chance: a build that nobody has made. Twice, and the origins differ by themselves.
  const bool is_second =
      is_culprits(side, beside) && std::ranges::any_of(events_, [&](const BisectionEvent& event) {
        const auto* gone = std::get_if<BuildSetAside>(&event);
        return gone != nullptr && is_culprits(gone->side, gone->beside);
      });
  std::vector<bisect::Reference> sides{beside, side};
  if (is_second) {
    sides = {std::nullopt};
    for (std::size_t candidate = 0; candidate < class_count(); ++candidate) {
      sides.emplace_back(candidate);
    }
  }
  std::erase_if(sides, [this](bisect::Reference at) { return origin_of(at).value_or("").empty(); });
  std::vector<BuildSetAside> gone;
  for (const auto at : sides) {
    const bool is_own = one->empty() ? at != side : at == beside;
    gone.push_back({.side = at, .beside = is_own ? side : beside, .recipe_alone = is_second});
  }
  return gone;
}

int RecordedSearch::made_elsewhere() const {
  return static_cast<int>(std::ranges::count_if(events_, [this](const BisectionEvent& event) {
    const auto* built = std::get_if<CommitBuilt>(&event);
    if (built == nullptr || !built->candidate || is_bad_end(*built->candidate)) return false;
    return !built->origin.empty();
  }));
}

bool RecordedSearch::has(const bisect::SameLibrary& same) const {
  for (const auto& event : events_ | std::views::reverse) {
    const auto* gone = std::get_if<BuildSetAside>(&event);
    if (gone != nullptr && (gone->side == same.earlier || gone->side == same.later)) return false;
    const auto* known = std::get_if<bisect::SameLibrary>(&event);
    if (known != nullptr && *known == same) return true;
  }
  return false;
}

const RevertCheck* RecordedSearch::revert_of(std::size_t candidate) const {
  for (const auto& event : events_) {
    const auto* check = std::get_if<RevertCheck>(&event);
    if (check != nullptr && check->culprit == candidate) return check;
  }
  return nullptr;
}

std::string RecordedSearch::reason_of(std::size_t candidate) const {
  for (const auto& event : events_ | std::views::reverse) {
    const auto* unbuildable = std::get_if<CommitUnbuildable>(&event);
    if (unbuildable != nullptr && unbuildable->candidate == candidate) return unbuildable->reason;
    const auto* dropped = std::get_if<SeriesDropped>(&event);
    if (dropped != nullptr && dropped->candidate == candidate) return dropped->reason;
  }
  return {};
}

std::string why_all_dropped(const RecordedSearch& recorded, std::size_t series) {
  std::set<std::size_t> dropped;
  std::string reason;
  for (const auto& event : recorded.events_) {
    const auto* drop = std::get_if<SeriesDropped>(&event);
    if (drop == nullptr || drop->candidate) continue;
    dropped.insert(drop->series);
    reason = drop->reason;
  }
  return dropped.size() < series ? "" : reason;
}

Status leave_out(RecordedSearch& recorded, CommitUnbuildable left_out,
                 const std::vector<std::size_t>& all_series) {
  const auto candidate = left_out.candidate;
  if (!recorded.search().is_measured(candidate)) return recorded.record(std::move(left_out));
  for (const auto series : all_series) {
    TW_TRY_VOID(recorded.record(SeriesDropped{series, left_out.reason, candidate}));
  }
  return {};
}

int faults_in_a_row(const RecordedSearch& recorded) {
  int faults = 0;
  for (const auto& event : recorded.events_ | std::views::reverse) {
    if (std::holds_alternative<CommitBuilt>(event)) break;
    const auto* unbuildable = std::get_if<CommitUnbuildable>(&event);
    if (unbuildable == nullptr) continue;
    if (!unbuildable->fault) break;
    ++faults;
  }
  return faults;
}

bool is_freshly_verified(const RecordedSearch& recorded, std::size_t culprit,
                         bisect::Reference parent) {
  return std::ranges::none_of(recorded.events_, [&](const BisectionEvent& event) {
    const auto* pairs = std::get_if<PairsMeasured>(&event);
    return pairs != nullptr && pairs->purpose != bisect::Purpose::verify_culprit &&
           pairs->readings.candidate == culprit && pairs->readings.reference == parent;
  });
}

std::vector<bisect::Commit> candidates_of(const RecordedSearch& recorded) {
  std::vector<bisect::Commit> commits;
  for (const auto& each : recorded.folded_.classes) {
    commits.push_back(recorded.range_.at(each.commit));
  }
  return commits;
}

const std::string& RecordedSearch::commit_of(std::size_t candidate) const {
  return range_.at(folded_.classes.at(candidate).commit).sha;
}

std::string RecordedSearch::sha_of(bisect::Reference side) const {
  return side ? commit_of(*side) : good_;
}

}  // namespace torchwatch::bisection
