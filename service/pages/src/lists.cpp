#include "items.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::pages {
namespace {

/// Cuts the rows to one page, of which one more was read; returns a link to those after it.
template <typename Row>
std::string cut_to(const http::Page& page, const std::string& path, std::vector<Row>& rows) {
  if (static_cast<int>(rows.size()) <= page.limit) return "";
  rows.resize(static_cast<std::size_t>(page.limit));
  const auto address =
      path + "?limit=" + std::to_string(page.limit) + "&before=" + std::to_string(rows.back().id);
  return "<p class=\"more\">" + html_link(address, "Older ones") + "</p>\n";
}

template <typename Store, typename Table>
Result<http::Reply> list_of(const http::Request& request, const Sources& sources,
                            const std::string& path, const std::string& title, Table table_of) {
  TW_TRY(const auto page, http::page_of(request));
  const auto view = view_of(request, sources, "");
  TW_TRY(auto rows, Store(sources.database).list(page.limit + 1, page.before));
  const auto more = cut_to(page, path, rows);
  TW_TRY(const auto table, table_of(rows, view));
  return reply_with(view, title + " - torchwatch", "<h1>" + title + "</h1>\n" + table + more);
}

}  // namespace

Result<http::Reply> list_incidents(const http::Request& request, const Sources& sources) {
  return list_of<storage::IncidentStore>(request, sources, "incidents", "Incidents",
                                         incident_table);
}

Result<http::Reply> list_comparisons(const http::Request& request, const Sources& sources) {
  return list_of<storage::ComparisonStore>(request, sources, "comparisons", "Comparisons",
                                           comparison_table);
}

}  // namespace torchwatch::pages
