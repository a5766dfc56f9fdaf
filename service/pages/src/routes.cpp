#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include "items.hpp"
#include "style_sheet.hpp"
#include "torchwatch/canvas/canvas.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/hardware/pages.hpp"
#include "torchwatch/incidents/evidence_picture.hpp"
#include "torchwatch/incidents/pages.hpp"
#include "torchwatch/pages/pages.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/profiles/pages.hpp"
#include "torchwatch/site/twins.hpp"
#include "torchwatch/storage/event_store.hpp"

namespace torchwatch::pages {
namespace {

constexpr std::chrono::seconds kKeptFor{2};

constexpr std::string_view kOfMap = "metric only order configuration";
constexpr std::string_view kHistory =
    "/api/v1/series/{workload}/{configuration}/{variant}/{metric}";

constexpr Entry kOverview{"/", make_overview, "/api/v1/comparisons/current"};

constexpr std::array kEntries{
    Entry{"/comparisons", make_comparisons, "/api/v1/comparisons"},
    Entry{"/comparisons/{id}", make_comparison, "/api/v1/comparisons/{id}", kOfMap},
    Entry{"/nightlies/{name}", make_nightly, "/api/v1/nightlies/{name}", kOfMap},
    Entry{"/compare/{pair}", make_pair, "/api/v1/comparisons", kOfMap, true, query_of_pair},
    Entry{"/incidents", make_incidents, "/api/v1/incidents"},
    Entry{"/incidents/{id}", make_incident, "/api/v1/incidents/{id}"},
    Entry{"/mutes", make_mutes, "/api/v1/mutes"},
    Entry{"/mutes/{id}", make_mute, "/api/v1/mutes/{id}"},
    Entry{"/bisections", make_bisections, "/api/v1/bisections"},
    Entry{"/bisections/{id}", make_bisection, "/api/v1/bisections/{id}", "step"},
    Entry{"/models", make_models, "/api/v1/workloads", "sort"},
    Entry{"/models/{name}", make_model, "/api/v1/workloads/{name}", "sort"},
    Entry{"/series", make_series, "/api/v1/series", "from to show"},
    Entry{"/series/{workload}/{configuration}/{variant}/{metric}", make_series, kHistory,
          "from to show"},
    Entry{"/builds", make_builds, "/api/v1/builds"},
    Entry{"/builds/{id}", make_build, "/api/v1/builds/{id}"},
    Entry{"/machines", make_machines, "/api/v1/machines"},
    // Before the path that would take "compare" for an id.
    Entry{"/machines/compare", make_side_by_side, "/api/v1/machines/compare"},
    Entry{"/machines/{id}", make_machine, "/api/v1/machines/{id}"},
    Entry{"/queue", make_queue, "/api/v1/queue"},
    Entry{"/requests/{id}", make_request, "/api/v1/requests/{id}"},
    Entry{"/outbox", make_outbox, "/api/v1/outbox"},
    Entry{"/search", make_search, "/api/v1/search"},
    Entry{"/gpu", make_gpu, "/api/v1/breakdown", "build order", true, query_of_build},
    Entry{"/coverage", make_coverage, "/api/v1/coverage", "build operator", true, query_of_build},
    Entry{"/traces/{id}", make_trace, "/api/v1/runs/{id}"}, Entry{"/help", make_help}};

Result<http::Reply> get_style_sheet(const http::Request& request) {
  TW_TRY_VOID(http::refuse_parameters(request));
  static const std::string sheet =
      std::string(kStyleSheet) + "\n" + std::string(drawing::style_sheet());
  static const std::string tag = "\"" + digest::sha256_hex(sheet) + "\"";
  http::Reply reply{200, "text/css; charset=utf-8", sheet, {}};
  // Browsers keep it, but ask each time: a page must not wear an older daemon's style.
  reply.headers = {{"Cache-Control", "no-cache"}, {"ETag", tag}};
  return reply;
}

/// The overview as it was made last. Thread-safe: who comes while it is made waits for it, so that
/// many readers cost as much as one.
class KeptOverview {
 public:
  explicit KeptOverview(const Sources& sources) : sources_(sources) {}

  Result<Page> get(const View& view) {
    TW_TRY_VOID(http::refuse_parameters(view.request));
    const std::scoped_lock lock(mutex_);
    const auto now = sources_.clock.monotonic_now();
    auto& kept = view.is_trusted ? for_trusted_ : for_strangers_;
    TW_TRY(const auto events, storage::EventStore(sources_.database).kept());
    // Whoever reads it again because something changed must see the change.
    const bool is_fresh = now - kept.made_at < kKeptFor && kept.newest_event == events.newest;
    if (kept.page && is_fresh) return *kept.page;
    TW_TRY(kept.page, make_overview(view));
    kept.made_at = now;
    kept.newest_event = events.newest;
    return *kept.page;
  }

 private:
  struct Kept {
    std::optional<Page> page;
    std::chrono::nanoseconds made_at{0};
    storage::Id newest_event = 0;
  };

