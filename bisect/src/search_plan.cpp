#include "search_plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "probe_choice.hpp"
#include "search_answer.hpp"

namespace torchwatch::bisect {
namespace {

/// A class that its verification has rejected gets this much less likely (e^-8), once each time it
/// comes up again; the third time the evidence contradicts itself.
constexpr double kRejection = -8;
constexpr int kRejectionsMax = 3;
constexpr double kContradiction = kRejectionsMax * kRejection;

/// The probability of a group from which on it is measured against its parent: those pairs are then
/// the readings that tell most, and mostly the last ones that are needed.
constexpr double kWorthVerifying = 0.7;

/// Where nothing read against the end tells more: the probability from which on a group is measured
/// against its parent all the same.
constexpr double kWorthComparing = 0.02;

constexpr const char* kNotToldApart =
    "Nothing that could still be measured tells the commits that are left apart.";
constexpr const char* kSeriesLost = "What changed cannot be measured at the ends any more.";
constexpr const char* kNotReadBeside =
    "A part of the change lies beside a commit that does not run the workload, so it could not be "
    "measured.";

/// Standard errors by which a rest must stay below minimum_effect to be left alone.
constexpr double kRestErrors = 1;

std::optional<Measure> verify_ends(const SearchRecord& record) {
  const Span whole = record.whole();
  Measure measure{.candidate = static_cast<std::size_t>(record.last()),
                  .reference = {},
                  .series = {},
                  .pairs = 0,
                  .purpose = Purpose::verify_ends};
  for (std::size_t series = 0; series < record.series_count(); ++series) {
    const Evidence& evidence = record.evidence(series);
    const Gate gate = ends_gate(evidence);
    if (record.lost(series) || judge(evidence.direct(whole), gate) != EffectState::open) continue;
    const int pairs = next_pairs(evidence.direct(whole), gate);
    if (measure.series.empty()) measure.pairs = pairs;
    if (measure.pairs == pairs) measure.series.push_back(series);
  }
  return measure.series.empty() ? std::nullopt : std::optional(measure);
}

bool can_read_both(const SearchRecord& record, std::size_t series, Span span) {
  return record.can_read(series, span.from) && record.can_read(series, span.to);
}

/// The lead until it is decided; every other series often enough to state its effect.
std::optional<Measure> verify_culprit(const SearchRecord& record, const Problem& problem,
                                      const Group& group) {
  const Span span{group.parent, group.last};
  Measure measure{.candidate = static_cast<std::size_t>(group.last),
                  .reference = reference_of(group.parent),
                  .series = {},
                  .pairs = 0,
                  .purpose = Purpose::verify_culprit};
  const auto want = [&](const Change& change, bool until_decided) {
    if (!can_read_both(record, change.series, span)) return;
    const Evidence& evidence = record.evidence(change.series);
    const Estimate known = evidence.direct(span);
    const Gate gate = culprit_gate(evidence, change.size, record.settings().verify_pairs);
    const bool enough = known.count >= gate.pairs_min;
    if (enough && (!until_decided || judge(known, gate) != EffectState::open)) return;
    const int pairs = next_pairs(known, gate);
    if (measure.series.empty()) measure.pairs = pairs;
    if (measure.pairs == pairs) measure.series.push_back(change.series);
  };
  const Change& lead = problem.changes.front();
  want(lead, true);
  const Evidence& evidence = record.evidence(lead.series);
  const Gate gate = culprit_gate(evidence, lead.size, record.settings().verify_pairs);
  if (judge(evidence.direct(span), gate) != EffectState::nothing) {
    for (const auto& change : reproduced(record)) {
      if (change.series != lead.series) want(change, false);
    }
  }
  return measure.series.empty() ? std::nullopt : std::optional(measure);
}

const Group& likeliest(const std::vector<Group>& groups) {
  return *std::max_element(groups.begin(), groups.end(),
                           [](const Group& a, const Group& b) { return a.mass < b.mass; });
}

/// The smallest set of groups that holds the culprit with the confidence asked for.
GivenUp suspects_of(std::vector<Group> groups, Span span, const std::vector<double>& posterior,
                    double confidence) {
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.mass > b.mass; });
  GivenUp result;
  for (const auto& group : groups) {
    if (result.confidence >= confidence || group.mass <= 0) break;
    result.confidence += group.mass;
    for (Place place = group.first; place <= group.last; ++place) {
      if (posterior[static_cast<std::size_t>(place - span.from - 1)] > 0) {
        result.suspects.push_back(static_cast<std::size_t>(place));
      }
    }
  }
  std::sort(result.suspects.begin(), result.suspects.end());
  return result;
}

