#include "torchwatch/nightly/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "judging.hpp"
#include "torchwatch/bisection/run.hpp"
#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/documents/study.hpp"
#include "torchwatch/filing/digest.hpp"
#include "torchwatch/follow_ups/follow_ups.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/second_searches.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/report/setback.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/tracing/operator_screen.hpp"
#include "torchwatch/tracing/tracing.hpp"
#include "torchwatch/triage/reporting.hpp"
#include "trunk_range.hpp"

namespace torchwatch::nightly {
namespace {

using comparison::Comparison;
using storage::ComparisonRow;
using storage::ComparisonState;
using storage::Purpose;

/// bisected -> reported: queues what the issues are to say and opens what follows a nightly, all in
/// the transaction that ends the comparison. Errors: of storage, of the facts.
Result<ComparisonRow> report_comparison(comparison::Services& services,
                                        const Comparison& comparison) {
  const auto& row = comparison.row;
  storage::ComparisonStore comparisons(services.database);
  ComparisonRow reported;
  TW_TRY_VOID(services.database.transact([&]() -> Status {
    TW_TRY_VOID(triage::queue_messages(services, comparison));
    if (row.purpose == Purpose::nightly) {
      TW_TRY_VOID(follow_ups::open_follow_ups(services, comparison));
      TW_TRY_VOID(filing::queue_digest(services, row));
    }
    TW_TRY(reported,
           comparisons.advance(row, ComparisonState::reported, services.clock.wall_now()));
    return {};
  }));
  TW_TRY_VOID(platform::failpoint("nightly.after_report"));
  return reported;
}

/// Each stage takes the comparison in one state and returns its row in a later one.
class Stages {
 public:
  Stages(comparison::Services& services, std::stop_token stop)
      : services_(services),
        comparisons_(services.database),
        builds_(services.database),
        stop_(stop) {}

  /// Carries out the stage that follows the comparison's state.
  Result<ComparisonRow> next(Comparison& comparison) {
    switch (comparison.row.state) {
      case ComparisonState::discovered:
        return prepare(comparison);
      case ComparisonState::ready:
        return measure(comparison);
      case ComparisonState::measured:
        return judge_comparison(services_, comparison);
      case ComparisonState::judged:
        return bisect(comparison);
      case ComparisonState::bisected:
        return report_comparison(services_, comparison);
      case ComparisonState::reported:
      case ComparisonState::accepted:
      case ComparisonState::refused:
      case ComparisonState::failed:
      case ComparisonState::cancelled:
        return comparison.row;
    }
    return fail(ErrorCode::internal, "comparison in an unknown state");
  }

 private:
  Result<ComparisonRow> advance(const Comparison& comparison, ComparisonState to,
                                const std::string& reason = "") {
    return comparisons_.advance(comparison.row, to, services_.clock.wall_now(), reason);
  }

  Result<ComparisonRow> prepare(Comparison& comparison) {
    const auto& row = comparison.row;
    if (!row.baseline) {
      const bool is_oldest = row.purpose == Purpose::nightly;
      return advance(
          comparison, ComparisonState::accepted,
          is_oldest ? std::string(kOldestNightly) : "one build measured, and interrupted");
    }
    TW_TRY_VOID(plan_anew(comparison));
    TW_TRY_VOID(require_usable(comparison));
    TW_TRY(const auto candidate, builds_.get(row.candidate));
    TW_TRY(const auto baseline, builds_.get(*row.baseline));
    TW_TRY_VOID(note_trunk_range(services_, row.id, baseline, candidate));
    if (row.purpose == Purpose::nightly && candidate.content_hash == baseline.content_hash) {
      return end_without_measuring(comparison, baseline);
    }
    return advance(comparison, ComparisonState::ready);
  }

  /// Makes both builds' runners. What is wrong with a build is noted with the build, so that the
  /// next nightly is compared with one that can be measured.
  Status require_usable(const Comparison& comparison) {
    const auto& row = comparison.row;
    // Else a workload that left the suite since would be taken for a fault of the builds.
    TW_TRY_VOID(comparison::check_plan(services_, comparison.plan));
    std::vector ids{*row.baseline};
    if (row.candidate != *row.baseline) ids.push_back(row.candidate);
    for (const auto id : ids) {
      TW_TRY(auto build, builds_.get(id));
      if (!build.unusable.empty() && is_tried_anew(comparison)) {
        TW_TRY_VOID(builds_.set_unusable(id, ""));
        build.unusable.clear();
      }
      if (build.unusable.empty()) {
        TW_TRY_VOID(try_build(comparison, build));
        TW_TRY(build, builds_.get(id));
      }
      if (!build.unusable.empty()) {
        return fail(ErrorCode::invalid, "build " + build.name + ": " + build.unusable);
      }
    }
    return {};
  }

  /// Whether what an earlier try noted of a build counts no more: a person asks, who may have
  /// mended what it failed for, or no kit is needed.
  static bool is_tried_anew(const Comparison& comparison) {
    const auto purpose = comparison.row.purpose;
    if (purpose == Purpose::requested || purpose == Purpose::study) return true;
    return std::ranges::all_of(workloads_of(comparison.plan), [&](const std::string& workload) {
      return comparison.plan.stated.contains(workload);
    });
  }

