#include <algorithm>

#include "handlers.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;
using report::text_or_null;

/// A nightly with the comparison that judged it, if there is one.
Result<json> nightly_json(const storage::BuildRow& build, const Request& request,
                          const Backend& backend) {
  TW_TRY(const auto comparison, storage::ComparisonStore(backend.database).nightly_of(build.id));
  json out{{"id", build.id},
           {"name", build.name},
           {"url", "/api/v1/nightlies/" + http::percent_encoded(build.name)},
           {"state", to_string(build.state)},
           {"version", text_or_null(build.version)},
           {"trunk_commit", text_or_null(build.trunk_commit)},
           {"reason", text_of(build.reason, request)},
           {"comparison", nullptr}};
  if (comparison) {
    out["comparison"] = {{"id", comparison->id},
                         {"state", to_string(comparison->state)},
                         {"url", "/api/v1/comparisons/" + std::to_string(comparison->id)}};
  }
  return out;
}

/// The nightlies, newest first. Of one that was published again there are several.
Result<std::vector<storage::BuildRow>> nightlies(const Backend& backend) {
  TW_TRY(auto builds, storage::BuildStore(backend.database).list());
  std::erase_if(builds,
                [](const auto& build) { return build.origin != storage::BuildOrigin::nightly; });
  std::ranges::sort(builds, std::greater{}, &storage::BuildRow::id);
  return builds;
}

}  // namespace

Result<Reply> list_nightlies(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, http::page_of(request, {"state"}));
  TW_TRY_VOID(check_word<storage::BuildState>(page, "state"));
  TW_TRY(auto builds, nightlies(backend));
  json entries = json::array();
  for (const auto& build : builds) {
    if (build.id >= page.before || !page.admits("state", to_string(build.state))) continue;
    if (static_cast<int>(entries.size()) > page.limit) break;
    TW_TRY(entries.emplace_back(), nightly_json(build, request, backend));
  }
  return list_reply("nightlies", std::move(entries), page);
}

Result<Reply> get_nightly(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  const auto& name = request.path_parameters.at("name");
  TW_TRY(const auto builds, nightlies(backend));
  const auto found = std::ranges::find(builds, name, &storage::BuildRow::name);
  if (found == builds.end()) {
    return fail(ErrorCode::not_found, "no nightly \"" + name.substr(0, 100) + "\"");
  }
  TW_TRY(const auto out, nightly_json(*found, request, backend));
  return http::object_reply(out);
}

}  // namespace torchwatch::api
