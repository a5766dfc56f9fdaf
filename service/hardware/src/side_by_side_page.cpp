#include <algorithm>

#include "torchwatch/evidence/side_by_side.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/hardware/pages.hpp"
#include "torchwatch/html/choices.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::pages {
namespace {

using evidence::BuildOnTwo;
using html::Cells;

/// The builds that several classes have measured, and the one that is shown, with their names.
Result<html::Choice> choice_of_build(const storage::BuildRow& shown, const View& view) {
  auto& database = view.sources.database;
  TW_TRY(const auto measured, storage::builds_on_classes(database));
  html::Choice choice{.parameter = "build", .label = "Build", .chosen = std::to_string(shown.id)};
  const auto add = [&](const storage::BuildRow& build) {
    choice.values.emplace_back(std::to_string(build.id), name_of(build, view));
  };
  const auto is_listed =
      std::ranges::find(measured, shown.id, &storage::BuildOnClasses::build) != measured.end();
  if (!is_listed) add(shown);
  for (const auto& each : measured) {
    TW_TRY(const auto build, storage::BuildStore(database).get(each.build));
    add(build);
  }
  return choice;
}

Result<html::Fragment> form_for(const BuildOnTwo& of, const View& view) {
  TW_TRY(auto build, choice_of_build(of.build, view));
  TW_TRY(const auto classes, storage::machine_classes(view.sources.database));
  html::Choice a{.parameter = "a", .label = "A", .chosen = std::to_string(of.a.id)};
  for (const auto& each : classes) a.values.emplace_back(std::to_string(each.id), each.name);
  auto b = a;
  b.parameter = "b";
  b.label = "B";
  b.chosen = std::to_string(of.b.id);
  return html::choices(view.root + "machines/compare", "What is shown",
                       {std::move(build), std::move(a), std::move(b)}, "Show");
}

/// Every benchmark that ran on both.
html::Table benchmarks_table(const BuildOnTwo& of, const View& view) {
  html::Table table{.columns = {{"benchmark"},
                                {"median on A", Cells::numbers},
                                {"median on B", Cells::numbers},
                                {"B against A", Cells::numbers},
                                {"95 % interval", Cells::numbers},
                                {"runs on A", Cells::numbers},
                                {"runs on B", Cells::numbers}}};
  const auto time = [](double ns) { return html::Cell(figures::value(Metric::time, ns), ns); };
  const auto runs = [](std::size_t count) {
    return html::Cell(std::to_string(count), static_cast<double>(count));
  };
  for (const auto& each : of.sides.benchmarks) {
    const auto& [ratio, low, high] = each.ratio;
    table.rows.push_back(
        {{each.benchmark.workload + " " + report::configuration_text(each.benchmark),
          view.to_series({each.benchmark, Metric::time})},
         time(each.a),
         time(each.b),
         {figures::change(ratio), ratio},
         figures::is_known(low, high) ? figures::interval_with_unit(low, high) : "too few runs",
         runs(each.runs_a),
         runs(each.runs_b)});
  }
  return table;
}

/// The same for programs that read tables.
html::Table exact_table(const BuildOnTwo& of) {
  html::Table table{.columns = {{"workload"},
                                {"configuration"},
                                {"variant"},
                                {"a_ns"},
                                {"b_ns"},
                                {"ratio"},
                                {"interval_low"},
                                {"interval_high"},
                                {"runs_a"},
                                {"runs_b"}}};
  const auto exact = [](double number) { return nlohmann::json(number).dump(); };
  for (const auto& each : of.sides.benchmarks) {
    const auto& [ratio, low, high] = each.ratio;
    const bool is_known = figures::is_known(low, high);
    table.rows.push_back({each.benchmark.workload, to_string(each.benchmark.configuration),
                          to_string(each.benchmark.variant), exact(each.a), exact(each.b),
                          exact(ratio), is_known ? exact(low) : "", is_known ? exact(high) : "",
                          std::to_string(each.runs_a), std::to_string(each.runs_b)});
  }
  return table;
}

html::Fragment shown_of(const BuildOnTwo& of, const View& view) {
  auto content = html::facts({{"build", {name_of(of.build, view), view.to_build(of.build.id)}},
                              {"A", of.a.name},
                              {"B", of.b.name}});
  for (const auto& sentence : evidence::sentences_on(of.sides)) {
    content += html::paragraph(html::text(sentence));
  }
  if (!of.sides.benchmarks.empty()) {
    auto plot = evidence::forest_of(context_of(view), of);
    plot.frame.id = "sides";
    content +=
        figure_of(plot, "B against A, " + figures::count(of.sides.benchmarks.size(), "benchmark") +
                            " that ran on both, and their geometric mean") +
        html::section("Each benchmark", html::table(benchmarks_table(of, view)), "benchmarks");
  }
  const bool is_private = of.build.origin == storage::BuildOrigin::folder && !view.is_trusted;
  if (is_private) return content;
  return content + html::section("The same in a terminal",
                                 html::code_block(evidence::command_of(of)), "command");
}

/// Why there is nothing to show.
Result<html::Fragment> nothing_to_show(const View& view) {
  TW_TRY(const auto classes, storage::machine_classes(view.sources.database));
  std::string reason =
      "No benchmark of any build has been measured on two machine classes, as far "
      "as the newest " +
      figures::count(storage::kComparisonsSearched, "comparison") + " say.";
  if (classes.empty()) reason = "No machine has measured anything yet.";
  if (classes.size() == 1) {
    reason = "All machines are of one class, " + classes.front().name +
             ". Machines are compared by their classes, so there is nothing to compare.";
  }
  return html::paragraph(html::text(reason));
}

}  // namespace

Result<Page> make_side_by_side(const View& view) {
  TW_TRY(const auto ids, http::ids_of(view.request, {"build", "a", "b"}));
  TW_TRY(const auto compared,
         evidence::times_on(view.sources.database, evidence::asked_on_two(ids)));
  Page page{.title = "Machines side by side",
            .content = html::title("Machines side by side"),
            .section = "Machines",
            .way = {{view.root + "machines", "Machines"}},
            .csv = exact_table(compared.value_or(BuildOnTwo{}))};
  if (!compared) {
    TW_TRY(const auto nothing, nothing_to_show(view));
    page.content += nothing;
    return page;
  }
  TW_TRY(const auto form, form_for(*compared, view));
  page.content += form + shown_of(*compared, view);
  return page;
}

}  // namespace torchwatch::pages
