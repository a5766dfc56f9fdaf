#include "items.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/forms/actions.hpp"
#include "torchwatch/lookup/lookup.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;

std::string address_of(const evidence::QueuedItem& item, const View& view) {
  const auto id = std::to_string(item.id);
  if (item.kind == storage::ItemKind::comparison) return view.to_comparison(item.id);
  if (item.kind == storage::ItemKind::bisection) return view.to_bisection(item.id);
  return view.root + "requests/" + id;
}

/// Why an item waits; strangers see since when.
std::string why_of(const evidence::QueuedItem& item, const View& view) {
  if (!item.setback) return "its place in the queue";
  const auto since = "waits since " + platform::date_and_minute(item.setback->since);
  return view.is_trusted ? shortened(since + ": " + item.setback->error) : since;
}

std::string estimate_of(const evidence::QueuedItem& item) {
  if (!item.estimate) return "";
  return figures::duration(item.estimate->likely) + ", at most " +
         figures::duration(item.estimate->at_most);
}

/// Where a page shows what a search found.
std::string place_of(const lookup::Found& found, const View& view) {
  if (found.kind == lookup::FoundKind::workload) return view.to_model(found.name);
  if (found.kind == lookup::FoundKind::operation) {
    return view.root + found.path + "?operator=" + http::percent_encoded(found.name);
  }
  return found.path.empty() ? "" : view.root + http::percent_encoded_path(found.path);
}

html::Table found_table(html::Rows rows) {
  return {.columns = {{"kind", Cells::words}, {"name"}, {"what it is"}}, .rows = std::move(rows)};
}

}  // namespace

Result<Page> make_queue(const View& view) {
  TW_TRY_VOID(http::refuse_parameters(view.request));
  TW_TRY(const auto items, evidence::queue_of(view.sources.database));
  html::Rows rows;
  std::vector<forms::QueuedItem> queued;
  for (const auto& item : items) {
    queued.emplace_back(item.kind, item.id);
    const bool is_running =
        item.kind == storage::ItemKind::comparison && view.service_now.doing.comparison == item.id;
    rows.push_back({{std::string(to_string(item.kind)) + " " + std::to_string(item.id),
                     address_of(item, view)},
                    item.what,
                    platform::date_and_minute(item.since),
                    is_running ? "running" : "waiting",
                    is_running ? "" : why_of(item, view),
                    estimate_of(item)});
  }
  auto content = html::title("Queue");
  if (!rows.empty()) {
    content += html::paragraph(html::text(
        "In the order in which they are done; what waits for something is passed over until "
        "then."));
  }
  content += html::table({.columns = {{"item", Cells::words},
                                      {"what", Cells::words},
                                      {"asked for, UTC", Cells::words},
                                      {"state", Cells::states},
                                      {"waits for"},
                                      {"such work takes"}},
                          .rows = std::move(rows)},
                         "Nothing waits. The next nightly is compared once its build is there.") +
             forms::for_queue(queued, view);
  return Page{.title = "Queue", .content = content, .section = "Tonight"};
}

Result<Page> make_search(const View& view) {
  TW_TRY(const auto parameters, parameters_of(view, {"q"}));
  const auto words = printable(value_or(parameters, "q", ""));
  if (characters_of(words) > lookup::kSearchMax) {
    return fail(ErrorCode::invalid, "invalid q: must be at most " +
                                        std::to_string(lookup::kSearchMax) + " characters long");
  }
  constexpr std::size_t kShown = 50;
  auto content = html::title("Search");
  if (words.empty()) {
    content += html::paragraph(html::text(
        "Names of models, builds, operators and processors, commits (7 digits or more), numbers "
        "of incidents and requests, and words of a series find something: `bert cuda train "
        "memory`."));
    return Page{.title = "Search", .content = content, .csv = found_table({})};
  }
  TW_TRY(const auto all, lookup::look_up(context_of(view), words, kShown, view.sources.suite));
  html::Rows rows;
  for (const auto& found : all) {
    rows.push_back({std::string(spelling(found.kind)),
                    {found.name, place_of(found, view)},
                    shortened(found.text)});
  }
  content +=
      html::paragraph(html::text(figures::count(all.size(), "result") + " for \"" + words + "\"."));
  const auto table = found_table(std::move(rows));
  if (!table.rows.empty()) content += html::table(table);
  return Page{.title = "Search", .content = content, .csv = table};
}

}  // namespace torchwatch::pages
