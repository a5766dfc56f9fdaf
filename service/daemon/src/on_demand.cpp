#include "torchwatch/daemon/on_demand.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/search_order.hpp"
#include "torchwatch/nightly/search_result.hpp"
#include "torchwatch/nightly/search_run.hpp"
#include "torchwatch/nightly/subjects.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::daemon {
namespace {

using nightly::SearchedTarget;
using nightly::SearchOrder;
using nlohmann::json;

/// What a pair's spread is taken to be before anything of the series is known: that of process
/// medians on a shared machine (measurement.md 4.4 found 1.3 to 3.7 %), for both sides.
constexpr double kUnknownNoise = 0.04;

Status check_workloads(Session& session, const SearchRequest& request) {
  TW_TRY(const auto known, session.workshop().runners.workloads());
  for (const auto& name : request.workloads) {
    if (std::ranges::find(known, name) == known.end()) {
      return fail(ErrorCode::invalid, "workload \"" + name + "\" is not in the suite; " +
                                          did_you_mean(name, known) +
                                          "`torchwatch workloads` lists it");
    }
  }
  return {};
}

std::vector<Cell> named_cells(const SearchRequest& request) {
  std::vector<Cell> cells;
  for (const auto& workload : request.workloads) {
    for (const auto mode : {Mode::train, Mode::infer}) {
      if (request.mode && *request.mode != mode) continue;
      cells.push_back(Cell{workload, {request.device.value_or(Device::cpu), mode}, Variant{}});
    }
  }
  return cells;
}

SearchedTarget named_target(const Cell& cell, Metric metric, const detect::Settings& settings) {
  SearchedTarget searched;
  searched.target = Target{cell, metric};
  searched.noise_sd = nightly::is_relative(metric) ? kUnknownNoise : 0;
  searched.minimum_effect = nightly::minimum_effect(metric, 0, settings);
  return searched;
}

SearchOrder order_between(const Session& session, const std::string& good, const std::string& bad) {
  const auto& config = session.config();
  SearchOrder order;
  order.good = good;
  order.bad = bad;
  order.cannot_change = config.bisect.cannot_change;
  order.confidence = config.bisect.confidence;
  order.builds_max = config.bisect.builds_max;
  order.runs_max = config.bisect.runs_max;
  order.verify_by_revert = config.bisect.verify_by_revert;
  return order;
}

/// A build that recipes may start from: the newest one that is known and no commit's.
Result<std::string> base_folder(Session& session) {
  TW_TRY(const auto rows, storage::BuildStore(session.workshop().database).list());
  std::string folder;
  for (const auto& row : rows) {
    const bool usable =
        row.state == storage::BuildState::ready && row.origin != storage::BuildOrigin::commit;
    if (usable && builds::inspect(row.folder)) folder = row.folder;
  }
  return folder;
}

Result<storage::Id> build_of_commit(Session& session, const std::string& commit,
                                    const std::string& base, std::stop_token stop) {
  auto& workshop = session.workshop();
  TW_TRY(const auto plan_workloads, workshop.runners.workloads());
  const auto& wanted = workshop.config.suite.workloads;
  nightly::Subjects subjects(workshop, wanted.empty() ? plan_workloads : wanted);
  std::optional<builds::Tree> tree;
  if (!base.empty()) {
    TW_TRY(tree, builds::inspect(base));
  }
  TW_TRY(const auto built, subjects.of_commit(commit, tree, stop));
  if (const auto* unbuildable = std::get_if<builds::Unbuildable>(&built)) {
    return fail(ErrorCode::unavailable,
                "commit " + commit + " cannot be built: " + unbuildable->reason);
  }
  return std::get<nightly::Subject>(built).build;
}

/// The series that got worse between the ends, by a comparison of the whole suite.
Result<std::vector<SearchedTarget>> screened_targets(Session& session, const SearchOrder& order,
                                                     std::stop_token stop) {
  auto& workshop = session.workshop();
  TW_TRY(const auto good, build_of_commit(session, order.good, order.base_folder, stop));
  TW_TRY(const auto bad, build_of_commit(session, order.bad, order.base_folder, stop));
  TW_TRY(const auto opened, nightly::open_explicit_night(workshop, bad, good, false));
  TW_TRY(const auto night, nightly::carry_out_night(workshop, opened, stop));
  TW_TRY(const auto verdicts, storage::NightStore(workshop.database).verdicts_of(night.id));
  const auto settings = nightly::detect_settings(workshop.config, {});
  std::vector<SearchedTarget> targets;
  for (const auto& verdict : verdicts) {
    if (verdict.verdict != Verdict::regressed) continue;
    targets.push_back(named_target(verdict.target.cell, verdict.target.metric, settings));
  }
  return targets;
}

/// The search of that order which was interrupted, or a new one.
Result<storage::BisectionRow> open_search(Session& session, const SearchOrder& order) {
  auto& workshop = session.workshop();
  storage::BisectionStore store(workshop.database);
  storage::BisectionRow row;
  row.good = order.good;
  row.bad = order.bad;
  row.request_json = nightly::to_json(order);
  row.created_at = workshop.clock.wall_now();
  TW_TRY(const auto interrupted, store.open_ones());
  for (const auto& open : interrupted) {
    if (open.incident || open.request_json != row.request_json) continue;
    workshop.progress.note("going on with bisection " + std::to_string(open.id) +
                           ", which was interrupted");
    return open;
  }
  return store.opened(row);
}

Result<storage::BisectionRow> search_between(Session& session, const SearchRequest& request,
                                             const std::string& good, const std::string& bad,
                                             std::stop_token stop) {
  auto& workshop = session.workshop();
  auto order = order_between(session, good, bad);
  TW_TRY_VOID(workshop.history->range(good, bad));
  TW_TRY(order.base_folder, base_folder(session));
  const auto settings = nightly::detect_settings(workshop.config, {});
  const auto metric = request.metric.value_or(Metric::time);
  for (const auto& cell : named_cells(request)) {
    order.targets.push_back(named_target(cell, metric, settings));
  }
  if (request.workloads.empty()) {
    TW_TRY(order.targets, screened_targets(session, order, stop));
  }
  for (const auto& searched : order.targets) {
    if (std::ranges::find(order.plan.cells, searched.target.cell) == order.plan.cells.end()) {
      order.plan.cells.push_back(searched.target.cell);
    }
  }
  auto cells = order.plan.cells;
  order.plan = nightly::make_plan(workshop.config, {}, {});
  order.plan.cells = std::move(cells);

  TW_TRY(const auto row, open_search(session, order));
  if (!order.targets.empty()) return nightly::carry_out_search(workshop, row, stop);
  nightly::SearchResult nothing;
  nothing.outcome = "did_not_reproduce";
  nothing.reason = "no series of the suite got worse between the ends";
  storage::BisectionStore store(workshop.database);
  TW_TRY_VOID(store.ended(row, nightly::to_json(nothing), workshop.clock.wall_now()));
  return store.get(row.id);
}

template <typename Value, typename Parse>
Status read_word(const json& object, const char* name, std::optional<Value>& to, Parse parse) {
  if (!object.contains(name)) return {};
  TW_TRY(to, parse(object.at(name).get<std::string>()));
  return {};
}

}  // namespace

