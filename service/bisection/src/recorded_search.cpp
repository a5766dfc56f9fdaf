#include "recorded_search.hpp"

#include <algorithm>
#include <ranges>

namespace torchwatch::bisection {
namespace {

/// Two builds of like code differ by themselves in where things lie; without an allowance for it
/// the search blames 2 to 5 % wrongly where they do by 1 % (docs/results/search.md).
constexpr double kBuildSpread = 0.003;

bisect::SearchSettings settings_of(const BisectionSpec& spec) {
  bisect::SearchSettings settings;
  settings.confidence = spec.confidence;
  settings.builds_max = spec.builds_max;
  settings.runs_max = spec.runs_max;
  return settings;
}

std::vector<bisect::SearchSeries> series_of(const BisectionSpec& spec) {
  std::vector<bisect::SearchSeries> all_series;
  for (const auto& searched : spec.series) {
    bisect::SearchSeries series;
    series.noise_sd = searched.noise_sd;
    series.minimum_effect = searched.minimum_effect;
    series.build_sd = is_relative(searched.series.metric) ? kBuildSpread : 0;
    all_series.push_back(series);
  }
  return all_series;
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

RecordedSearch::RecordedSearch(storage::BisectionStore store, storage::Id bisection,
                               std::string good, bisect::CulpritSearch search)
    : store_(store), bisection_(bisection), good_(std::move(good)), search_(std::move(search)) {}

Result<RecordedSearch> RecordedSearch::open(comparison::Services& services, storage::Id bisection,
                                            const BisectionSpec& spec) {
  TW_TRY_VOID(check_services(services));
  TW_TRY(auto range, services.history->range(spec.good, spec.bad));
  const auto& patterns =
      spec.cannot_change.empty() ? bisect::default_cannot_change() : spec.cannot_change;
  TW_TRY(const auto cannot_change, bisect::PathPatterns::create(patterns));
  auto folded = bisect::fold(range, cannot_change);
  TW_TRY(auto search,
         bisect::CulpritSearch::create(settings_of(spec), series_of(spec), folded.classes.size()));
  RecordedSearch recorded(storage::BisectionStore(services.database), bisection, spec.good,
                          std::move(search));
  recorded.range_ = std::move(range);
  recorded.folded_ = std::move(folded);
  TW_TRY_VOID(recorded.replay());
  return recorded;
}

Status RecordedSearch::replay() {
  TW_TRY(const auto rows, store_.events_of(bisection_));
  for (const auto& row : rows) {
    auto event = parse_event(row);
    if (!event) {
      return fail(event.error().code,
                  "bisection " + std::to_string(bisection_) + ", " + event.error().message);
    }
    if (const auto applied = search_event_of(*event)) TW_TRY_VOID(search_.apply(*applied));
    events_.push_back(*std::move(event));
    next_ordinal_ = row.ordinal + 1;
  }
  return {};
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

bool RecordedSearch::has_built(std::size_t candidate) const {
  return std::ranges::any_of(events_, [&](const BisectionEvent& event) {
    const auto* built = std::get_if<CommitBuilt>(&event);
    return built != nullptr && built->candidate == candidate;
  });
}

int RecordedSearch::made_elsewhere() const {
  return static_cast<int>(std::ranges::count_if(events_, [this](const BisectionEvent& event) {
    const auto* built = std::get_if<CommitBuilt>(&event);
    return built != nullptr && !is_bad_end(built->candidate) && !built->origin.empty();
  }));
}

bool RecordedSearch::has(const bisect::SameLibrary& same) const {
  return std::ranges::any_of(events_, [&](const BisectionEvent& event) {
    const auto* known = std::get_if<bisect::SameLibrary>(&event);
    return known != nullptr && *known == same;
  });
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
  }
  return {};
}

int RecordedSearch::faults_in_a_row() const {
  int faults = 0;
  for (const auto& event : events_ | std::views::reverse) {
    if (std::holds_alternative<CommitBuilt>(event)) break;
    const auto* unbuildable = std::get_if<CommitUnbuildable>(&event);
    if (unbuildable == nullptr) continue;
    if (!unbuildable->fault) break;
    ++faults;
  }
  return faults;
}

const std::string& RecordedSearch::commit_of(std::size_t candidate) const {
  return range_.at(folded_.classes.at(candidate).commit).sha;
}

std::string RecordedSearch::sha_of(bisect::Reference side) const {
  return side ? commit_of(*side) : good_;
}

}  // namespace torchwatch::bisection
