#include <algorithm>

#include "handlers.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/evidence/observed.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/lookup/lookup.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/report/setback.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

/// Reads ?build=, an id; where it is not given, evidence::observed_builds says which build is
/// meant. Errors: invalid; not_found; of storage.
Result<evidence::ObservedBuilds> builds_of(const http::Filters& filters, Pass pass,
                                           const Backend& backend) {
  std::optional<storage::BuildRow> named;
  if (filters.contains("build")) {
    TW_TRY(const auto id, http::id_in("build", filters.at("build")));
    TW_TRY(named, storage::BuildStore(backend.database).get(id));
  }
  return evidence::observed_builds(backend.database, pass, std::move(named));
}

json build_json(const std::optional<storage::BuildRow>& build, const Request& request) {
  if (!build) return nullptr;
  return with_url({{"id", build->id}, {"name", name_of(*build, request)}}, "/api/v1/builds");
}

json profile_json(const storage::ProfileOf& profile) {
  auto object = report::json_of(profile.benchmark);
  object["run"] = run_link(profile.run);
  object["active_ns"] = profile.breakdown.active_ns;
  object["copy_ns"] = profile.breakdown.copy_ns;
  object["idle_ns"] = profile.breakdown.idle_ns;
  return object;
}

/// The operators with the places of the benchmarks that call them.
json operators_json(const evidence::Coverage& coverage) {
  auto listed = json::array();
  for (const auto& [name, benchmarks] : coverage.operators) {
    auto places = json::array();
    for (const auto& benchmark : benchmarks) {
      const auto found = std::ranges::find(coverage.benchmarks, benchmark);
      places.push_back(std::distance(coverage.benchmarks.begin(), found));
    }
    listed.push_back({{"name", name}, {"benchmarks", std::move(places)}});
  }
  return listed;
}

json surface_json(const evidence::Coverage& coverage) {
  auto listed = json::array();
  for (const auto& space : evidence::covered_spaces(coverage)) {
    listed.push_back(
        {{"namespace", space.name}, {"called", space.called}, {"registered", space.registered}});
  }
  return listed;
}

/// What an item waits for; the reason is not for strangers.
json waits_json(const std::optional<storage::SetbackRow>& setback, const Request& request) {
  return setback ? text_of(report::waiting_text(*setback), request) : json(nullptr);
}

std::string queue_name(const evidence::QueuedItem& item) {
  return std::string(to_string(item.kind)) + "/" + std::to_string(item.id);
}

json item_json(const evidence::QueuedItem& item, const Request& request) {
  return {{"kind", to_string(item.kind)},
          {"id", item.id},
          {"url", "/api/v1/" + std::string(to_string(item.kind)) + "s/" + std::to_string(item.id)},
          {"what", item.what},
          {"since", report::time_of(item.since)},
          {"not_before", item.setback ? report::time_of(item.setback->not_before) : json(nullptr)},
          {"waits_for", waits_json(item.setback, request)},
          {"estimate", estimate_json(item.estimate)}};
}

/// The place of its page for people.
std::string page_of(const lookup::Found& found) {
  const bool is_model = found.kind == lookup::FoundKind::workload;
  if (found.kind == lookup::FoundKind::operation) {
    return "/" + found.path + "?operator=" + http::percent_encoded(found.name);
  }
  return "/" + (is_model ? "models/" + http::percent_encoded(found.name)
                         : http::percent_encoded_path(found.path));
}

}  // namespace

json estimate_json(const std::optional<evidence::Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"likely_seconds", estimate->likely},
          {"at_most_seconds", estimate->at_most},
          {"of", estimate->of}};
}

Result<Reply> get_breakdown(const Request& request, const Backend& backend) {
  TW_TRY(const auto filters, http::filters_of(request, {"build", "mode"}));
  auto mode = Mode::train;
  if (filters.contains("mode")) {
    TW_TRY(mode, parse_mode(filters.at("mode")));
  }
  TW_TRY(const auto builds, builds_of(filters, Pass::profile, backend));
  const auto& build = builds.build;
  json out{{"build", build_json(build, request)},
           {"mode", to_string(mode)},
           {"profiles", json::array()},
           {"without", json::array()}};
  if (!build) return http::object_reply(out);
  storage::EvidenceReader reader(backend.database);
  TW_TRY(const auto without, reader.unprofiled_of(build->id));
  for (const auto& [benchmark, reason] : without) {
    if (benchmark.configuration.mode != mode) continue;
    out["without"].push_back(report::json_of(benchmark));
    out["without"].back()["reason"] = text_of(reason, request);
  }
  TW_TRY(const auto profiles, reader.profiles_of(build->id));
  for (const auto& profile : profiles) {
    if (profile.benchmark.configuration.mode != mode) continue;
    out["profiles"].push_back(profile_json(profile));
  }
  return http::object_reply(out);
}

Result<Reply> get_coverage(const Request& request, const Backend& backend) {
  TW_TRY(const auto filters, http::filters_of(request, {"build"}));
  TW_TRY(const auto builds, builds_of(filters, Pass::coverage, backend));
  const auto& [build, before] = builds;
  evidence::Coverage coverage;
  evidence::CoverageChange change;
  if (build) {
    TW_TRY(coverage, evidence::coverage_of(backend.database, build->id));
  }
  if (before) {
    TW_TRY(const auto earlier, evidence::coverage_of(backend.database, before->id));
    change = evidence::coverage_change(earlier, coverage);
  }
  return http::object_reply({{"build", build_json(build, request)},
                             {"benchmarks", report::json_list(coverage.benchmarks)},
                             {"operators", operators_json(coverage)},
                             {"surface", surface_json(coverage)},
                             {"before", build_json(before, request)},
                             {"lost", change.lost},
                             {"gained", change.gained}});
}

Result<Reply> list_queue(const Request& request, const Backend& backend) {
  TW_TRY(const auto named, named_page_of(request, {}));
  TW_TRY(const auto items, evidence::queue_of(backend.database));
  std::vector<NamedEntry> entries;
  for (const auto& item : items) entries.push_back({queue_name(item), item_json(item, request)});
  return list_named("queue", std::move(entries), named);
}

Result<Reply> get_audits(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto audits, evidence::audits_of(backend.database));
  const auto& culprits = audits.culprits;
  return http::object_reply({{"self_tests", report::json_of(audits.self_tests)},
                             {"drills", report::json_of(audits.drills)},
                             {"culprits",
                              {{"named", culprits.named},
                               {"sure", culprits.sure},
                               {"held", culprits.held()},
                               {"disputed", culprits.disputed}}}});
}

Result<Reply> search(const Request& request, const Backend& backend) {
  constexpr std::size_t kFoundMax = 50;
  TW_TRY(const auto filters, http::filters_of(request, {"q"}));
  const auto given = filters.find("q");
  const auto words = given == filters.end() ? std::string() : given->second;
  if (characters_of(words) > lookup::kSearchMax) {
    return fail(ErrorCode::invalid, "invalid q: must be at most " +
                                        std::to_string(lookup::kSearchMax) + " characters long");
  }
  TW_TRY(const auto found,
         lookup::look_up(context_of(request, backend), words, kFoundMax, backend.suite));
  auto listed = json::array();
  for (const auto& each : found) {
    listed.push_back({{"kind", spelling(each.kind)},
                      {"name", each.name},
                      {"text", each.text},
                      {"url", "/api/v1/" + http::percent_encoded_path(each.path)},
                      {"html_url", page_of(each)}});
  }
  return http::object_reply({{"found", std::move(listed)}});
}

}  // namespace torchwatch::api
