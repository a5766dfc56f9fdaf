#include "torchwatch/bisect/culprit_search.hpp"

#include <algorithm>
#include <cmath>

#include "probe_choice.hpp"
#include "search_answer.hpp"
#include "search_plan.hpp"
#include "search_record.hpp"

namespace torchwatch::bisect {
namespace {

Status check(const SearchSettings& settings) {
  const auto refuse = [](const char* what) { return fail(ErrorCode::invalid, what); };
  if (!(settings.confidence > 0.5 && settings.confidence < 1)) {
    return refuse("search confidence must lie between 0.5 and 1");
  }
  if (!(settings.build_cost >= 0)) return refuse("search build_cost must not be negative");
  if (settings.builds_max < 0) return refuse("search builds_max must not be negative");
  if (settings.runs_max < 1) return refuse("search runs_max must be at least 1");
  if (settings.verify_pairs < 1) return refuse("search verify_pairs must be at least 1");
  if (settings.culprits_max < 1) return refuse("search culprits_max must be at least 1");
  return {};
}

Status check(const SearchSeries& series) {
  const auto refuse = [](const char* what) { return fail(ErrorCode::invalid, what); };
  if (!(series.noise_sd >= 0) || std::isinf(series.noise_sd)) {
    return refuse("search series: noise_sd must be a number from 0 on");
  }
  if (!(series.build_sd >= 0) || std::isinf(series.build_sd)) {
    return refuse("search series: build_sd must be a number from 0 on");
  }
  if (!(series.noise_weight >= 1)) return refuse("search series: noise_weight must be at least 1");
  if (!(series.minimum_effect > 0)) return refuse("search series: minimum_effect must be positive");
  return {};
}

}  // namespace

class CulpritSearch::State {
 public:
  explicit State(SearchRecord record) : record_(std::move(record)) {
    action_ = plan_.decide(record_);
  }

  Status apply(const SearchEvent& event) {
    TW_TRY_VOID(record_.take(event));
    // What was concluded from the readings that are gone is concluded anew from those that are
    // left.
    if (std::holds_alternative<SetAside>(event)) plan_ = SearchPlan();
    action_ = plan_.decide(record_);
    return {};
  }
  const Action& action() const { return action_; }
  std::vector<double> posterior() const { return plan_.posterior(record_); }
  bool is_measured(std::size_t candidate) const {
    return record_.builds().is_measured(static_cast<Place>(candidate));
  }
  Spent spent() const { return {record_.builds().count(), record_.runs()}; }
  std::optional<ProbeReason> reason_of(const Measure& measure) const {
    return plan_.reason_of(measure, record_);
  }
  std::vector<std::size_t> next_builds(std::size_t builders) const {
    const auto* measure = std::get_if<Measure>(&action_);
    if (measure == nullptr || builds_needed(*measure, record_) == 0) return {};
    return choose_builds(*measure, posterior(), record_, builders);
  }
  std::vector<Effect> read(const Measure& measure) const {
    std::vector<Effect> effects;
    for (const auto series : measure.series) {
      const auto effect = effect_read(record_, series, measure);
      if (effect.pairs > 0) effects.push_back(effect);
    }
    return effects;
  }

 private:
  SearchRecord record_;
  SearchPlan plan_;
  Action action_;
};

CulpritSearch::CulpritSearch(std::unique_ptr<State> state) : state_(std::move(state)) {}
CulpritSearch::CulpritSearch(const CulpritSearch& other)
    : state_(std::make_unique<State>(*other.state_)) {}
CulpritSearch& CulpritSearch::operator=(const CulpritSearch& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
CulpritSearch::CulpritSearch(CulpritSearch&&) noexcept = default;
CulpritSearch& CulpritSearch::operator=(CulpritSearch&&) noexcept = default;
CulpritSearch::~CulpritSearch() = default;

Result<CulpritSearch> CulpritSearch::create(SearchSettings settings,
                                            std::vector<SearchSeries> all_series,
                                            std::size_t classes) {
  TW_TRY_VOID(check(settings));
  for (const auto& series : all_series) TW_TRY_VOID(check(series));
  if (all_series.empty()) return fail(ErrorCode::invalid, "a search needs at least one series");
  SearchRecord record(settings, all_series, classes);
  return CulpritSearch(std::make_unique<State>(std::move(record)));
}

Action CulpritSearch::next() const {
  return state_->action();
}

std::vector<std::size_t> CulpritSearch::next_builds(std::size_t builders) const {
  return state_->next_builds(std::max<std::size_t>(builders, 1));
}

Status CulpritSearch::apply(const SearchEvent& event) {
  return state_->apply(event);
}

std::vector<Effect> CulpritSearch::read(const Measure& measure) const {
  return state_->read(measure);
}

std::optional<ProbeReason> CulpritSearch::reason_of(const Measure& measure) const {
  return state_->reason_of(measure);
}

bool CulpritSearch::is_measured(std::size_t candidate) const {
  return state_->is_measured(candidate);
}

Spent CulpritSearch::spent() const {
  return state_->spent();
}

std::vector<double> CulpritSearch::posterior() const {
  return state_->posterior();
}

}  // namespace torchwatch::bisect
