#include "../paging.hpp"
#include "../request_body.hpp"
#include "../row_json.hpp"
#include "handlers.hpp"
#include "submission.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::web::handlers {
namespace {

using nlohmann::json;

Result<json> build_json(storage::BuildStore& builds, storage::Id id) {
  TW_TRY(const auto build, builds.get(id));
  return json{{"id", build.id},
              {"name", build.name},
              {"version", text_or_null(build.version)},
              {"trunk_commit", text_or_null(build.trunk_commit)}};
}

Result<json> night_json(storage::BuildStore& builds, const storage::NightRow& night) {
  json out{{"id", night.id},
           {"kind", to_string(night.kind)},
           {"state", to_string(night.state)},
           {"repetition", night.repetition},
           {"baseline", nullptr},
           {"reason", text_or_null(night.reason)},
           {"created_at", time_of(night.created_at)},
           {"ended_at", time_of(night.ended_at)}};
  TW_TRY(out["candidate"], build_json(builds, night.candidate));
  if (night.baseline) {
    TW_TRY(out["baseline"], build_json(builds, *night.baseline));
  }
  return out;
}

/// The sentences alone: what they were made from is the pipeline's own.
json summary_json(const storage::NightRow& night) {
  const auto summary = embedded(night.summary_json);
  return summary.is_object() ? summary.value("sentences", json::array()) : json::array();
}

json verdict_json(const storage::VerdictRow& verdict) {
  json out = json_of(verdict.target);
  out.update({{"verdict", to_string(verdict.verdict)},
              {"ratio", number_or_null(verdict.ratio)},
              {"interval", interval_of(verdict.interval_low, verdict.interval_high)},
              {"baseline_value", verdict.baseline_value},
              {"candidate_value", verdict.candidate_value},
              {"baseline_spread", verdict.baseline_spread},
              {"candidate_spread", verdict.candidate_spread},
              {"runs", verdict.runs},
              {"reason", text_or_null(verdict.reason)}});
  return out;
}

}  // namespace

Result<Reply> list_nightlies(const Request& request, Backend& backend) {
  TW_TRY(const Page page, page_of(request));
  TW_TRY(const auto nights, storage::NightStore(backend.database).list(page.limit, page.before));
  storage::BuildStore builds(backend.database);
  json entries = json::array();
  for (const auto& night : nights) {
    TW_TRY(entries.emplace_back(), night_json(builds, night));
  }
  return list_reply("nightlies", std::move(entries), page);
}

Result<Reply> get_nightly(const Request& request, Backend& backend) {
  TW_TRY_VOID(refuse_parameters(request));
  TW_TRY(const auto id, id_of(request));
  storage::NightStore nights(backend.database);
  storage::BuildStore builds(backend.database);
  TW_TRY(const auto night, nights.get(id));
  TW_TRY(const auto verdicts, nights.verdicts_of(id));
  TW_TRY(json out, night_json(builds, night));
  out["summary"] = summary_json(night);
  out["verdicts"] = json::array();
  for (const auto& verdict : verdicts) out["verdicts"].push_back(verdict_json(verdict));
  return object_reply(out);
}

Result<Reply> ask_for_nightly(const Request& request, Backend& backend) {
  TW_TRY(const json body, parse_object(request.body, {"candidate", "baseline"}));
  TW_TRY(const auto candidate, name_member(body, "candidate"));
  TW_TRY(const auto baseline, name_member(body, "baseline"));
  if (candidate.empty() != baseline.empty()) {
    return fail(ErrorCode::invalid,
                "candidate and baseline are named together; without both, every nightly that is "
                "due is worked off");
  }
  return submit(request, backend, storage::RequestKind::nightly, body);
}

}  // namespace torchwatch::web::handlers
