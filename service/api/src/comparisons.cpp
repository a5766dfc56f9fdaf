#include <set>

#include "handlers.hpp"
#include "request_body.hpp"
#include "torchwatch/evidence/comparison_list.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;
using report::embedded;

/// Paths of this machine and the output of programs are not for strangers.
json for_reader(json comparison, const Request& request) {
  if (request.is_trusted) return comparison;
  comparison["reason"] = nullptr;
  comparison["waits_for"] = nullptr;
  for (const auto* side : {"baseline", "candidate"}) {
    auto& build = comparison[side];
    const bool is_folder =
        build.is_object() && build["origin"] == to_string(storage::BuildOrigin::folder);
    if (is_folder) build["name"] = nullptr;
  }
  return comparison;
}

/// The builds that a filter names, for who asks; of a commit its first digits are enough, as pages
/// show it.
Result<std::set<storage::Id>> builds_named(const std::string& filter, const http::Page& page,
                                           const Request& request, const Backend& backend) {
  std::set<storage::Id> named;
  const auto given = page.filters.find(filter);
  if (given == page.filters.end()) return named;
  TW_TRY(const auto builds, storage::BuildStore(backend.database).list());
  for (const auto& build : builds) {
    const bool is_commit = build.origin == storage::BuildOrigin::commit;
    const bool has_digits = is_commit && short_sha(build.name) == given->second;
    if (has_digits || name_of(build, request) == given->second) named.insert(build.id);
  }
  return named;
}

json self_test_json(const std::optional<evidence::SelfTestResult>& found) {
  if (!found) return nullptr;
  const auto& [comparison, tally] = *found;
  return {
      {"comparison", comparison},     {"url", "/api/v1/comparisons/" + std::to_string(comparison)},
      {"series", tally.series},       {"inconclusive", tally.inconclusive},
      {"regressed", tally.regressed}, {"improved", tally.improved}};
}

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

/// Where the comparison cannot be read itself, all but its id is null.
json entry_of(const evidence::ComparisonInList& item) {
  auto entry = report::json_of(item.row.value_or(storage::ComparisonRow()), item.named);
  if (!item.row) {
    for (const auto& member : entry.items()) member.value() = nullptr;
  }
  entry["id"] = item.id;
  entry["commits"] = or_null(item.range.commits);
  entry["commits_that_can_matter"] = or_null(item.can_matter);
  entry["seconds"] = or_null(item.seconds);
  entry["benchmarks_lost"] = or_null(item.benchmarks_lost);
  entry["self_test"] = self_test_json(item.self_test);
  entry["unread"] = report::text_or_null(item.unread);
  return with_url(std::move(entry), "/api/v1/comparisons");
}

/// Keeps the sentences; the rest of the summary is internal.
json summary_json(const storage::ComparisonRow& comparison) {
  const auto summary = embedded(comparison.summary_json);
  return summary.is_object() ? summary.value("sentences", json::array()) : json::array();
}

}  // namespace

json comparisons_json(const std::vector<storage::ListedComparison>& rows, const Request& request,
                      const Backend& backend) {
  const auto at_work =
      backend.service_now ? backend.service_now().doing.comparison : std::optional<storage::Id>();
  auto entries = json::array();
  for (const auto& item : evidence::in_list(
           backend.database, rows, {.at_work = at_work, .count_commits = backend.count_commits})) {
    entries.push_back(for_reader(entry_of(item), request));
  }
  return entries;
}

