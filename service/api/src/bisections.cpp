#include <algorithm>

#include "handlers.hpp"
#include "request_body.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

Status check_spec(const json& body) {
  TW_TRY(const auto suspect, name_member(body, "suspect"));
  TW_TRY(const auto good, name_member(body, "good"));
  TW_TRY(const auto bad, name_member(body, "bad"));
  TW_TRY_VOID(check_selection(body));
  TW_TRY_VOID(word_member(body, "preset", parse_preset));
  TW_TRY_VOID(word_member(body, "device", parse_device));
  TW_TRY_VOID(word_member(body, "mode", parse_mode));
  TW_TRY_VOID(word_member(body, "variant", parse_variant));
  TW_TRY_VOID(word_member(body, "metric", parse_judged_metric));
  if (good.empty() != bad.empty()) {
    return fail(ErrorCode::invalid, "good and bad must be given together");
  }
  if (suspect.empty() && good.empty()) {
    return fail(ErrorCode::invalid, "missing commits: give suspect, or good and bad");
  }
  return {};
}

/// Why a build or a search failed may name paths and quote programs: strangers do not see it.
json for_reader(json of, const Request& request) {
  if (request.is_trusted) return of;
  if (of.contains("reason")) of["reason"] = nullptr;
  if (!of.contains("skipped")) return of;
  for (auto& build : of["skipped"]) build["reason"] = nullptr;
  return of;
}

/// The steps of a search; a stranger does not see the text of one that has a reason.
json trace_json(const std::vector<report::TraceStep>& made, const Request& request) {
  auto steps = report::json_list(made);
  for (auto& step : steps) {
    if (request.is_trusted || step["reason"].is_null()) continue;
    step["reason"] = nullptr;
    step["text"] = nullptr;
  }
  return steps;
}

json bisection_json(const storage::BisectionRow& row, const Request& request) {
  json out = with_url(report::json_of(row), "/api/v1/bisections");
  out["result"] = for_reader(std::move(out["result"]), request);
  return out;
}

/// Reads ?commit=, the first digits of a commit; empty where it is not given. Errors: invalid.
Result<std::string> commit_of(const http::Page& page) {
  const auto given = page.filters.find("commit");
  if (given == page.filters.end()) return std::string();
  const auto& text = given->second;
  constexpr std::size_t kDigitsMin = 4;
  constexpr std::size_t kDigitsMax = 40;
  if (is_hex(text, kDigitsMin, kDigitsMax)) return text;
  return fail(ErrorCode::invalid, "invalid commit \"" + text.substr(0, 100) +
                                      "\": must be its first 4 to 40 digits, such as 33de6cd2393f");
}

/// Whether the commit is an end of the search, or one that it named; none is one of all.
bool concerns(const storage::BisectionRow& row, const std::string& commit) {
  if (row.good.starts_with(commit) || row.bad.starts_with(commit)) return true;
  return std::ranges::any_of(report::causes_of(row), [&](const auto& cause) {
    return std::ranges::any_of(cause.commits,
                               [&](const auto& named) { return named.sha.starts_with(commit); });
  });
}

}  // namespace

Result<Reply> list_bisections(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, http::page_of(request, {"state", "commit"}));
  TW_TRY_VOID(check_word<storage::BisectionState>(page, "state"));
  TW_TRY(const auto commit, commit_of(page));
  return list_fitting<storage::BisectionStore>(
      "bisections", page, backend,
      [&](const auto& row) {
        return page.admits("state", to_string(row.state)) && concerns(row, commit);
      },
      [&](const auto& row) -> Result<json> { return bisection_json(row, request); });
}

Result<Reply> get_bisection(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto bisection, storage::BisectionStore(backend.database).get(id));
  json out = bisection_json(bisection, request);
  out["runs_url"] = "/api/v1/bisections/" + std::to_string(id) + "/runs";
  const auto replay = backend.replay_of ? backend.replay_of(bisection) : report::SearchReplay();
  out["bisection_trace"] = trace_json(replay.steps, request);
  out["unread"] = report::text_or_null(unread_text(replay, bisection));
  return http::object_reply(out);
}

Result<Reply> ask_for_bisection(const Request& request, const Backend& backend) {
  TW_TRY(const json body,
         parse_object(request.body,
                      {"suspect", "good", "bad", "workloads", "configurations", "variants",
                       "metrics", "preset", "device", "mode", "variant", "metric", "now"}));
  TW_TRY_VOID(check_spec(body));
  return submit(request, backend, storage::RequestKind::bisection, body);
}

Result<Reply> cancel_bisection(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(parse_object(request.body, {}));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY_VOID(backend.cancel_bisection(id, asker_of(request)));
  return http::object_reply({{"id", id}, {"state", to_string(storage::BisectionState::ended)}});
}

}  // namespace torchwatch::api
