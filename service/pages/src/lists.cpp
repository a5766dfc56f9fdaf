#include <algorithm>

#include "items.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/forms/actions.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/words.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::pages {
namespace {

/// The words of a filter: "all", or one that rows have.
template <typename Enum>
std::vector<std::string> all_or_one_of() {
  auto words = words_of<Enum>();
  words.insert(words.begin(), "all");
  return words;
}

/// A parameter that leaves out rows with another word.
struct Filter {
  std::string name;  ///< "state"
  std::vector<std::string> words;
};

/// `read(limit, before)` lists rows, newest first; `has(row, word)` says whether a row has the
/// word.
template <typename Read, typename Table, typename Has>
Result<Page> list_of(const View& view, const std::string& title, const Filter& filter, Read read,
                     Table table_of, Has has) {
  TW_TRY(const auto page, http::page_of(view.request, {filter.name}));
  const auto wanted = value_or(page.filters, filter.name, "all");
  TW_TRY_VOID(check_choice(filter.name, wanted, filter.words));
  const auto fits = [&](const auto& row) { return wanted == "all" || has(row, wanted); };
  TW_TRY(const auto found, http::rows_fitting(page, read, fits));
  html::Fragment more;
  if (!found.next.is_null()) more = older_than(found.next.template get<storage::Id>(), view);
  TW_TRY(const auto table, table_of(found.rows, view));
  return Page{.title = title,
              .content = html::title(title) +
                         choice(view, filter.name, wanted, "all", filter.words) + table + more,
              .section = title};
}

/// The builds of an origin that a page of the list has, newest first, and one more.
Result<std::vector<storage::BuildRow>> builds_of(const http::Page& page, const std::string& origin,
                                                 const View& view) {
  TW_TRY(const auto all, storage::BuildStore(view.sources.database).list());
  std::vector<storage::BuildRow> rows;
  for (auto row = all.rbegin(); row != all.rend(); ++row) {
    const bool is_wanted = origin == "all" || origin == to_string(row->origin);
    if (row->id >= page.before || !is_wanted) continue;
    if (static_cast<int>(rows.size()) > page.limit) break;
    rows.push_back(*row);
  }
  return rows;
}

/// "1.77 GiB"; empty while it is not counted.
html::Cell size_cell(const report::BuildFiles& files) {
  if (!files.bytes) return "";
  return {figures::bytes(*files.bytes), static_cast<double>(*files.bytes)};
}

std::string last_use_of(const report::BuildFiles& files) {
  return files.last_used == 0 ? "" : platform::date_and_minute(files.last_used);
}

/// "The builds in [build] cache add up to 12.3 GiB; ..."; empty where the limit is not known.
Result<html::Fragment> cache_note(const View& view) {
  const auto limit = view.sources.cache_limit_bytes;
  if (limit == 0 || !view.sources.files_of) return html::Fragment();
  TW_TRY(const auto builds, storage::BuildStore(view.sources.database).list());
  std::int64_t sum = 0;
  bool is_counted = true;
  for (const auto& build : builds) {
    if (build.folder.empty()) continue;
    const auto files = view.sources.files_of(build);
    if (!files.are_there || !files.are_in_cache) continue;
    sum += files.bytes.value_or(0);
    is_counted = is_counted && files.bytes;
  }
  return html::paragraph(html::text("The builds in [build] cache add up to " + figures::bytes(sum) +
                                    (is_counted ? "" : ", and not all are counted yet") +
                                    "; with the kits of runners it may hold " +
                                    figures::bytes(limit) + " (cache_limit)."));
}

/// What becomes of a build's files.
std::string files_text(const report::BuildFiles& files) {
  const auto word = std::string(report::word_of(files));
  if (!files.are_there) return word;
  if (!files.are_in_cache) return word + ", outside of [build] cache: nothing is removed";
  return word + (files.are_pinned ? ": they stay when the cache is full"
                                  : ", until the cache is full and others were used later");
}

/// The comparisons of the two, newest first, by the names that the reader may see. Errors:
/// not_found, for the name of no build.
Result<std::vector<storage::ComparisonRow>> comparisons_of(const Pair& pair, const View& view) {
  TW_TRY(const auto builds, storage::BuildStore(view.sources.database).list());
  const auto named = [&](const std::string& name) -> Result<std::vector<storage::Id>> {
    std::vector<storage::Id> ids;
    for (const auto& build : builds) {
      if (name_of(build, view) == name) ids.push_back(build.id);
    }
    if (!ids.empty()) return ids;
    return fail(ErrorCode::not_found, "no build \"" + name.substr(0, 100) + "\"");
  };
  TW_TRY(const auto baselines, named(pair.baseline));
  TW_TRY(const auto candidates, named(pair.candidate));
  return storage::comparisons_of(view.sources.database, candidates, baselines);
}

/// Says which request for the comparison has not ended; what was asked for is not for strangers.
Result<html::Fragment> queued_for(const Pair& pair, const View& view) {
  html::Fragment said;
  if (!view.is_trusted) return said;
  storage::RequestStore requests(view.sources.database);
  for (const auto state : {storage::RequestState::pending, storage::RequestState::running}) {
    TW_TRY(const auto rows, requests.with_state(state));
    for (const auto& row : rows) {
      const auto body = report::embedded(row.body_json);
      if (!body.contains("baseline") || !body.contains("candidate")) continue;
      if (body["baseline"] != pair.baseline || body["candidate"] != pair.candidate) continue;
      const auto id = std::to_string(row.id);
      said += html::paragraph(html::text("It is asked for: ") +
                              html::link(view.root + "requests/" + id, "request " + id) +
                              html::text(", " + std::string(to_string(state)) + "."));
    }
  }
  return said;
}

/// What can be done for another comparison of the two: the command, and a button while none is
/// asked for.
Result<html::Fragment> measuring_of(const Pair& pair, const View& view) {
  TW_TRY(auto content, queued_for(pair, view));
  if (content.empty()) {
    TW_TRY(content, forms::for_pair(pair, view));
  }
  return html::code_block(report::compare_command(pair.baseline, pair.candidate)) + content;
}

}  // namespace

