#include <algorithm>

#include "builder.hpp"
#include "measurer.hpp"
#include "probe_text.hpp"
#include "recorded_result.hpp"
#include "recorded_search.hpp"
#include "revert_verifier.hpp"
#include "torchwatch/bisect/posterior.hpp"
#include "torchwatch/bisection/run.hpp"
#include "torchwatch/bisection/searched_range.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/past_searches/lead.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::bisection {
namespace {

/// "; about 3 commits to try": what is left of a search, as far as its posterior tells.
std::string left_text(const bisect::CulpritSearch& search) {
  const auto left = bisect::commits_left(search.posterior());
  return left > 0
             ? "; about " + figures::count(static_cast<std::size_t>(left), "commit") + " to try"
             : "";
}

/// Says what a measurement is for, as people read it while it runs.
std::string aim_of(bisect::Purpose purpose, const bisect::CulpritSearch& search) {
  switch (purpose) {
    case bisect::Purpose::verify_ends:
      return "to see the change between both ends again";
    case bisect::Purpose::probe:
      return "to narrow the range down" + left_text(search);
    case bisect::Purpose::verify_culprit:
      return "to verify the culprit";
    case bisect::Purpose::look_for_more:
      return "to look for another cause";
  }
  return "";
}

/// Does what the search asks for, one step after the other, and records what came of each.
class BisectionDriver {
 public:
  BisectionDriver(comparison::Services& services, const storage::BisectionRow& row,
                  const BisectionSpec& spec, RecordedSearch recorded)
      : services_(services),
        spec_(spec),
        recorded_(std::move(recorded)),
        measurer_(services, storage::Owner{storage::OwnerKind::bisection, row.id}, spec),
        builder_(services, spec, recorded_),
        verifier_(services, spec, recorded_, builder_, measurer_) {}

  Result<BisectionResult> run(std::stop_token stop);

 private:
  /// Returns the result when this was the last step.
  Result<std::optional<BisectionResult>> step(std::stop_token);
  Status weigh_commits();
  Status measure_pairs(const bisect::Measure&, std::stop_token);
  Status measure_build(const bisect::Measure&, std::stop_token);
  void say_what_is_read(const bisect::Measure&) const;
  Status record_failure(const bisect::Measure&, const SideFailed&);
  std::string name_of_next() const;