  Status try_build(const Comparison& comparison, const storage::BuildRow& build) {
    services_.progress.long_step_started(comparison::LongStep::kit,
                                         "preparing the runner of " + build.name);
    TW_TRY(const auto attended,
           attend(services_, {.key = {storage::ItemKind::build, build.name},
                              .work = [&] { return make_measurable(comparison, build); },
                              .end =
                                  [&](Failure, const std::string& reason) {
                                    return builds_.set_unusable(build.id, reason);
                                  }}));
    if (attended != Attended::put_off) return {};
    return fail(ErrorCode::unavailable, report::waits_for_build(build.name));
  }

  Status make_measurable(const Comparison& comparison, const storage::BuildRow& build) {
    TW_TRY_VOID(restore_tree(services_, build, stop_));
    return comparison::try_build(services_, comparison, build.id, stop_);
  }

  /// Plans by the configuration as it is now, until the first run: what was mistyped in it may have
  /// been corrected since.
  Status plan_anew(Comparison& comparison) {
    const auto& row = comparison.row;
    if (row.purpose != Purpose::nightly && !row.plan_json.empty()) return {};
    TW_TRY(const auto runs,
           storage::RunStore(services_.database).runs_of({storage::OwnerKind::comparison, row.id}));
    if (!runs.empty()) return {};
    TW_TRY(comparison.plan, comparison::plan_of_config(services_));
    const auto plan_json = to_json(comparison.plan);
    // A name that is mistyped in the configuration is not the nightly's fault: it waits.
    const auto known = comparison::check_plan(services_, comparison.plan);
    if (!known) return fail(known.error().within("[suite] workloads").as(ErrorCode::unavailable));
    if (plan_json == row.plan_json) return {};
    TW_TRY(comparison.row, comparisons_.set_plan(row, plan_json));
    return {};
  }

  Result<ComparisonRow> end_without_measuring(Comparison& comparison,
                                              const storage::BuildRow& baseline) {
    TW_TRY(comparison.plan, comparison::plan_of_config(services_));
    ComparisonRow ended;
    TW_TRY_VOID(services_.database.transact([&]() -> Status {
      TW_TRY_VOID(follow_ups::open_tests_of_service(services_, comparison));
      TW_TRY(ended, advance(comparison, ComparisonState::reported,
                            "the same libraries as " + baseline.name + ": nothing to measure"));
      return {};
    }));
    return ended;
  }

  Result<ComparisonRow> measure(Comparison& comparison) {
    TW_TRY_VOID(plan_anew(comparison));
    TW_TRY_VOID(require_usable(comparison));
    TW_TRY(const auto compared, comparison::ComparedBuilds::prepare(services_, comparison, stop_));
    TW_TRY_VOID(comparison::measure(services_, comparison, compared, stop_));
    TW_TRY(const bool is_planned_anew,
           tracing::screen_operators(services_, comparison, compared, stop_));
    if (is_planned_anew) {
      TW_TRY_VOID(comparison::measure(services_, comparison, compared, stop_));
    }
    return advance(comparison, ComparisonState::measured);
  }

  Result<ComparisonRow> bisect(const Comparison& comparison) {
    TW_TRY_VOID(tracing::trace_incidents(services_, comparison, stop_));
    storage::IncidentStore incidents(services_.database);
    storage::BisectionStore bisections(services_.database);
    TW_TRY(const auto found, incidents.of_comparison(comparison.row.id));
    const auto searches = std::ranges::count_if(
        found, [](const auto& incident) { return incident.bisection.has_value(); });
    std::string waits;
    for (int number = 0; const auto& incident : found) {
      if (!incident.bisection) continue;
      TW_TRY(const auto bisection, bisections.get(*incident.bisection));
      services_.progress.phase_started(
          fmt::format("search {} of {}: {}", ++number, searches, incident.title));
      TW_TRY(const auto attended, attend_bisection(services_, bisection, stop_));
      if (attended == Attended::put_off) waits += fmt::format(" {}", bisection.id);
    }
    if (!waits.empty()) return fail(ErrorCode::unavailable, "it waits for its searches:" + waits);
    return advance(comparison, ComparisonState::bisected);
  }

  comparison::Services& services_;
  storage::ComparisonStore comparisons_;
  storage::BuildStore builds_;
  std::stop_token stop_;
};

/// Returns the comparison as it is now, if a person cancelled it or made it due again while a stage
/// was at work: what became of the stage is not the comparison's fault then. Errors: the stage's.
Result<Comparison> changed_by_others(comparison::Services& services, const ComparisonRow& known,
                                     const Error& error, bool is_interrupted) {
  const bool is_stopped = consequence_of(error.code) == Consequence::stops;
  const bool is_cancelled = is_interrupted && error.code == ErrorCode::cancelled;
  if (is_stopped && !is_cancelled) return fail(error);
  TW_TRY(auto now, storage::ComparisonStore(services.database).get(known.id));
  if (now.version == known.version && !is_cancelled) return fail(error);
  return Comparison::of(std::move(now));
}

/// Reads a comparison again that somebody changed.
Status refresh(comparison::Services& services, Comparison& comparison) {
  TW_TRY(auto now, storage::ComparisonStore(services.database).get(comparison.row.id));
  if (now.version == comparison.row.version) return {};
  TW_TRY(comparison, Comparison::of(std::move(now)));
  return {};
}

/// Says for as long as it lives which comparison is worked on.
class Announced {
 public:
  Announced(comparison::Progress& progress, storage::Id comparison) : progress_(progress) {
    progress_.comparison_started(comparison);
  }
  ~Announced() { progress_.comparison_ended(); }
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;

