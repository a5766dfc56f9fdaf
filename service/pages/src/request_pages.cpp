#include <algorithm>

#include "items.hpp"
#include "torchwatch/forms/actions.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/site/members.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;
using nlohmann::json;

/// What is in the body or the result of a request, each member a row.
html::Rows rows_of(const json& object) {
  html::Rows rows;
  if (!object.is_object()) return rows;
  for (const auto& [name, value] : object.items()) {
    rows.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  return rows;
}

html::Fragment members_of(std::string_view heading, const json& object) {
  auto rows = rows_of(object);
  if (rows.empty()) return {};
  return html::section(heading, html::table({.columns = {{"what", Cells::words}, {"value"}},
                                             .rows = std::move(rows)}));
}

/// Both in one table.
html::Table all_members_of(const json& request) {
  html::Table table{.columns = {{"part"}, {"what"}, {"value"}}};
  for (const auto* part : {"body", "result"}) {
    for (auto& row : rows_of(request.at(part))) {
      row.insert(row.begin(), part);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

bool can_be_sent_again(const storage::OutboxRow& row) {
  return row.state == storage::OutboxState::pending || row.state == storage::OutboxState::dead;
}

/// Titles and reasons are of a tracker that may be private: strangers do not see them.
std::string title_of(const storage::OutboxRow& row, const View& view) {
  return view.is_trusted ? shortened(printable(row.title)) : "";
}

html::Fragment message_table(const std::vector<storage::OutboxRow>& messages, const View& view) {
  html::Rows rows;
  for (const auto& row : messages) {
    const auto incident = row.incident == 0 ? std::string() : std::to_string(row.incident);
    rows.push_back({std::to_string(row.id),
                    std::string(to_string(row.kind)),
                    {incident, incident.empty() ? "" : view.to_incident(row.incident)},
                    title_of(row, view),
                    std::string(to_string(row.state)),
                    std::to_string(row.failures),
                    view.is_trusted ? shortened(printable(row.last_error)) : ""});
  }
  return html::table({.columns = {{"id", Cells::numbers},
                                  {"kind", Cells::words},
                                  {"incident", Cells::numbers},
                                  {"title"},
                                  {"state", Cells::states},
                                  {"failures", Cells::numbers},
                                  {"why it waits"}},
                      .rows = std::move(rows)},
                     "No message waits.");
}

}  // namespace

Result<Page> make_request(const View& view) {
  TW_TRY_VOID(http::refuse_parameters(view.request));
  TW_TRY(const auto id, http::id_of(view.request));
  TW_TRY(const auto request, ask_for_json(view, "/api/v1/requests/" + std::to_string(id)));
  const auto name = "Request " + std::to_string(id);
  const auto state = text_of(request, "state");
  const bool has_ended = state != "pending" && state != "running";
  return Page{.title = name,
              .content = html::title(name) +
                         html::facts({{"for a", text_of(request, "kind")},
                                      {"state", state},
                                      {"asked by", text_of(request, "asked_by")},
                                      {"asked at, UTC", minute_of(request, "created_at")},
                                      {"waits for", text_of(request, "waits_for")}}) +
                         forms::for_request(id, has_ended, view) +
                         members_of("What was asked for", request.at("body")) +
                         members_of("What became of it", request.at("result")),
              .section = "Tonight",
              .way = {{view.root + "queue", "Queue"}},
              .csv = all_members_of(request)};
}

Result<Page> make_outbox(const View& view) {
  TW_TRY(const auto page, http::page_of(view.request));
  TW_TRY(auto rows, storage::OutboxStore(view.sources.database).unsent());
  std::erase_if(rows, [&](const auto& row) { return row.id >= page.before; });
  std::ranges::reverse(rows);
  const auto more = cut_to(page, view, rows);
  std::vector<forms::Message> again;
  for (const auto& row : rows) {
    if (!can_be_sent_again(row)) continue;
    again.emplace_back(row.key, std::to_string(row.id) + ", " + std::string(to_string(row.kind)) +
                                    " " + title_of(row, view));
  }
  return Page{
      .title = "Outbox",
      .content = html::title("Outbox") +
                 html::paragraph(html::text("Messages that are not sent yet, the newest first.")) +
                 message_table(rows, view) + more +
                 (rows.empty() ? html::Fragment() : forms::for_messages(again, view)),
      .section = "Tonight"};
}

}  // namespace torchwatch::pages
