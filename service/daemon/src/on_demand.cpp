#include "torchwatch/daemon/on_demand.hpp"

#include "torchwatch/bisection/opening.hpp"
#include "torchwatch/bisection/run.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/nightly/source_commits.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::daemon {
namespace {

/// Opens something and notes it for the request: both, or neither.
template <typename Row>
Result<Row> open_noted(comparison::Services& services, const RequestedBisection& requested,
                       const char* what, const std::function<Result<Row>()>& open) {
  Row row;
  TW_TRY_VOID(services.database.transact([&]() -> Status {
    TW_TRY(row, open());
    return requested.note ? requested.note(what, row.id) : Status{};
  }));
  return row;
}

/// The series that got worse between the ends, by a comparison of the whole suite.
Result<std::vector<Series>> screened_series(comparison::Services& services,
                                            const bisection::BisectionSpec& spec,
                                            const comparison::Selection& selection,
                                            const RequestedBisection& requested,
                                            std::stop_token stop) {
  TW_TRY(const auto base, bisection::base_folder(services.database, spec));
  TW_TRY(const auto good, build_of_commit(services, spec.good, base, stop));
  TW_TRY(const auto bad, build_of_commit(services, spec.bad, base, stop));
  TW_TRY(const auto opened,
         open_noted<storage::ComparisonRow>(services, requested, "comparison", [&] {
           return nightly::open_requested_comparison(services, bad.id, good.id, false, selection);
         }));
  TW_TRY(const auto comparison, nightly::carry_out_comparison(services, opened, stop));
  TW_TRY(const auto verdicts, storage::verdicts_of(services.database, comparison.id));
  std::vector<Series> all_series;
  for (const auto& verdict : verdicts) {
    const bool is_asked = comparison::is_selected(selection, verdict.series.metric);
    if (is_asked && verdict.verdict == Verdict::regressed) all_series.push_back(verdict.series);
  }
  return all_series;
}

/// Returns the bisection that an earlier try opened between these ends, if it did.
Result<std::optional<storage::BisectionRow>> opened_before(comparison::Services& services,
                                                           const RequestedBisection& requested,
                                                           const std::string& good,
                                                           const std::string& bad) {
  if (!requested.opened) return std::nullopt;
  TW_TRY(auto row, storage::BisectionStore(services.database).get(*requested.opened));
  if (row.good != good || row.bad != bad) return std::nullopt;
  return row;
}

Result<storage::BisectionRow> bisect_between(comparison::Services& services,
                                             const requests::BisectionRequest& request,
                                             const RequestedBisection& requested,
                                             const std::string& good, const std::string& bad,
                                             std::stop_token stop) {
  TW_TRY(const auto earlier, opened_before(services, requested, good, bad));
  if (earlier) return bisection::carry_out_bisection(services, *earlier, stop);
  TW_TRY(const auto spec, bisection::requested_spec(services, good, bad));
  TW_TRY(auto all_series, requests::named_series(services.config, request));
  if (request.selection.workloads.empty()) {
    TW_TRY(all_series, screened_series(services, spec, request.selection, requested, stop));
  }
  TW_TRY(const auto row, open_noted<storage::BisectionRow>(services, requested, "bisection", [&] {
           return bisection::open_requested_bisection(services, spec, all_series,
                                                      request.selection.preset);
         }));
  return bisection::carry_out_bisection(services, row, stop);
}

}  // namespace

Result<storage::BisectionRow> bisect_on_demand(Application& application,
                                               const requests::BisectionRequest& request,
                                               std::stop_token stop,
                                               const RequestedBisection& requested) {
  const bool has_ends = !request.good.empty() && !request.bad.empty();
  if (request.suspect.empty() && !has_ends) {
    return fail(ErrorCode::invalid, "name two commits, GOOD and BAD, or one with --suspect");
  }
  auto& services = application.services();
  TW_TRY_VOID(comparison::check_workloads(services, request.selection.workloads));
  TW_TRY_VOID(requests::named_series(services.config, request));
  const auto fetched = nightly::fetch_source(services, stop);
  if (!fetched) services.progress.log(fetched.error().text());
  if (!request.suspect.empty()) {
    TW_TRY(const auto suspect, resolve_commit(application, request.suspect, stop));
    TW_TRY(const auto parent, services.history->parent(suspect));
    TW_TRY_VOID(application.lock_machine());
    TW_TRY(auto row, bisect_between(services, request, requested, parent, suspect, stop));
    TW_TRY(const auto result, bisection::parse_bisection_result(row.result_json));
    if (result.culprit() || !has_ends) return row;
  }
  TW_TRY(const auto good, resolve_commit(application, request.good, stop));
  TW_TRY(const auto bad, resolve_commit(application, request.bad, stop));
  TW_TRY_VOID(application.lock_machine());
  return bisect_between(services, request, requested, good, bad, stop);
}

}  // namespace torchwatch::daemon
