#include <algorithm>

#include "items.hpp"
#include "torchwatch/evidence/lookup.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;
using nlohmann::json;

std::string text_of(const json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

/// "2026-11-20 03:16" of a time as the API has it.
std::string minute_of(const json& object, const char* member) {
  constexpr std::size_t kMinutes = 16;
  auto text = text_of(object, member).substr(0, kMinutes);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

/// A number of things, as people write it; tables order by the number.
html::Cell count_cell(const json& object, const char* member) {
  const auto number = object.value(member, std::int64_t{0});
  return {figures::grouped(number), static_cast<double>(number)};
}

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
std::string place_of(const evidence::Found& found, const View& view) {
  if (found.kind == evidence::FoundKind::workload) return view.to_model(found.name);
  return found.path.empty() ? "" : view.root + found.path;
}

html::Table found_table(html::Rows rows) {
  return {.columns = {{"kind", Cells::words}, {"name"}, {"what it is"}}, .rows = std::move(rows)};
}

html::Fragment culprits_held(const evidence::Calibration& culprits) {
  if (culprits.sure == 0) {
    return html::paragraph(html::text("No commit was named with 99 % or more yet."));
  }
  return html::paragraph(
      html::text("Of " + figures::count(static_cast<std::size_t>(culprits.sure), "culprit") +
                 " named with 99 % or more, " + std::to_string(culprits.held()) + " held and " +
                 std::to_string(culprits.disputed) + " were disputed."));
}

Result<html::Fragment> audits_section(const View& view) {
  TW_TRY(const auto audits, evidence::audits_of(view.sources.database));
  html::Rows rows;
  for (const auto& tally : audits.self_tests) {
    rows.push_back({to_string(tally.metric), std::to_string(tally.series),
                    std::to_string(tally.regressed + tally.improved),
                    report::false_alarms_bound_text(tally)});
  }
  auto content = html::paragraph(
      html::text(rows.empty() ? std::string("No build was compared with itself yet, so nothing is "
                                            "known of false alarms here.")
                              : report::self_tests_text(storage::sum_of(audits.self_tests))));
  if (!rows.empty()) {
    content += html::table({.columns = {{"metric", Cells::words},
                                        {"series", Cells::numbers},
                                        {"false alarms", Cells::numbers},
                                        {"rate, 95 % upper bound", Cells::numbers}},
                            .rows = std::move(rows)});
  }
  return html::section("How far to trust it", content + culprits_held(audits.culprits), "trust");
}

}  // namespace

Result<Page> make_queue(const View& view) {
  TW_TRY_VOID(http::refuse_parameters(view.request));
  TW_TRY(const auto items, evidence::queue_of(view.sources.database));
  html::Rows rows;
  for (const auto& item : items) {
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
                         "Nothing waits. The next nightly is compared once its build is there.");
  return Page{.title = "Queue", .content = content, .section = "Tonight"};
}

Result<Page> make_search(const View& view) {
  TW_TRY(const auto parameters, parameters_of(view, {"q"}));
  const auto words = printable(value_or(parameters, "q", ""));
  if (characters_of(words) > evidence::kSearchMax) {
    return fail(ErrorCode::invalid, "invalid q: must be at most " +
                                        std::to_string(evidence::kSearchMax) + " characters long");
  }
  constexpr std::size_t kShown = 50;
  auto content = html::title("Search");
  if (words.empty()) {
    content += html::paragraph(html::text(
        "Names of models, builds, commits (7 digits or more), numbers of incidents, and words of "
        "a series find something: `bert cuda train memory`."));
    return Page{.title = "Search", .content = content, .csv = found_table({})};
  }
  TW_TRY(const auto all, evidence::look_up(context_of(view), words, kShown));
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

/// "Model X, 64 cores, H100".
std::string class_text(const nlohmann::json& machine) {
  const auto& of = machine.at("machine_class");
  return of.is_null() ? "unknown" : text_of(of, "name");
}

Result<Page> make_machines(const View& view) {
  TW_TRY(const auto page, http::page_of(view.request));
  TW_TRY(const auto listed, ask_for_json(view, "/api/v1/machines",
                                         {{"limit", std::to_string(page.limit)},
                                          {"before", std::to_string(page.before)}}));
  html::Rows rows;
  for (const auto& machine : listed.at("machines")) {
    const auto id = text_of(machine, "id");
    rows.push_back({{id, view.root + "machines/" + id},
                    class_text(machine),
                    text_of(machine, "gpu_driver"),
                    text_of(machine, "kernel"),
                    count_cell(machine, "runs"),
                    minute_of(machine, "last_run_at")});
  }
  const auto content =
      html::title("Machines") +
      html::paragraph(html::text(
          "Machines of one class differ in nothing but kernel, drivers and settings. A series "
          "belongs to a class, and a comparison is never of two.")) +
      html::table({.columns = {{"id", Cells::numbers},
                               {"class"},
                               {"driver", Cells::words},
                               {"kernel"},
                               {"runs", Cells::numbers},
                               {"last run, UTC", Cells::words}},
                   .rows = std::move(rows)},
                  "No machine has measured anything yet.");
  TW_TRY(const auto audits, audits_section(view));
  return Page{.title = "Machines", .content = content + audits, .section = "Machines"};
}

Result<Page> make_machine(const View& view) {
  TW_TRY_VOID(http::refuse_parameters(view.request));
  TW_TRY(const auto id, http::id_of(view.request));
  TW_TRY(const auto machine, ask_for_json(view, "/api/v1/machines/" + std::to_string(id)));
  html::Rows rows;
  for (const auto& [name, value] : machine.at("facts").items()) {
    rows.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  const auto name = "Machine " + std::to_string(id);
  const auto content =
      html::title(name) +
      html::facts({{"class", class_text(machine)},
                   {"processor", text_of(machine, "processor")},
                   {"GPU", text_of(machine, "gpu")},
                   {"runs", count_cell(machine, "runs")},
                   {"first run, UTC", minute_of(machine, "first_run_at")},
                   {"last run, UTC", minute_of(machine, "last_run_at")}}) +
      html::section(
          "Facts that runs must share to be comparable",
          html::table({.columns = {{"fact", Cells::words}, {"value"}}, .rows = std::move(rows)}));
  return Page{.title = name,
              .content = content,
              .section = "Machines",
              .way = {{view.root + "machines", "Machines"}}};
}

}  // namespace torchwatch::pages
