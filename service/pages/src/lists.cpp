#include "items.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::pages {
namespace {

View view_of(const http::Request& request, const Sources& sources) {
  return {.sources = sources, .is_trusted = request.is_trusted, .root = ""};
}

/// Cuts the rows to one page, of which one more was read; returns a link to those after it.
template <typename Row>
std::string cut_to(const http::Page& page, const std::string& path, std::vector<Row>& rows) {
  if (static_cast<int>(rows.size()) <= page.limit) return "";
  rows.resize(static_cast<std::size_t>(page.limit));
  const auto address =
      path + "?limit=" + std::to_string(page.limit) + "&before=" + std::to_string(rows.back().id);
  return "<p class=\"more\">" + html_link(address, "Older ones") + "</p>\n";
}

}  // namespace

Result<http::Reply> list_incidents(const http::Request& request, const Sources& sources) {
  TW_TRY(const auto page, http::page_of(request));
  const auto view = view_of(request, sources);
  TW_TRY(auto rows, storage::IncidentStore(sources.database).list(page.limit + 1, page.before));
  const auto more = cut_to(page, "incidents", rows);
  TW_TRY(const auto table, incident_table(rows, view));
  return reply_with(view, "Incidents - torchwatch", "<h1>Incidents</h1>\n" + table + more);
}

Result<http::Reply> list_comparisons(const http::Request& request, const Sources& sources) {
  TW_TRY(const auto page, http::page_of(request));
  const auto view = view_of(request, sources);
  TW_TRY(auto rows, storage::ComparisonStore(sources.database).list(page.limit + 1, page.before));
  const auto more = cut_to(page, "comparisons", rows);
  TW_TRY(const auto table, comparison_table(rows, view));
  return reply_with(view, "Comparisons - torchwatch", "<h1>Comparisons</h1>\n" + table + more);
}

}  // namespace torchwatch::pages