 private:
  comparison::Progress& progress_;
};

/// Returns a comparison that was asked for in the same words and has not ended.
Result<std::optional<ComparisonRow>> interrupted(
    comparison::Services& services, const storage::NewComparison& asked,
    const std::optional<storage::StudyRow>& study = std::nullopt) {
  TW_TRY(const auto unfinished, storage::ComparisonStore(services.database).unfinished());
  for (const auto& row : unfinished) {
    const bool is_same = row.purpose == asked.purpose && row.candidate == asked.candidate &&
                         row.baseline == asked.baseline &&
                         row.opens_incidents == asked.opens_incidents &&
                         row.plan_json == asked.plan_json;
    if (!is_same) continue;
    TW_TRY(const auto stored, storage::StudyStore(services.database).find(row.id));
    if (stored != study) continue;
    services.progress.log("continuing comparison " + std::to_string(row.id) +
                          ", which was interrupted");
    return row;
  }
  return std::nullopt;
}

}  // namespace

Result<ComparisonRow> carry_out_comparison(comparison::Services& services, ComparisonRow row,
                                           std::stop_token stop) {
  const Announced announced(services.progress, row.id);
  TW_TRY(auto comparison, Comparison::of(std::move(row)));
  while (!is_end(comparison.row.state)) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "the comparison was interrupted");
    const signals::InterruptibleWork work(services.interrupts, key_of(comparison.row), stop);
    TW_TRY_VOID(refresh(services, comparison));
    auto next = Stages(services, work.stop()).next(comparison);
    if (next) {
      comparison.row = *std::move(next);
    } else {
      TW_TRY(comparison, changed_by_others(services, comparison.row, next.error(),
                                           work.is_interrupted() && !stop.stop_requested()));
    }
  }
  return comparison.row;
}

Result<std::vector<ComparisonRow>> carry_out_comparisons(comparison::Services& services,
                                                         std::vector<ComparisonRow> comparisons,
                                                         const std::function<Status()>& after_each,
                                                         std::stop_token stop) {
  WorkList work(services, Retry::now);
  storage::IncidentStore incidents(services.database);
  while (true) {
    TW_TRY(auto row, work.carry_out_next(Scope::nightlies, stop));
    if (!row) {
      TW_TRY(row, work.carry_out_next(Scope::requested, stop));
    }
    if (!row) {
      TW_TRY(const bool searched, attend_second_searches(services, Retry::now, stop));
      if (searched) TW_TRY_VOID(after_each());
      return comparisons;
    }
    const auto given = std::ranges::find(comparisons, row->id, &ComparisonRow::id);
    TW_TRY(const auto found, incidents.of_comparison(row->id));
    if (given != comparisons.end()) {
      *given = *row;
    } else if (!found.empty()) {
      comparisons.push_back(*row);
    }
    TW_TRY_VOID(after_each());
  }
}

Result<ComparisonRow> open_requested_comparison(comparison::Services& services,
                                                storage::Id candidate, storage::Id baseline,
                                                bool opens_incidents,
                                                const comparison::Selection& selection) {
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(const auto plan, comparison::plan_of(services, selection));
  const storage::NewComparison asked{.purpose = Purpose::requested,
                                     .candidate = candidate,
                                     .baseline = baseline,
                                     .opens_incidents = opens_incidents,
                                     .plan_json = to_json(plan)};
  TW_TRY(const auto same, interrupted(services, asked));
  return same ? *same : comparisons.open(asked, services.clock.wall_now());
}

Result<ComparisonRow> open_study(comparison::Services& services, storage::Id build,
                                 const storage::StudyRow& study,
                                 const comparison::Selection& selection) {
  TW_TRY(const auto sides, comparison::parse_sides(study.baseline, study.candidate));
  TW_TRY_VOID(comparison::check_workloads(services, comparison::with_alternatives(sides, {})));
  TW_TRY(auto plan, comparison::plan_of(services, selection));
  // A setting, such as a batch, may change outputs on purpose: only who names them means them.
  if (selection.metrics.empty()) plan.outputs = false;
  const auto plan_json = to_json(plan);
  const storage::NewComparison asked{
      .purpose = Purpose::study, .candidate = build, .baseline = build, .plan_json = plan_json};
  TW_TRY(const auto same, interrupted(services, asked, study));
  if (same) return *same;
  return storage::StudyStore(services.database)
      .open(build, plan_json, study, services.clock.wall_now());
}

}  // namespace torchwatch::nightly
