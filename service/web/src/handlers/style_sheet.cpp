#include "../style_sheet.hpp"

#include "../paging.hpp"
#include "handlers.hpp"

namespace torchwatch::web::handlers {

Result<Reply> get_style_sheet(const Request& request, Backend&) {
  TW_TRY_VOID(refuse_parameters(request));
  const std::string tag = "\"" + std::string(style_sheet_sha256()) + "\"";
  Reply reply{200, "text/css; charset=utf-8", std::string(style_sheet()), {}};
  // Kept by browsers, but asked after each time: a page never wears what an older daemon left.
  reply.headers = {{"Cache-Control", "no-cache"}, {"ETag", tag}};
  // One tag or several, each perhaps with W/ before it: ours is long enough to be found as it is.
  if (request.if_none_match.find(tag) != std::string::npos) {
    reply.status = 304;
    reply.body.clear();
  }
  return reply;
}

}  // namespace torchwatch::web::handlers