Result<Page> make_incidents(const View& view) {
  storage::IncidentStore store(view.sources.database);
  auto words = report::state_words();
  words.insert(words.begin(), "all");
  TW_TRY(auto page, list_of(
                        view, "Incidents", {"state", std::move(words)},
                        [&](int limit, storage::Id before) { return store.list(limit, before); },
                        incident_table, report::is_in_state));
  page.content +=
      html::paragraph(html::link(view.root + "mutes", "Mutes: what opens no incidents"), "more");
  return page;
}

Result<Page> make_comparisons(const View& view) {
  using Rows = std::vector<storage::ListedComparison>;
  storage::ComparisonStore store(view.sources.database);
  return list_of(
      view, "Comparisons", {"purpose", all_or_one_of<storage::Purpose>()},
      [&](int limit, storage::Id before) { return store.list_each(limit, before); },
      [](const Rows& rows, const View& of) -> Result<html::Fragment> {
        return comparison_list(rows, of);
      },
      [](const auto& listed, const std::string& word) {
        return listed.row && to_string(listed.row->purpose) == word;
      });
}

Result<Page> make_builds(const View& view) {
  TW_TRY(const auto page, http::page_of(view.request, {"origin"}));
  const auto origin = value_or(page.filters, "origin", "all");
  const auto origins = all_or_one_of<storage::BuildOrigin>();
  TW_TRY_VOID(check_choice("origin", origin, origins));
  TW_TRY(auto rows, builds_of(page, origin, view));
  const auto more = cut_to(page, view, rows);
  TW_TRY(const auto files, report::files_of(view.sources.database, view.sources.files_of, rows));
  html::Rows cells;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto why = row.reason.empty() ? row.unusable : row.reason;
    cells.push_back({{std::to_string(row.id), view.to_build(row.id)},
                     {name_of(row, view), view.to_build(row.id)},
                     to_string(row.origin),
                     to_string(row.state),
                     row.version,
                     {short_sha(row.trunk_commit), view.to_commit(row.trunk_commit)},
                     report::word_of(files[i]),
                     size_cell(files[i]),
                     last_use_of(files[i]),
                     view.is_trusted ? shortened(why) : ""});
  }
  using html::Cells;
  TW_TRY(const auto cache, cache_note(view));
  const auto content = html::title("Builds") + cache +
                       choice(view, "origin", origin, "all", origins) +
                       html::table({.columns = {{"id", Cells::numbers},
                                                {"name"},
                                                {"origin", Cells::words},
                                                {"state", Cells::states},
                                                {"version", Cells::words},
                                                {"commit", Cells::words},
                                                {"files", Cells::states},
                                                {"size", Cells::numbers},
                                                {"last used, UTC", Cells::words},
                                                {"why it is left out"}},
                                    .rows = std::move(cells)});
  return Page{.title = "Builds", .content = content + more, .section = "Builds"};
}