  const Sources& sources_;
  std::mutex mutex_;
  Kept for_trusted_;
  Kept for_strangers_;
};

/// Whether the script keeps the state of a table there: `filter` and `by` of the first table of a
/// page, `filter2` and `by2` of the second. The page is the same with it.
bool is_state_of_table(std::string_view parameter) {
  for (const std::string_view word : {"filter", "by"}) {
    if (!parameter.starts_with(word)) continue;
    const auto place = parameter.substr(word.size());
    return place.size() <= 3 &&
           std::ranges::all_of(place, [](char c) { return c >= '0' && c <= '9'; });
  }
  return false;
}

/// The request as the pages know it.
http::Request without_state_of_tables(http::Request request) {
  std::erase_if(request.query, [](const auto& given) { return is_state_of_table(given.first); });
  return request;
}

/// The request without the ending that names the form.
std::pair<http::Request, Form> split(const http::Request& request, std::string_view path) {
  auto page = without_state_of_tables(request);
  const auto [rest, form] = split_ending(request.path);
  page.path = rest;
  const auto begin = path.rfind('{');
  if (form == Form::html || begin == std::string_view::npos) return {page, form};
  auto& last = page.path_parameters[std::string(path.substr(begin + 1, path.size() - begin - 2))];
  last = split_ending(last).first;
  return {page, form};
}

/// The paths of the pages without parameters, with endings. Routes refer to them.
std::vector<std::string> paths_with_endings() {
  std::vector<std::string> paths;
  for (const auto& entry : kEntries) {
    if (entry.path.find('{') != std::string_view::npos) continue;
    for (const auto form : {Form::json, Form::markdown, Form::csv}) {
      paths.push_back(std::string(entry.path) + std::string(ending_of(form)));
    }
  }
  return paths;
}

http::Route route_of(const Entry& entry, std::string_view path,
                     const std::shared_ptr<const Sources>& sources) {
  const auto answer = [entry, sources](const http::Request& request) {
    const auto [page, form] = split(request, entry.path);
    auto view = view_of(page, *sources, root_of(page.path));
    view.is_for_csv = form == Form::csv;
    return reply_for(entry, form, view);
  };
  return {.method = "GET", .path = path, .handler = answer, .scope = Scope::read, .is_page = true};
}

/// The overview in all of its forms; it is made once for all of them.
void add_overview(const std::shared_ptr<const Sources>& sources, std::vector<http::Route>& routes) {
  const auto kept = std::make_shared<KeptOverview>(*sources);
  const auto answer = [sources, kept](const http::Request& given) -> Result<http::Reply> {
    const auto request = without_state_of_tables(given);
    const auto view = view_of(request, *sources, "");
    const auto form = split_ending(request.path).second;
    const auto page = kept->get(view);
    const auto made = page ? std::optional(*page) : std::nullopt;
    return reply_for(kOverview, form, view, made);
  };
  for (const auto* path : {"/", "/index.json", "/index.md", "/index.csv"}) {
    routes.push_back(
        {.method = "GET", .path = path, .handler = answer, .scope = Scope::read, .is_page = true});
  }
}

/// What pages lead to, beside other pages. Who is signed in may have it, too.
void add_files(const std::shared_ptr<const Sources>& sources, std::vector<http::Route>& routes) {
  const auto add = [&routes](std::string_view path, auto handler) {
    routes.push_back({.method = "GET",
                      .path = path,
                      .handler = std::move(handler),
                      .scope = Scope::read,
                      .is_page = true});
  };
  add("/incidents/{id}/evidence.svg",
      [sources](const http::Request& request) { return get_evidence_picture(request, *sources); });
  add("/traces/{id}/trace.json.gz",
      [sources](const http::Request& request) { return get_trace(request, *sources); });
  // The API takes no cookie, and the script of a page has nothing else.
  add("/events", [sources](const http::Request& request) {
    return ask(view_of(request, *sources, ""), "/api/v1/events", request.query);
  });
}

}  // namespace

std::vector<http::Route> routes(Sources given) {
  static const auto with_endings = paths_with_endings();
  const auto sources = std::make_shared<const Sources>(std::move(given));
  std::vector<http::Route> routes;
  add_overview(sources, routes);
  for (const auto& entry : kEntries) {
    routes.push_back(route_of(entry, entry.path, sources));
    for (const auto& path : with_endings) {
      if (split_ending(path).first == entry.path) routes.push_back(route_of(entry, path, sources));
    }
  }
  add_files(sources, routes);
  routes.push_back(
      {.method = "GET", .path = "/style.css", .handler = get_style_sheet, .scope = {}});
  return routes;
}

Result<std::string> text_of(Sources given, const std::string& path) {
  const auto all = routes(std::move(given));
  http::Request request;
  request.method = "GET";
  request.path = path + std::string(ending_of(Form::markdown));
  request.is_trusted = true;
  const auto found = http::match(all, request);
  if (!found) return fail(ErrorCode::not_found, "there is no page " + path);
  request.path_parameters = found->parameters;
  TW_TRY(auto reply, found->route->handler(request));
  return std::move(reply.body);
}

}  // namespace torchwatch::pages
