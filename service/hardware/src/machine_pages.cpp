#include <cmath>

#include "torchwatch/evidence/work.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/hardware/pages.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/runs/class_values.hpp"
#include "torchwatch/runs/machine_conditions.hpp"
#include "torchwatch/site/members.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;
using nlohmann::json;

/// A number of things, as people write it; tables order by the number.
html::Cell count_cell(const json& object, const char* member) {
  const auto number = object.value(member, std::int64_t{0});
  return {figures::grouped(number), static_cast<double>(number)};
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

/// What came of builds that were compared with themselves.
html::Fragment self_tests_of(const std::vector<storage::SelfTestTally>& tallies) {
  html::Rows rows;
  for (const auto& tally : tallies) {
    rows.push_back({to_string(tally.metric), std::to_string(tally.series),
                    std::to_string(tally.regressed + tally.improved),
                    report::false_alarms_bound_text(tally)});
  }
  auto content = html::paragraph(
      html::text(rows.empty() ? std::string("No self-test was made yet, so nothing is known of "
                                            "false alarms here.")
                              : report::self_tests_text(storage::sum_of(tallies))));
  if (rows.empty()) return content;
  return content + html::table({.columns = {{"metric", Cells::words},
                                            {"series", Cells::numbers},
                                            {"false alarms", Cells::numbers},
                                            {"rate, 95 % upper bound", Cells::numbers}},
                                .rows = std::move(rows)});
}

Result<html::Fragment> audits_section(const View& view) {
  TW_TRY(const auto audits, evidence::audits_of(view.sources.database));
  return html::section("How far to trust it",
                       self_tests_of(audits.self_tests) +
                           html::paragraph(html::text(report::drills_text(audits.drills))) +
                           culprits_held(audits.culprits),
                       "trust");
}

/// "52 °C", of thousandths of a degree.
std::string degrees(std::int64_t milli) {
  constexpr double kDegree = 1000;
  return std::to_string(std::lround(static_cast<double>(milli) / kDegree)) + " °C";
}

std::string temperature_text(const storage::MachineConditions& conditions) {
  const auto& of = conditions.temperatures;
  if (!of) return "not told by this machine";
  return degrees(of->newest) + " at the end of the newest run; " + degrees(of->least) + " to " +
         degrees(of->most) + ", half of the time up to " + degrees(of->median);
}

/// "0.36 ms before the newest timing run; 0.35 to 0.41 ms, half of the time up to 0.36 ms".
std::string took_text(const std::optional<storage::Spread>& of) {
  if (!of) return "not told by these runs";
  const auto text = [](std::int64_t ns) {
    return figures::value(Metric::time, static_cast<double>(ns));
  };
  return text(of->newest) + " before the newest timing run; " + text(of->least) + " to " +
         text(of->most) + ", half of the time up to " + text(of->median);
}

std::string load_text(const storage::MachineConditions& conditions) {
  return figures::number(conditions.load_least) + " to " + figures::number(conditions.load_most) +
         ", half of the time up to " + figures::number(conditions.load_median) +
         ", the runs included";
}

/// What the machine's newest runs state of it.
html::Fragment conditions_section(const storage::MachineConditions& conditions) {
  const auto runs = static_cast<std::size_t>(conditions.runs);
  if (runs == 0) return {};
  return html::section(
      "What its newest " + figures::count(runs, "run") + (runs == 1 ? " states" : " state"),
      html::facts(
          {{"temperature", temperature_text(conditions)},
           {"load", load_text(conditions)},
           {"a fixed chain of arithmetic", took_text(conditions.arithmetic)},
           {"a copy of 4 MiB", took_text(conditions.copy)},
           {"stolen by the host", figures::share(conditions.stolen_share)},
           {"refused as it was busy",
            "none: no run is refused or delayed for that, as both sides of a pair run under "
            "the same disturbance"}}),
      "conditions");
}

/// "+30.0 % [+28.1, +32.7]", ordered by the ratio.
html::Cell level_cell(const json& level) {
  const auto& interval = level.at("interval");
  if (interval.is_null()) return {"too few to tell", 0.0};
  const auto ratio = level.at("ratio").get<double>();
  return {figures::change(ratio) + " " +
              figures::interval(interval[0].get<double>(), interval[1].get<double>()),
          ratio};
}

std::string remark_on(const json& node) {
  const bool is_noisier = node.at("noisier").get<bool>();
  if (node.at("differs").get<bool>()) return is_noisier ? "differs, noisier" : "differs";
  return is_noisier ? "noisier" : "";
}

/// The nodes of the machine's class; nothing where it has one alone.
html::Fragment nodes_section(const json& nodes) {
  if (nodes.empty()) return {};
  html::Rows rows;
  for (const auto& node : nodes) {
    const auto& name = node.at("node");
    rows.push_back({name.is_null() ? std::string("not named here") : name.get<std::string>(),
                    count_cell(node.at("time"), "items"), level_cell(node.at("time")),
                    level_cell(node.at("noise")), remark_on(node)});
  }
  return html::section(
      "Nodes of its class",
      html::paragraph(html::text(
          "Each node against the others, by what several of them measured of equal builds. An item "
          "is a benchmark of a build. A node differs when its times are surely more than 5 % "
          "beyond those of the others, and is noisier when its runs surely scatter more than "
          "twice as much.")) +
          html::table({.columns = {{"node", Cells::words},
                                   {"items", Cells::numbers},
                                   {"time against the others", Cells::numbers},
                                   {"noise against the others", Cells::numbers},
                                   {"remark", Cells::words}},
                       .rows = std::move(rows)}),
      "nodes");
}

/// "Model X, 64 cores, H100".
std::string class_text(const nlohmann::json& machine) {
  const auto& of = machine.at("machine_class");
  return of.is_null() ? "unknown" : text_of(of, "name");
}

/// Leads to one build on two classes, where there are two.
Result<html::Fragment> link_to_side_by_side(const View& view) {
  TW_TRY(const auto classes, storage::machine_classes(view.sources.database));
  if (classes.size() < 2) return html::Fragment();
  return html::paragraph(
      html::link(view.root + "machines/compare", "One build on two machine classes, side by side"),
      "more");
}

}  // namespace

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
  TW_TRY(const auto side_by_side, link_to_side_by_side(view));
  TW_TRY(const auto audits, audits_section(view));
  return Page{
      .title = "Machines", .content = content + side_by_side + audits, .section = "Machines"};
}

Result<Page> make_machine(const View& view) {
  TW_TRY_VOID(http::refuse_parameters(view.request));
  TW_TRY(const auto id, http::id_of(view.request));
  TW_TRY(const auto machine, ask_for_json(view, "/api/v1/machines/" + std::to_string(id)));
  auto& database = view.sources.database;
  TW_TRY(const auto conditions, storage::conditions_of(database, id));
  TW_TRY(const auto self_tests, storage::self_tests_on(database, id));
  TW_TRY(const auto drills, storage::drills_on(database, id));
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
      conditions_section(conditions) + nodes_section(machine.at("nodes")) +
      html::section("Builds compared with themselves here", self_tests_of(self_tests),
                    "self-tests") +
      html::section("Slowdowns planted here",
                    html::paragraph(html::text(report::drills_text(drills))), "drills") +
      html::section(
          "Facts that runs must share to be comparable",
          html::table({.columns = {{"fact", Cells::words}, {"value"}}, .rows = std::move(rows)}));
  return Page{.title = name,
              .content = content,
              .section = "Machines",
              .way = {{view.root + "machines", "Machines"}}};
}

}  // namespace torchwatch::pages
