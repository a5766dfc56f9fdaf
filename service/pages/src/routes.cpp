#include <memory>
#include <mutex>
#include <optional>

#include "overview.hpp"
#include "style_sheet.hpp"
#include "torchwatch/http/paging.hpp"
#include "torchwatch/pages/pages.hpp"

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
  KeptOverview(storage::Database& database, const platform::Clock& clock)
      : database_(database), clock_(clock) {}

  Result<http::Reply> get(const http::Request& request) {
    TW_TRY_VOID(http::refuse_parameters(request));
    const std::scoped_lock lock(mutex_);
    const auto now = clock_.monotonic_now();
    auto& kept = request.is_trusted ? for_trusted_ : for_strangers_;
    if (kept.reply && now - kept.rendered_at < kKeptFor) return *kept.reply;
    TW_TRY(kept.reply, get_overview(request, database_));
    kept.rendered_at = now;
    return *kept.reply;
  }

 private:
  struct Kept {
    std::optional<http::Reply> reply;
    std::chrono::nanoseconds rendered_at{0};
  };

  storage::Database& database_;
  const platform::Clock& clock_;
  std::mutex mutex_;
  Kept for_trusted_;
  Kept for_strangers_;
};

}  // namespace

std::vector<http::Route> routes(storage::Database& database, const platform::Clock& clock) {
  const auto kept = std::make_shared<KeptOverview>(database, clock);
  const auto overview = [kept](const http::Request& request) { return kept->get(request); };
  return {{.method = "GET", .path = "/", .handler = overview, .scope = Scope::read},
          {.method = "GET", .path = "/style.css", .handler = get_style_sheet, .scope = {}}};
}

}  // namespace torchwatch::pages