std::string out_of_budget(const SearchRecord& record) {
  const auto counted = [](int count, const char* noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
  };
  return "The budget of " + counted(record.settings().builds_max, "build") + " and " +
         counted(record.settings().runs_max, "run") + " ended the search.";
}

bool has_budget(const SearchRecord& record) {
  const auto& settings = record.settings();
  return record.builds().attempts() < settings.builds_max && record.runs() + 2 <= settings.runs_max;
}

}  // namespace

Action SearchPlan::decide(const SearchRecord& record) {
  left_belief_.clear();
  if (problem_ && record.lost(problem_->changes.front().series) && reproduced(record).empty()) {
    give_up(record, kSeriesLost);
  }
  problem_.reset();
  if (record.last() < 0) return answer(record, {});
  if (auto ends = verify_ends(record)) {
    if (is_affordable(*ends, record)) return *ends;
    return answer(record, out_of_budget(record));
  }
  while (true) {
    if (auto rest = choose_problem(record)) {
      if (is_affordable(*rest, record)) return *rest;
      return answer(record, out_of_budget(record));
    }
    if (!problem_) return answer(record, {});
    if (auto measure = search(record)) return *measure;
  }
}

Answer SearchPlan::answer(const SearchRecord& record, std::string limit) const {
  if (limit.empty() && given_up_.empty() && has_lost_change(record)) limit = kSeriesLost;
  return answer_of(record, found_, given_up_, std::move(limit));
}

std::optional<Measure> SearchPlan::choose_problem(const SearchRecord& record) {
  problem_.reset();
  if (static_cast<int>(found_.size()) >= record.settings().culprits_max) return {};
  for (const Span span : segments(record)) {
    Problem problem{span, {}};
    for (const auto& change : reproduced(record)) {
      if (closed_.contains({change.series, span})) continue;
      if (span == record.whole()) {
        problem.changes.push_back(change);
        continue;
      }
      if (!has_rest(record, change.series)) continue;
      if (!can_read_both(record, change.series, span)) {
        closed_.insert({change.series, span});
        given_up_.emplace_back().reason = kNotReadBeside;
        continue;
      }
      const Evidence& evidence = record.evidence(change.series);
      const Estimate rest = evidence.direct(span);
      const Gate gate = rest_gate(evidence);
      const EffectState state = judge(rest, gate);
      if (state == EffectState::shows) problem.changes.push_back({change.series, rest.centre});
      if (state == EffectState::open) {
        return Measure{.candidate = static_cast<std::size_t>(span.to),
                       .reference = reference_of(span.from),
                       .series = {change.series},
                       .pairs = next_pairs(rest, gate),
                       .purpose = Purpose::look_for_more};
      }
    }
    if (problem.changes.empty()) continue;
    const auto clarity = [&](const Change& change) {
      return change.size / likelihood_scale(record.evidence(change.series), change.size);
    };
    std::stable_sort(problem.changes.begin(), problem.changes.end(),
                     [&](const Change& a, const Change& b) { return clarity(a) > clarity(b); });
    problem_ = std::move(problem);
    return {};
  }
  return {};
}

std::optional<Measure> SearchPlan::search(const SearchRecord& record) {
  learn_trust(record);
  const auto groups = groups_of(*problem_, record, problem_posterior(record));
  const Group& top = likeliest(groups);
  if (top.mass <= 0) {
    give_up(record, "Every build between the ends of the search has the same library.");
    return {};
  }
  const bool is_sure = top.mass >= record.settings().confidence;
  if (!is_sure && top.mass < kWorthVerifying) return probe(record, groups);
  if (auto verification = verify_culprit(record, *problem_, top)) {
    if (!verifying_ || verifying_->last != top.last) verifying_ = top;
    if (is_affordable(*verification, record)) return verification;
    give_up(record, out_of_budget(record));
    return {};
  }
  if (!is_sure && verified(record, top) == EffectState::shows) return probe(record, groups);
  conclude(record, top);
  return {};
}

std::optional<Measure> SearchPlan::probe(const SearchRecord& record,
                                         const std::vector<Group>& groups) {
  if (auto measure = choose_probe(*problem_, record, groups)) return measure;
  if (auto measure = compare_neighbours(record, groups)) return measure;
  give_up(record, has_budget(record) ? kNotToldApart : out_of_budget(record));
  return {};
}

std::optional<Measure> SearchPlan::compare_neighbours(const SearchRecord& record,
                                                      std::vector<Group> groups) const {
  std::ranges::stable_sort(groups, std::greater{}, &Group::mass);
  for (const auto& group : groups) {
    if (group.mass < kWorthComparing) break;
    const auto measure = verify_culprit(record, *problem_, group);
    if (measure && is_affordable(*measure, record)) return measure;
  }
  return {};
}