Result<Reply> list_comparisons(const Request& request, const Backend& backend) {
  TW_TRY(const auto page,
         http::page_of(request, {"state", "purpose", "baseline", "candidate", "from", "to"}));
  TW_TRY_VOID(check_word<storage::ComparisonState>(page, "state"));
  TW_TRY_VOID(check_word<storage::Purpose>(page, "purpose"));
  TW_TRY(const auto days, days_of(page));
  TW_TRY(const auto baselines, builds_named("baseline", page, request, backend));
  TW_TRY(const auto candidates, builds_named("candidate", page, request, backend));
  const auto has = [&page](const char* filter, const auto& named, storage::Id id) {
    return !page.filters.contains(filter) || named.contains(id);
  };
  const auto fits = [&](const storage::ListedComparison& listed) {
    // Nobody knows whether a filter admits what cannot be read.
    if (!listed.row) return page.filters.empty();
    const auto& row = *listed.row;
    return days.have(row.created_at) && page.admits("state", to_string(row.state)) &&
           page.admits("purpose", to_string(row.purpose)) &&
           has("baseline", baselines, row.baseline.value_or(0)) &&
           has("candidate", candidates, row.candidate);
  };
  storage::ComparisonStore comparisons(backend.database);
  const auto list = [&](int limit, storage::Id before) {
    return comparisons.list_each(limit, before);
  };
  TW_TRY(const auto found, http::rows_fitting(page, list, fits));
  return list_reply("comparisons", comparisons_json(found.rows, request, backend), page,
                    found.next);
}

Result<Reply> get_comparison(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  storage::ComparisonStore comparisons(backend.database);
  TW_TRY(const auto comparison, comparisons.get(id));
  TW_TRY(const auto verdicts, storage::verdicts_of(backend.database, id));
  json out = comparisons_json(storage::listed({comparison}), request, backend).front();
  out["runs_url"] = "/api/v1/comparisons/" + std::to_string(id) + "/runs";
  out["summary"] = summary_json(comparison);
  out["verdicts"] = json::array();
  for (const auto& verdict : verdicts) {
    out["verdicts"].push_back(report::json_of(verdict));
    // Why a series failed may quote the output of its run.
    if (!request.is_trusted) out["verdicts"].back()["reason"] = nullptr;
  }
  return http::object_reply(out);
}

Result<Reply> ask_for_nightly(const Request& request, const Backend& backend) {
  TW_TRY(const json body, parse_object(request.body, {"candidate", "baseline", "workloads",
                                                      "configurations", "variants", "metrics"}));
  TW_TRY_VOID(check_selection(body));
  TW_TRY(const auto candidate, build_member(body, "candidate"));
  TW_TRY(const auto baseline, build_member(body, "baseline"));
  if (candidate.empty() != baseline.empty()) {
    return fail(ErrorCode::invalid,
                "candidate and baseline must be given together; without both, every nightly that "
                "is due is compared");
  }
  return submit(request, backend, storage::RequestKind::nightly, body);
}

Result<Reply> ask_for_comparison(const Request& request, const Backend& backend) {
  TW_TRY(json body, parse_object(request.body,
                                 {"candidate", "baseline", "settings", "pull", "head", "workloads",
                                  "configurations", "variants", "metrics", "preset", "now"}));
  TW_TRY(const auto candidate, build_member(body, "candidate"));
  TW_TRY(const auto baseline, build_member(body, "baseline"));
  TW_TRY(const auto head, name_member(body, "head"));
  const bool has_pull = body.contains("pull");
  if (has_pull ? !candidate.empty() || !baseline.empty() : candidate.empty() || baseline.empty()) {
    return fail(ErrorCode::invalid,
                "missing build: candidate and baseline must be given, or pull alone");
  }
  if (has_pull && body.contains("settings")) {
    return fail(ErrorCode::invalid, "settings are compared on one build, not on a pull request");
  }
  if (!has_pull && !head.empty()) {
    return fail(ErrorCode::invalid, "head is a commit of a pull request: pull must be given, too");
  }
  TW_TRY_VOID(check_selection(body));
  TW_TRY_VOID(word_member(body, "preset", parse_preset));
  if (!has_pull) body["opens_incidents"] = false;
  return submit(request, backend, storage::RequestKind::nightly, body);
}

Result<Reply> cancel_comparison(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(parse_object(request.body, {}));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY_VOID(backend.cancel_comparison(id, asker_of(request)));
  TW_TRY(const auto row, storage::ComparisonStore(backend.database).get(id));
  return http::object_reply({{"id", row.id}, {"state", to_string(row.state)}});
}

Result<Reply> retry_comparison(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(parse_object(request.body, {}));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto row, storage::ComparisonStore(backend.database).retry(id));
  if (backend.request_arrived) backend.request_arrived();
  return http::object_reply({{"id", row.id}, {"state", to_string(row.state)}});
}

}  // namespace torchwatch::api
