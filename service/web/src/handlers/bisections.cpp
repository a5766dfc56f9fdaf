#include "../paging.hpp"
#include "../request_body.hpp"
#include "../row_json.hpp"
#include "handlers.hpp"
#include "submission.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::web::handlers {
namespace {

using nlohmann::json;

/// Without `request_json`: it holds folders of this machine.
json bisection_json(const storage::BisectionRow& bisection) {
  return {{"id", bisection.id},
          {"incident", bisection.incident ? json(*bisection.incident) : json(nullptr)},
          {"state", to_string(bisection.state)},
          {"good", bisection.good},
          {"bad", bisection.bad},
          {"answer", embedded(bisection.answer_json)},
          {"created_at", time_of(bisection.created_at)},
          {"ended_at", time_of(bisection.ended_at)}};
}

Status check_order(const json& body) {
  TW_TRY(const auto suspect, name_member(body, "suspect"));
  TW_TRY(const auto good, name_member(body, "good"));
  TW_TRY(const auto bad, name_member(body, "bad"));
  TW_TRY_VOID(names_member(body, "workloads"));
  TW_TRY_VOID(word_member(body, "device", parse_device));
  TW_TRY_VOID(word_member(body, "mode", parse_mode));
  TW_TRY_VOID(word_member(body, "metric", parse_metric));
  if (good.empty() != bad.empty()) {
    return fail(ErrorCode::invalid, "good and bad are named together");
  }
  if (suspect.empty() && good.empty()) {
    return fail(ErrorCode::invalid, "name a suspect, or good and bad");
  }
  return {};
}

}  // namespace

Result<Reply> list_bisections(const Request& request, Backend& backend) {
  TW_TRY(const Page page, page_of(request));
  TW_TRY(const auto bisections,
         storage::BisectionStore(backend.database).list(page.limit, page.before));
  json entries = json::array();
  for (const auto& bisection : bisections) entries.push_back(bisection_json(bisection));
  return list_reply("bisections", std::move(entries), page);
}

Result<Reply> get_bisection(const Request& request, Backend& backend) {
  TW_TRY_VOID(refuse_parameters(request));
  TW_TRY(const auto id, id_of(request));
  storage::BisectionStore bisections(backend.database);
  TW_TRY(const auto bisection, bisections.get(id));
  TW_TRY(const auto events, bisections.events_of(id));
  json out = bisection_json(bisection);
  out["events"] = json::array();
  for (const auto& event : events) {
    out["events"].push_back(
        {{"ordinal", event.ordinal}, {"kind", event.kind}, {"body", embedded(event.body_json)}});
  }
  return object_reply(out);
}

Result<Reply> ask_for_bisection(const Request& request, Backend& backend) {
  TW_TRY(const json body, parse_object(request.body, {"suspect", "good", "bad", "workloads",
                                                      "device", "mode", "metric"}));
  TW_TRY_VOID(check_order(body));
  return submit(request, backend, storage::RequestKind::bisection, body);
}

}  // namespace torchwatch::web::handlers
