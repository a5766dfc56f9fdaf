#include <map>

#include "handlers.hpp"
#include "torchwatch/runs/run_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;
using ByWorkload = std::map<std::string, std::vector<Series>>;

/// What was measured of each workload, or of one, in the order of the suite's configurations.
Result<ByWorkload> measured(const Backend& backend, const std::string& workload) {
  TW_TRY(const auto all, storage::RunStore(backend.database).all_series(workload));
  ByWorkload by_workload;
  for (const auto& series : all) by_workload[series.benchmark.workload].push_back(series);
  return by_workload;
}

/// The benchmarks of series that are sorted by them, each with its metrics.
json benchmarks_of(const std::vector<Series>& all) {
  auto benchmarks = json::array();
  const Benchmark* last = nullptr;
  for (const auto& series : all) {
    if (last == nullptr || *last != series.benchmark) {
      benchmarks.push_back({{"configuration", to_string(series.benchmark.configuration)},
                            {"variant", to_string(series.benchmark.variant)},
                            {"series", json::array()}});
      last = &series.benchmark;
    }
    benchmarks.back()["series"].push_back({{"metric", to_string(series.metric)},
                                           {"unit", unit_of(series.metric)},
                                           {"url", path_of(series)}});
  }
  return benchmarks;
}

/// A workload that has values but is not in the suite (any more).
json without_source(const std::string& name) {
  return {{"name", name},           {"domain", nullptr},     {"task", nullptr},
          {"train_batch", nullptr}, {"eval_batch", nullptr}, {"configurations", json::array()}};
}

/// The suite's workloads in its order, then what else has values. Where the sources cannot be read
/// the stored names remain. Where a workload is named, only its own series are read.
Result<json> workloads(const Backend& backend, const std::string& named = "") {
  TW_TRY(auto stored, measured(backend, named));
  const auto suite = backend.suite ? backend.suite() : Result<json>(json::array());
  auto listed = suite ? *suite : json::array();
  const auto finish = [](json& workload, const std::vector<Series>& series) {
    workload["url"] =
        "/api/v1/workloads/" + http::percent_encoded(workload.at("name").get<std::string>());
    workload["measured"] = benchmarks_of(series);
  };
  for (auto& workload : listed) {
    finish(workload, stored[workload.at("name").get<std::string>()]);
    stored.erase(workload.at("name").get<std::string>());
  }
  for (const auto& [name, series] : stored) {
    listed.push_back(without_source(name));
    finish(listed.back(), series);
  }
  return listed;
}

}  // namespace

Result<Reply> list_workloads(const Request& request, const Backend& backend) {
  TW_TRY(const auto named, named_page_of(request, {"domain", "task"}));
  TW_TRY(auto all, workloads(backend));
  std::vector<NamedEntry> fitting;
  for (auto& workload : all) {
    const auto fits = [&](const char* member) {
      const auto& value = workload.at(member);
      return named.page.admits(member, value.is_string() ? value.get<std::string>() : "");
    };
    if (!fits("domain") || !fits("task")) continue;
    fitting.push_back({workload.at("name").get<std::string>(), std::move(workload)});
  }
  return list_named("workloads", std::move(fitting), named);
}

Result<json> named_workload(const Backend& backend, const std::string& name) {
  TW_TRY(const auto all, workloads(backend, name));
  for (const auto& workload : all) {
    if (workload.at("name") == name) return workload;
  }
  return fail(ErrorCode::not_found, "no workload \"" + name.substr(0, 100) + "\"");
}

Result<Reply> get_workload(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto workload, named_workload(backend, request.path_parameters.at("name")));
  return http::object_reply(workload);
}

}  // namespace torchwatch::api
