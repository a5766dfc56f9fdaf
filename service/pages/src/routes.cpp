#include "overview.hpp"
#include "style_sheet.hpp"
#include "torchwatch/http/paging.hpp"
#include "torchwatch/pages/pages.hpp"

namespace torchwatch::pages {
namespace {

Result<http::Reply> get_style_sheet(const http::Request& request) {
  TW_TRY_VOID(http::refuse_parameters(request));
  const std::string tag = "\"" + std::string(kStyleSheetSha256) + "\"";
  http::Reply reply{200, "text/css; charset=utf-8", std::string(kStyleSheet), {}};
  // Browsers keep it, but ask each time: a page must not wear an older daemon's style.
  reply.headers = {{"Cache-Control", "no-cache"}, {"ETag", tag}};
  // The header may list several tags, each with W/ before it: ours is long enough to be searched.
  if (request.if_none_match.find(tag) != std::string::npos) {
    reply.status = 304;
    reply.body.clear();
  }
  return reply;
}

}  // namespace

std::vector<http::Route> routes(storage::Database& database) {
  const auto overview = [&](const http::Request& request) {
    return get_overview(request, database);
  };
  return {
      {.method = "GET", .path = "/", .handler = overview, .needs_token = false},
      {.method = "GET", .path = "/style.css", .handler = get_style_sheet, .needs_token = false}};
}

}  // namespace torchwatch::pages