Result<Page> make_build(const View& view) {
  TW_TRY_VOID(http::refuse_parameters(view.request));
  TW_TRY(const auto id, http::id_of(view.request));
  TW_TRY(const auto build, storage::BuildStore(view.sources.database).get(id));
  const auto name = "Build " + name_of(build, view);
  const auto for_trusted = [&](const std::string& text) { return view.is_trusted ? text : ""; };
  TW_TRY(const auto waits, waits_for(storage::ItemKind::build, build.name, view));
  TW_TRY(const auto all, report::files_of(view.sources.database, view.sources.files_of, {build}));
  const auto& files = all.front();
  auto content =
      html::title(name) +
      html::facts({{"origin", to_string(build.origin)},
                   {"state", to_string(build.state)},
                   {"version", build.version},
                   {"commit", {short_sha(build.trunk_commit), view.to_commit(build.trunk_commit)}},
                   {"reason", for_trusted(build.reason)},
                   {"waiting", waits},
                   {"not measured", for_trusted(build.unusable)},
                   {"files", files_text(files)},
                   {"size", size_cell(files)},
                   {"last used", last_use_of(files)},
                   {"folder", for_trusted(build.folder)}}) +
      forms::for_build(id, files, view);
  const bool is_private = build.origin == storage::BuildOrigin::folder && !view.is_trusted;
  const bool is_named = build.state == storage::BuildState::ready && !is_private &&
                        build.origin != storage::BuildOrigin::pull;
  if (is_named) {
    content += html::section("Measure it again",
                             html::code_block(report::measure_command(build.name)), "repeat");
  }
  const auto query = "?build=" + std::to_string(id);
  content += html::paragraph(html::link(view.root + "coverage" + query, "Operators it calls") +
                             html::text(" · ") +
                             html::link(view.root + "gpu" + query, "What its GPU does"));
  TW_TRY(const auto comparison, storage::ComparisonStore(view.sources.database).nightly_of(id));
  std::vector<storage::ComparisonRow> rows;
  if (comparison) rows.push_back(*comparison);
  const auto table = comparison_table(storage::listed(rows), view);
  if (comparison) content += html::section("Compared with the nightly before", table);
  return Page{.title = name,
              .content = content,
              .section = "Builds",
              .way = {{view.root + "builds", "Builds"}},
              .csv = table.tables.front()};
}

Result<std::multimap<std::string, std::string>> query_of_pair(const View& view) {
  TW_TRY(auto pair, pair_of(view.request.path_parameters.at("pair")));
  TW_TRY_VOID(comparisons_of(pair, view));
  return std::multimap<std::string, std::string>{{"baseline", std::move(pair.baseline)},
                                                 {"candidate", std::move(pair.candidate)}};
}

Result<Page> make_pair(const View& view) {
  TW_TRY_VOID(parameters_of(view, {"metric", "order", "configuration"}));
  TW_TRY(const auto pair, pair_of(view.request.path_parameters.at("pair")));
  TW_TRY(const auto found, comparisons_of(pair, view));
  TW_TRY(const auto matrix, newest_matrix(found, view));
  const auto table = comparison_table(storage::listed(found), view);
  const auto name = pair.candidate + " against " + pair.baseline;
  auto content = html::title(name);
  if (found.empty()) {
    content += html::paragraph(html::text(
        "These two were not measured side by side. Two comparisons with a build between them are "
        "not mixed here: their errors add up. This measures them:"));
  } else {
    content += html::paragraph(html::text("Measured side by side:")) + table + matrix +
               html::paragraph(html::text("Measure them again:"));
  }
  TW_TRY(const auto measuring, measuring_of(pair, view));
  content += measuring;
  const auto swapped =
      http::percent_encoded(pair.candidate) + "..." + http::percent_encoded(pair.baseline);
  content += html::paragraph(html::link(swapped, "The other way round"));
  return Page{.title = name,
              .content = content,
              .section = "Comparisons",
              .way = {{view.root + "comparisons", "Comparisons"}},
              .csv = table.tables.front()};
}

}  // namespace torchwatch::pages