EffectState SearchPlan::verified(const SearchRecord& record, const Group& group) const {
  const Change& lead = problem_->changes.front();
  const Evidence& evidence = record.evidence(lead.series);
  const Gate gate = culprit_gate(evidence, lead.size, record.settings().verify_pairs);
  return judge(evidence.direct({group.parent, group.last}), gate);
}

void SearchPlan::learn_trust(const SearchRecord& record) {
  if (verifying_ && verified(record, *verifying_) == EffectState::nothing) {
    chance_of_rejections_ *= 1 - verifying_->mass;
    verifying_.reset();
  }
  trusts_alone_ = trusts_alone_ && chance_of_rejections_ > 1 - record.settings().confidence;
  problem_->trusts_alone = trusts_alone_;
}

void SearchPlan::conclude(const SearchRecord& record, const Group& group) {
  const Change& lead = problem_->changes.front();
  if (verified(record, group) == EffectState::shows) {
    found_.push_back(group);
    found_.back().proven_by = lead.series;
    verifying_.reset();
    return;
  }
  Penalties& penalties = penalties_[{lead.series, problem_->span}];
  for (Place place = group.first; place <= group.last; ++place) penalties[place] += kRejection;
  if (penalties[group.last] <= kContradiction) {
    give_up(record,
            "The likeliest culprit does not differ from its parent when measured directly.");
  }
}

void SearchPlan::give_up(const SearchRecord& record, std::string reason) {
  const auto posterior = problem_posterior(record);
  const auto groups = groups_of(*problem_, record, posterior);
  given_up_.push_back(suspects_of(groups, problem_->span, posterior, record.settings().confidence));
  given_up_.back().reason = std::move(reason);
  left_belief_ = this->posterior(record);
  for (const auto& change : problem_->changes) closed_.insert({change.series, problem_->span});
}

std::vector<Span> SearchPlan::segments(const SearchRecord& record) const {
  auto sorted = found_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Group& a, const Group& b) { return a.last < b.last; });
  std::vector<Span> spans;
  Place from = kGoodEnd;
  for (const auto& group : sorted) {
    spans.push_back({from, group.parent});
    from = group.last;
  }
  spans.push_back({from, record.last()});
  std::erase_if(spans, [&](Span span) {
    if (span == record.whole()) return false;  // then the answer says why nobody is blamed
    for (Place place = span.from + 1; place <= span.to; ++place) {
      if (record.prior(place) > 0) return false;
    }
    return true;
  });
  return spans;
}

bool SearchPlan::has_rest(const SearchRecord& record, std::size_t series) const {
  const Evidence& evidence = record.evidence(series);
  Estimate rest = evidence.direct(record.whole());
  for (const auto& step : steps_of(found_, record)) {
    const auto size = step.sizes.find(series);
    if (size == step.sizes.end()) continue;
    rest.centre -= size->second.centre;
    rest.error = std::hypot(rest.error, size->second.error);
  }
  for (const auto& [closed, span] : closed_) {
    if (closed == series) rest.centre -= evidence.direct(span).centre;
  }
  return rest.centre + kRestErrors * rest.error >= evidence.series().minimum_effect;
}

bool SearchPlan::has_lost_change(const SearchRecord& record) const {
  for (std::size_t series = 0; series < record.series_count(); ++series) {
    const Evidence& evidence = record.evidence(series);
    if (!record.lost(series)) continue;
    const auto state = judge(evidence.direct(record.whole()), ends_gate(evidence));
    if (state == EffectState::open) return true;
    if (state == EffectState::shows && has_rest(record, series)) return true;
  }
  return false;
}

std::vector<double> SearchPlan::problem_posterior(const SearchRecord& record) const {
  const auto known = penalties_.find({problem_->changes.front().series, problem_->span});
  return posterior_of(*problem_, record, steps_of(found_, record),
                      known == penalties_.end() ? Penalties() : known->second);
}

std::optional<ProbeReason> SearchPlan::reason_of(const Measure& measure,
                                                 const SearchRecord& record) const {
  if (!problem_ || measure.purpose != Purpose::probe) return std::nullopt;
  return reason_of_probe(measure, *problem_, record,
                         groups_of(*problem_, record, problem_posterior(record)));
}

std::vector<double> SearchPlan::posterior(const SearchRecord& record) const {
  if (!problem_ && !left_belief_.empty()) return left_belief_;
  std::vector<double> result(static_cast<std::size_t>(record.last() + 1), 0.0);
  if (!problem_) return result;
  const auto inside = problem_posterior(record);
  std::copy(inside.begin(), inside.end(), result.begin() + problem_->span.from + 1);
  return result;
}

}  // namespace torchwatch::bisect
