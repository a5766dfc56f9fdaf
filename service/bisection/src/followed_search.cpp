#include "followed_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recorded_search.hpp"

namespace torchwatch::bisection {
namespace {

/// More than the rounding of stored numbers.
constexpr double kSameProbability = 1e-6;

/// The posterior that was stored with a measurement; null for other events.
const std::vector<double>* stored_posterior(const BisectionEvent& event) {
  if (const auto* pairs = std::get_if<PairsMeasured>(&event)) return &pairs->posterior;
  if (const auto* runs = std::get_if<RunsMeasured>(&event)) return &runs->posterior;
  return nullptr;
}

bool are_same(const std::vector<double>& one, const std::vector<double>& other) {
  return std::ranges::equal(one, other,
                            [](double a, double b) { return std::abs(a - b) < kSameProbability; });
}

/// Whether the event is what that measurement asked for.
bool is_carried_out(const bisect::Measure& wanted, const BisectionEvent& event) {
  if (const auto* pairs = std::get_if<PairsMeasured>(&event)) {
    return !wanted.alone && wanted.purpose == pairs->purpose &&
           wanted.candidate == pairs->readings.candidate &&
           wanted.reference == pairs->readings.reference;
  }
  const auto* runs = std::get_if<RunsMeasured>(&event);
  return runs != nullptr && wanted.alone && wanted.purpose == runs->purpose &&
         wanted.candidate == runs->readings.candidate;
}

}  // namespace

FollowedSearch::FollowedSearch(const BisectionSpec& spec, const std::vector<BisectionEvent>& events)
    : good_(spec.good), commits_(commits_named_by(events)) {
  if (auto search = search_of(spec, commits_.size())) search_ = *std::move(search);
}

std::string FollowedSearch::name_of(const bisect::Reference& side) const {
  if (!side) return good_;
  return *side < commits_.size() ? commits_[*side].sha : "";
}

std::optional<report::StepReason> FollowedSearch::why(const bisect::Measure& wanted) const {
  if (!search_) return std::nullopt;
  report::StepReason reason{.purpose = wanted.purpose, .probe = search_->reason_of(wanted)};
  if (wanted.purpose == bisect::Purpose::probe && !reason.probe) return std::nullopt;
  if (reason.probe && reason.probe->most_even) {
    reason.most_even = name_of(reason.probe->most_even->candidate);
  }
  const auto posterior = search_->posterior();
  const auto from = wanted.reference ? *wanted.reference + 1 : 0;
  const auto to = std::min(wanted.candidate + 1, posterior.size());
  const bool has_others = posterior.size() > 1;
  if (wanted.purpose == bisect::Purpose::verify_culprit && from < to && has_others) {
    const auto first = posterior.begin();
    reason.mass = std::min(1.0, std::accumulate(first + static_cast<std::ptrdiff_t>(from),
                                                first + static_cast<std::ptrdiff_t>(to), 0.0));
  }
  return reason;
}

std::optional<report::StepReason> FollowedSearch::why(const BisectionEvent& event) const {
  if (!search_) return std::nullopt;
  const auto next = search_->next();
  const auto* wanted = std::get_if<bisect::Measure>(&next);
  if (wanted == nullptr) return std::nullopt;
  if (is_carried_out(*wanted, event)) return why(*wanted);
  const auto* built = std::get_if<CommitBuilt>(&event);
  const bool is_for_probe = built != nullptr && wanted->purpose == bisect::Purpose::probe;
  if (!is_for_probe) return std::nullopt;
  if (built->candidate == wanted->candidate) return why(*wanted);
  return report::StepReason{.is_beside = true};
}

void FollowedSearch::apply(const BisectionEvent& event) {
  const auto known = search_event_of(event);
  if (!search_ || !known) return;
  const bool is_taken = search_->apply(*known).has_value();
  const auto* stored = stored_posterior(event);
  if (!is_taken || (stored != nullptr && !are_same(*stored, search_->posterior()))) search_.reset();
}

}  // namespace torchwatch::bisection
