#include <algorithm>

#include "handlers.hpp"
#include "request_body.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

/// As much of a build as the asker may see.
json build_json(const storage::BuildRow& build, const report::BuildFiles& files,
                const Request& request) {
  auto object = report::json_of(build, files);
  object["url"] = "/api/v1/builds/" + std::to_string(build.id);
  object["html_url"] = "/builds/" + std::to_string(build.id);
  object["name"] = name_of(build, request);
  object["reason"] = text_of(build.reason, request);
  object["unusable"] = text_of(build.unusable, request);
  return object;
}

/// A name that the asker may not see finds nothing.
bool has_name(const storage::BuildRow& build, const http::Page& page, const Request& request) {
  const auto name = name_of(build, request);
  return page.admits("name", name.is_string() ? name.get<std::string>() : "");
}

Result<Reply> pin(const Request& request, const Backend& backend, bool keep) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(parse_object(request.body, {}));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto build, storage::BuildStore(backend.database).get(id));
  TW_TRY(const bool lies_in_cache, backend.pin_build(build, keep));
  return http::object_reply(
      {{"id", id}, {"pinned", keep && lies_in_cache}, {"lies_in_cache", lies_in_cache}});
}

}  // namespace

Result<Reply> list_builds(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, http::page_of(request, {"state", "origin", "name"}));
  TW_TRY_VOID(check_word<storage::BuildState>(page, "state"));
  TW_TRY_VOID(check_word<storage::BuildOrigin>(page, "origin"));
  TW_TRY(auto builds, storage::BuildStore(backend.database).list());
  std::erase_if(builds, [&](const auto& build) {
    return build.id >= page.before || !page.admits("state", to_string(build.state)) ||
           !page.admits("origin", to_string(build.origin)) || !has_name(build, page, request);
  });
  std::sort(builds.begin(), builds.end(),
            [](const auto& left, const auto& right) { return left.id > right.id; });
  builds.resize(std::min(builds.size(), static_cast<std::size_t>(page.limit) + 1));
  json entries = json::array();
  TW_TRY(const auto files, report::files_of(backend.database, backend.files_of, builds));
  for (std::size_t i = 0; i < builds.size(); ++i) {
    entries.push_back(build_json(builds[i], files[i], request));
  }
  return list_reply("builds", std::move(entries), page);
}

Result<Reply> get_build(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto build, storage::BuildStore(backend.database).get(id));
  TW_TRY(const auto files, report::files_of(backend.database, backend.files_of, {build}));
  return http::object_reply(build_json(build, files.front(), request));
}

Result<Reply> fetch_build(const Request& request, const Backend& backend) {
  TW_TRY(const json body, parse_object(request.body, {"name", "now"}));
  TW_TRY(const auto name, build_member(body, "name"));
  if (name.empty()) {
    return fail(ErrorCode::invalid,
                "missing name: a build of the channel, or a release such as 2.13.0");
  }
  TW_TRY_VOID(check_selection(body));
  return submit(request, backend, storage::RequestKind::fetch, body);
}

Result<Reply> pin_build(const Request& request, const Backend& backend) {
  return pin(request, backend, true);
}

Result<Reply> unpin_build(const Request& request, const Backend& backend) {
  return pin(request, backend, false);
}

Result<Reply> remove_build(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto build, storage::BuildStore(backend.database).get(id));
  TW_TRY_VOID(backend.remove_build_files(build));
  return http::object_reply({{"id", id}, {"removed", true}});
}

}  // namespace torchwatch::api
