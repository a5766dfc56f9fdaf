#include "handlers.hpp"
#include "torchwatch/report/machine.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;
using report::time_of;
using storage::OwnerKind;
using storage::RunDetail;

std::string path_of(storage::Id run) {
  return "/api/v1/runs/" + std::to_string(run);
}

json id_if(OwnerKind kind, const storage::Owner& owner) {
  return owner.kind == kind ? json(owner.id) : json(nullptr);
}

json machine_json(const std::optional<storage::Id>& machine) {
  if (!machine) return nullptr;
  return with_url({{"id", *machine}}, "/api/v1/machines");
}

Result<json> run_json(const RunDetail& run, const Request& request, const Backend& backend) {
  TW_TRY(const auto build, storage::BuildStore(backend.database).get(run.build));
  const auto& iterations = run.iterations_per_sample;
  auto object = report::json_of(run.benchmark);
  object.update({{"id", run.attempt},
                 {"url", path_of(run.attempt)},
                 {"samples_url", path_of(run.attempt) + "/samples"},
                 {"comparison", id_if(OwnerKind::comparison, run.owner)},
                 {"bisection", id_if(OwnerKind::bisection, run.owner)},
                 {"build", {{"id", run.build}, {"name", name_of(build, request)}}},
                 {"pass", to_string(run.pass)},
                 {"slot", run.slot},
                 {"state", to_string(run.state)},
                 {"status", run.status ? json(to_string(*run.status)) : json(nullptr)},
                 // It may quote the output of the run.
                 {"reason", text_of(run.reason, request)},
                 {"started_at", time_of(run.issued_at)},
                 {"ended_at", time_of(run.ended_at)},
                 {"machine", machine_json(run.machine)},
                 {"machine_class", report::json_of(run.machine_class)},
                 {"node", text_of(run.node, request)},
                 {"iterations_per_sample", iterations ? json(*iterations) : json(nullptr)},
                 {"thinned", run.is_thinned},
                 {"values", values_json(run.values)}});
  return object;
}

/// Reads the filters. Errors: invalid, naming what is allowed.
Result<storage::RunFilter> filter_of(const http::Page& page) {
  TW_TRY_VOID(check_word<Pass>(page, "pass"));
  TW_TRY_VOID(check_word<storage::AttemptState>(page, "state"));
  const auto given = [&page](const char* name) -> std::optional<std::string> {
    const auto found = page.filters.find(name);
    return found == page.filters.end() ? std::nullopt : std::optional(found->second);
  };
  return storage::RunFilter{.workload = given("workload"),
                            .configuration = given("configuration"),
                            .variant = given("variant"),
                            .pass = given("pass"),
                            .state = given("state")};
}

Result<http::Page> page_of_runs(const Request& request) {
  return http::page_of(request, {"workload", "configuration", "variant", "pass", "state"});
}

Result<Reply> list_runs(const Request& request, const Backend& backend, const http::Page& page,
                        storage::Owner owner) {
  TW_TRY(const auto filter, filter_of(page));
  TW_TRY(const auto runs,
         storage::RunReader(backend.database).list(owner, filter, page.limit + 1, page.before));
  auto entries = json::array();
  for (const auto& run : runs) {
    TW_TRY(entries.emplace_back(), run_json(run, request, backend));
  }
  return list_reply("runs", std::move(entries), page);
}

json samples_json(const storage::SampleSet& set) {
  return {
      {"kind", set.kind},          {"unit", set.kind.ends_with("_ns") ? "ns" : "bytes"},
      {"thinned", set.is_thinned}, {"count", set.count},
      {"median", set.median},      {"spread", set.spread},
      {"digest", set.digest},      {"values", set.is_thinned ? json(nullptr) : json(set.samples)}};
}

}  // namespace

json values_json(const std::map<Metric, std::int64_t>& stated) {
  auto values = json::array();
  for (const auto& [metric, value] : stated) {
    values.push_back({{"metric", to_string(metric)}, {"unit", unit_of(metric)}, {"value", value}});
  }
  return values;
}

json run_link(storage::Id run) {
  return {{"id", run}, {"url", path_of(run)}};
}

Result<Reply> list_runs_of_comparison(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, page_of_runs(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY_VOID(storage::ComparisonStore(backend.database).get(id));
  return list_runs(request, backend, page, {OwnerKind::comparison, id});
}

Result<Reply> list_runs_of_bisection(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, page_of_runs(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY_VOID(storage::BisectionStore(backend.database).get(id));
  return list_runs(request, backend, page, {OwnerKind::bisection, id});
}

Result<Reply> get_run(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto run, storage::RunReader(backend.database).get(id));
  TW_TRY(const auto out, run_json(run, request, backend));
  return http::object_reply(out);
}

Result<Reply> get_samples(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  storage::RunReader reader(backend.database);
  TW_TRY(const auto run, reader.get(id));
  TW_TRY(const auto sets, reader.samples_of(id));
  auto samples = json::array();
  for (const auto& set : sets) samples.push_back(samples_json(set));
  return http::object_reply({{"run", id},
                             {"url", path_of(id)},
                             {"thinned", run.is_thinned},
                             {"samples", std::move(samples)}});
}

}  // namespace torchwatch::api