Result<SearchRequest> parse_search_request(const std::string& text) {
  try {
    const auto object = json::parse(text);
    SearchRequest request;
    request.good = object.value("good", "");
    request.bad = object.value("bad", "");
    request.suspect = object.value("suspect", "");
    if (object.contains("workloads")) object.at("workloads").get_to(request.workloads);
    TW_TRY_VOID(read_word(object, "device", request.device, parse_device));
    TW_TRY_VOID(read_word(object, "mode", request.mode, parse_mode));
    TW_TRY_VOID(read_word(object, "metric", request.metric, parse_metric));
    return request;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::invalid, std::string("request for a bisection: ") + exception.what());
  }
}

std::string to_json(const SearchRequest& request) {
  json object{{"good", request.good},
              {"bad", request.bad},
              {"suspect", request.suspect},
              {"workloads", request.workloads}};
  if (request.device) object["device"] = to_string(*request.device);
  if (request.mode) object["mode"] = to_string(*request.mode);
  if (request.metric) object["metric"] = to_string(*request.metric);
  return object.dump();
}

Result<storage::BisectionRow> search_on_demand(Session& session, const SearchRequest& request,
                                               std::stop_token stop) {
  const bool has_ends = !request.good.empty() && !request.bad.empty();
  if (request.suspect.empty() && !has_ends) {
    return fail(ErrorCode::invalid, "name two commits, GOOD and BAD, or one with --suspect");
  }
  TW_TRY_VOID(session.lock_machine());
  TW_TRY_VOID(check_workloads(session, request));
  std::optional<storage::BisectionRow> row;
  if (!request.suspect.empty()) {
    TW_TRY(const auto suspect, resolve_commit(session, request.suspect));
    TW_TRY(const auto parent, session.workshop().history->parent(suspect));
    TW_TRY(row, search_between(session, request, parent, suspect, stop));
    TW_TRY(const auto result, nightly::parse_search_result(row->answer_json));
    if (result.culprit() || !has_ends) return *row;
  }
  TW_TRY(const auto good, resolve_commit(session, request.good));
  TW_TRY(const auto bad, resolve_commit(session, request.bad));
  return search_between(session, request, good, bad, stop);
}

}  // namespace torchwatch::daemon