  comparison::Services& services_;
  const BisectionSpec& spec_;
  RecordedSearch recorded_;
  BisectionMeasurer measurer_;
  BisectionBuilder builder_;
  RevertVerifier verifier_;
};

Result<BisectionResult> BisectionDriver::run(std::stop_token stop) {
  TW_TRY_VOID(measurer_.load_past_runs());
  if (recorded_.next_ordinal() == 0) TW_TRY_VOID(weigh_commits());
  if (recorded_.search().spent().runs == 0) TW_TRY_VOID(builder_.take_what_is_at_hand());
  while (!stop.stop_requested()) {
    auto result = step(stop);
    if (!result) {
      TW_TRY_VOID(measurer_.free_slots());
      return fail(result.error());
    }
    if (*result) return **std::move(result);
  }
  return fail(ErrorCode::cancelled, "the bisection was interrupted");
}

/// Once, as the search begins: a replay must not depend on what is known by then.
Status BisectionDriver::weigh_commits() {
  TW_TRY(const auto patterns, cannot_change(spec_));
  TW_TRY(auto lead, past_searches::lead_among(candidates_of(recorded_), patterns,
                                              *services_.history, services_.database));
  if (!lead) return {};
  services_.progress.log("looking first where culprits lay before: " + lead->reason);
  return recorded_.record(CommitsWeighed{std::move(lead->weights), std::move(lead->reason)});
}

Result<std::optional<BisectionResult>> BisectionDriver::step(std::stop_token stop) {
  const auto action = recorded_.search().next();
  if (const auto* answer = std::get_if<bisect::Answer>(&action)) {
    // A probe may have read a culprit beside its parent, too, whoever made them.
    for (const auto& culprit : answer->culprits) {
      TW_TRY(const bool is_open, builder_.set_unlike_aside(culprit.classes.back(), culprit.parent));
      if (is_open) return std::nullopt;
    }
    if (spec_.verify_by_revert) TW_TRY_VOID(verifier_.verify(*answer, stop));
    return result_of(*answer, recorded_, spec_);
  }
  const auto& wanted = std::get<bisect::Measure>(action);
  // A new build may show that there is nothing to measure, so it is a step of its own: the search
  // is asked again afterwards, and finds what is built.
  const auto missing = builder_.missing_for(wanted);
  if (!missing.empty()) {
    TW_TRY(auto end, builder_.build(missing, stop));
    if (end) return result_of(*std::move(end), recorded_, spec_);
    return std::nullopt;
  }
  // A probe only shows the way; from everything else it is concluded who made a change.
  if (wanted.purpose != bisect::Purpose::probe) {
    TW_TRY(const bool is_open, builder_.set_unlike_aside(wanted.candidate, wanted.reference));
    if (is_open) return std::nullopt;
  }
  TW_TRY_VOID(wanted.alone ? measure_build(wanted, stop) : measure_pairs(wanted, stop));
  return std::nullopt;
}

/// The name of the measurement that comes next, in the slots of its runs.
std::string BisectionDriver::name_of_next() const {
  return "search/" + std::to_string(recorded_.next_ordinal());
}

Status BisectionDriver::measure_pairs(const bisect::Measure& wanted, std::stop_token stop) {
  services_.progress.phase_started("measuring " + short_sha(recorded_.commit_of(wanted.candidate)) +
                                   " against " + short_sha(recorded_.sha_of(wanted.reference)) +
                                   ", " + aim_of(wanted.purpose, recorded_.search()));
  TW_TRY(auto measured,
         measurer_.measure_pairs(name_of_next(), builder_.at(wanted.candidate),
                                 builder_.at(wanted.reference), wanted.series, wanted.pairs, stop));
  if (const auto* failed = std::get_if<SideFailed>(&measured)) {
    return record_failure(wanted, *failed);
  }
  auto& pairs = std::get<PairReadings>(measured);
  TW_TRY_VOID(
      recorded_.record(PairsMeasured{.readings = {.candidate = wanted.candidate,
                                                  .reference = wanted.reference,
                                                  .effects = std::move(pairs.effects),
                                                  .references = std::move(pairs.references)},
                                     .purpose = wanted.purpose,
                                     .posterior = {}}));
  say_what_is_read(wanted);
  return platform::failpoint("nightly.after_bisection_event");
}

Status BisectionDriver::measure_build(const bisect::Measure& wanted, std::stop_token stop) {
  services_.progress.phase_started("measuring " + short_sha(recorded_.commit_of(wanted.candidate)) +
                                   " alone, " + aim_of(wanted.purpose, recorded_.search()));
  TW_TRY(auto measured,
         measurer_.measure_build(name_of_next(), builder_.at(wanted.candidate),
                                 builder_.at(std::nullopt), wanted.series, wanted.pairs, stop));
  if (const auto* failed = std::get_if<SideFailed>(&measured)) {
    return record_failure(wanted, *failed);
  }
  if (!measurer_.machine_change().empty()) {
    return recorded_.record(MachineChanged{"the environment changed during the bisection: " +
                                           measurer_.machine_change()});
  }
  TW_TRY_VOID(recorded_.record(
      RunsMeasured{.readings = {.candidate = wanted.candidate,
                                .readings = std::move(std::get<Readings>(measured))},
                   .purpose = wanted.purpose,
                   .posterior = {}}));
  say_what_is_read(wanted);
  return platform::failpoint("nightly.after_bisection_event");
}

void BisectionDriver::say_what_is_read(const bisect::Measure& wanted) const {
  const auto& search = recorded_.search();
  services_.progress.log(text_of({.commit = recorded_.commit_of(wanted.candidate),
                                  .against = wanted.alone ? "" : recorded_.sha_of(wanted.reference),
                                  .effects = search.read(wanted),
                                  .commits = static_cast<int>(recorded_.class_count()),
                                  .posterior = search.posterior()},
                                 spec_));
}

/// An end that fails takes its series with it; what fails between the ends is left out.
Status BisectionDriver::record_failure(const bisect::Measure& wanted, const SideFailed& failed) {
  const auto side = failed.candidate ? bisect::Reference{wanted.candidate} : wanted.reference;
  if (side && !recorded_.is_bad_end(*side)) {
    return leave_out(recorded_,
                     {.candidate = *side,
                      .commit = recorded_.commit_of(*side),
                      .reason = "cannot run the workload: " + failed.reason,
                      .fault = false},
                     failed.series);
  }
  for (const auto series : failed.series) {
    TW_TRY_VOID(recorded_.record(SeriesDropped{series, failed.reason}));
  }
  return {};
}

/// Errors that no later try can mend end the bisection with a result; others leave it open.
bool is_final(const Error& error) {
  return error.code == ErrorCode::invalid || error.code == ErrorCode::not_found;
}

/// Fetches the ends that the clone lacks: it may have been out of reach when the nightly was found.
/// What cannot be fetched is named by the range that lacks it. Errors: cancelled.
Status fetch_ends(comparison::Services& services, const BisectionSpec& spec, std::stop_token stop) {
  if (services.history == nullptr || services.source == nullptr) return {};
  for (const auto& end : {spec.good, spec.bad}) {
    if (services.history->commit(end)) continue;
    const auto fetched = services.source->fetch(end, stop);
    if (fetched) continue;
    if (fetched.error().code == ErrorCode::cancelled) return fetched;
    services.progress.log("commit " + short_sha(end) +
                          " of the search is missing: " + fetched.error().text());
  }
  return {};
}

Result<BisectionResult> run(comparison::Services& services, const storage::BisectionRow& row,
                            std::stop_token stop) {
  TW_TRY(const auto spec, parse_bisection_spec(row.spec_json));
  TW_TRY_VOID(fetch_ends(services, spec, stop));
  auto recorded = RecordedSearch::open(services, row.id, spec);
  if (recorded) {
    return BisectionDriver(services, row, spec, *std::move(recorded)).run(stop);
  }
  if (!is_final(recorded.error())) return fail(recorded.error());
  BisectionResult result;
  result.outcome = BisectionOutcome::nothing_to_search;
  result.reason = recorded.error().text();
  return result;
}

/// "the search ended: culprit 33de6cd2393f", or that none was named.
std::string end_of(const BisectionResult& result) {
  std::string named;
  for (const auto& culprit : result.culprits) {
    for (const auto& commit : culprit.commits) {
      named += (named.empty() ? "" : ", ") + short_sha(commit);
    }
  }
  if (!named.empty()) return "the search ended: culprit " + named;
  return "the search ended without a culprit" + (result.reason.empty() ? "" : ": " + result.reason);
}

}  // namespace

Result<storage::BisectionRow> carry_out_bisection(comparison::Services& services,
                                                  const storage::BisectionRow& row,
                                                  std::stop_token stop) {
  storage::BisectionStore store(services.database);
  const signals::InterruptibleWork work(
      services.interrupts, {storage::ItemKind::bisection, std::to_string(row.id)}, stop);
  TW_TRY(auto before, store.get(row.id));
  if (before.state == storage::BisectionState::ended) return before;
  const auto result = run(services, row, work.stop());
  const auto ended =
      result ? store.end(row, to_json(*result), services.clock.wall_now()) : fail(result.error());
  if (ended) services.progress.log(end_of(*result));
  TW_TRY(auto now, store.get(row.id));
  // A person may have ended it meanwhile; then its end is theirs.
  if (now.state == storage::BisectionState::ended) return now;
  TW_TRY_VOID(ended);
  return now;
}

}  // namespace torchwatch::bisection
