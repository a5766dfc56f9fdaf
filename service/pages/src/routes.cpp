#include <memory>
#include <mutex>
#include <optional>

#include "items.hpp"
#include "overview.hpp"
#include "style_sheet.hpp"
#include "torchwatch/pages/pages.hpp"
#include "torchwatch/paging/paging.hpp"

namespace torchwatch::pages {
namespace {

constexpr std::chrono::seconds kKeptFor{2};

Result<http::Reply> get_style_sheet(const http::Request& request) {
  TW_TRY_VOID(http::refuse_parameters(request));
  http::Reply reply{200, "text/css; charset=utf-8", std::string(kStyleSheet), {}};
  // Browsers keep it, but ask each time: a page must not wear an older daemon's style.
  reply.headers = {{"Cache-Control", "no-cache"},
                   {"ETag", "\"" + std::string(kStyleSheetSha256) + "\""}};
  return reply;
}

/// The overview as it was rendered last. Thread-safe: who comes while it is rendered waits for it,
/// so that many readers cost as much as one.
class KeptOverview {
 public:
  explicit KeptOverview(const Sources& sources) : sources_(sources) {}

  Result<http::Reply> get(const http::Request& request) {
    TW_TRY_VOID(http::refuse_parameters(request));
    const std::scoped_lock lock(mutex_);
    const auto now = sources_.clock.monotonic_now();
    auto& kept = request.is_trusted ? for_trusted_ : for_strangers_;
    if (kept.reply && now - kept.rendered_at < kKeptFor) return *kept.reply;
    TW_TRY(kept.reply, get_overview(request, sources_));
    kept.rendered_at = now;
    return *kept.reply;
  }

 private:
  struct Kept {
    std::optional<http::Reply> reply;
    std::chrono::nanoseconds rendered_at{0};
  };

  const Sources& sources_;
  std::mutex mutex_;
  Kept for_trusted_;
  Kept for_strangers_;
};

using Handler = Result<http::Reply> (*)(const http::Request&, const Sources&);

/// A page for people. What is not there is said on a page, too.
http::Route page(std::string_view path, Handler handler,
                 const std::shared_ptr<const Sources>& sources) {
  const auto answer = [handler, sources](const http::Request& request) -> Result<http::Reply> {
    auto reply = handler(request, *sources);
    if (reply || reply.error().code != ErrorCode::not_found) return reply;
    const auto view = view_of(request, *sources, "../");
    return reply_with(view, "Not found - torchwatch",
                      "<h1>Not found</h1>\n<p>" + html_prose(reply.error().text()) + ".</p>\n",
                      404);
  };
  return {.method = "GET", .path = path, .handler = answer, .scope = Scope::read};
}

}  // namespace

std::vector<http::Route> routes(Sources given) {
  const auto sources = std::make_shared<const Sources>(std::move(given));
  const auto kept = std::make_shared<KeptOverview>(*sources);
  const auto overview = [sources, kept](const http::Request& request) {
    return kept->get(request);
  };
  return {{.method = "GET", .path = "/", .handler = overview, .scope = Scope::read},
          page("/incidents", list_incidents, sources),
          page("/incidents/{id}", get_incident, sources),
          page("/comparisons", list_comparisons, sources),
          page("/comparisons/{id}", get_comparison, sources),
          page("/builds/{id}", get_build, sources),
          {.method = "GET", .path = "/style.css", .handler = get_style_sheet, .scope = {}}};
}

}  // namespace torchwatch::pages
