#include "torchwatch/forms/actions.hpp"
#include "torchwatch/heard/heard.hpp"
#include "torchwatch/incidents/pages.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;
using storage::MuteRow;

std::string address_of(const MuteRow& mute, const View& view) {
  return view.root + "mutes/" + std::to_string(mute.id);
}

bool holds(const MuteRow& mute, const View& view) {
  return mute.until > view.sources.clock.wall_now();
}

std::string until_text(const MuteRow& mute, const View& view) {
  return platform::date_and_minute(mute.until) + " UTC" + (holds(mute, view) ? "" : " (over)");
}

html::Table table_of(const std::vector<MuteRow>& mutes, const View& view) {
  html::Rows cells;
  for (const auto& row : mutes) {
    cells.push_back({{std::to_string(row.id), address_of(row, view)},
                     row.target,
                     until_text(row, view),
                     printable(row.made_by),
                     printable(row.reason)});
  }
  return {.columns = {{"id", Cells::numbers},
                      {"series", Cells::words},
                      {"until", Cells::words},
                      {"by", Cells::words},
                      {"reason"}},
          .rows = std::move(cells)};
}

}  // namespace

html::Fragment mutes_section(const std::vector<MuteRow>& mutes, const View& view) {
  html::Fragment content;
  for (const auto& mute : mutes) {
    content +=
        html::paragraph(html::link(address_of(mute, view), "Mute " + std::to_string(mute.id)) +
                        html::text(": " + printable(heard::mute_text(mute)) +
                                   ". No incident of these series is opened until then.")) +
        forms::for_mute(mute.id, view);
  }
  return mutes.empty() ? html::Fragment() : html::section("Muted", content, "muted");
}

Result<Page> make_mutes(const View& view) {
  TW_TRY(const auto page, http::page_of(view.request));
  TW_TRY(auto rows, storage::MuteStore(view.sources.database).list(page.limit + 1, page.before));
  const auto more = cut_to(page, view, rows);
  const auto table = html::table(table_of(rows, view));
  return Page{.title = "Mutes",
              .content = html::title("Mutes") +
                         html::paragraph(html::text(
                             "Series of which no incident is opened until a date, newest first. "
                             "They are measured and judged meanwhile.")) +
                         table + more,
              .section = "Incidents",
              .way = {{view.root + "incidents", "Incidents"}}};
}

Result<Page> make_mute(const View& view) {
  TW_TRY_VOID(http::refuse_parameters(view.request));
  TW_TRY(const auto id, http::id_of(view.request));
  TW_TRY(const auto mute, storage::MuteStore(view.sources.database).get(id));
  const auto name = "Mute " + std::to_string(id);
  return Page{.title = name,
              .content = html::title(name) +
                         html::facts({{"series", mute.target},
                                      {"until", until_text(mute, view)},
                                      {"by", printable(mute.made_by)},
                                      {"since", platform::date_and_minute(mute.made_at) + " UTC"},
                                      {"reason", printable(mute.reason)}}) +
                         (holds(mute, view) ? forms::for_mute(id, view) : html::Fragment()),
              .section = "Incidents",
              .way = {{view.root + "incidents", "Incidents"}, {view.root + "mutes", "Mutes"}},
              .csv = table_of({mute}, view)};
}

}  // namespace torchwatch::pages
