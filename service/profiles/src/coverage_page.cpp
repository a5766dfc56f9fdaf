#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "observed_builds.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/html/search.hpp"
#include "torchwatch/profiles/pages.hpp"
#include "torchwatch/report/outcome.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;

/// Whether a search for an operator finds it; an empty one finds all.
bool is_found(const std::string& name, const std::string& searched) {
  return name.find(searched) != std::string::npos;
}

/// "No longer called since 2026-08-16: aten::x, aten::y."
html::Fragment names_section(const std::string& heading, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  std::vector<html::Fragment> items;
  for (const auto& name : names) items.push_back(html::code(name));
  return html::section(heading, html::list(items));
}

/// What became uncovered, and what became covered, since the build before.
Result<html::Fragment> change_section(const evidence::Coverage& coverage, const Builds& builds,
                                      const View& view) {
  if (!builds.before || coverage.benchmarks.empty()) return html::Fragment();
  TW_TRY(const auto before, evidence::coverage_of(view.sources.database, builds.before->id));
  const auto change = evidence::coverage_change(before, coverage);
  if (change.benchmarks == 0) return html::Fragment();
  const auto name = name_of(*builds.before, view);
  if (change.lost.empty() && change.gained.empty()) {
    return html::paragraph(html::text("The same operators as with ") +
                           link_to(*builds.before, view) + html::text(", in ") +
                           html::text(figures::count(change.benchmarks, "benchmark") + "."));
  }
  return names_section("No longer called, compared with " + name, change.lost) +
         names_section("Called now, compared with " + name, change.gained);
}

/// How many operators MLPerf's networks call, as far as they were run, of all that are called here.
html::Fragment mlperf_text(const evidence::Coverage& coverage) {
  const auto is_theirs = [](const Benchmark& benchmark) {
    return report::is_mlperf_network(benchmark.workload);
  };
  std::set<std::string> networks;
  for (const auto& benchmark : coverage.benchmarks) {
    if (is_theirs(benchmark)) networks.insert(benchmark.workload);
  }
  if (networks.empty()) return {};
  const auto theirs = std::ranges::count_if(coverage.operators, [&](const auto& called) {
    return std::ranges::any_of(called.second, is_theirs);
  });
  std::string names;
  for (const auto& name : networks) names += (names.empty() ? "" : ", ") + name;
  return html::paragraph(
      html::text("MLPerf's networks, as far as they were run (" + names + "), call " +
                 figures::count(static_cast<std::size_t>(theirs), "operator") + " of these."));
}

/// Each model with how many operators it calls, and how many of them no other does.
html::Fragment models_section(const evidence::Coverage& coverage, const View& view) {
  struct Count {
    std::size_t all = 0;
    std::size_t alone = 0;
  };
  std::map<std::string, Count> counts;
  for (const auto& [name, benchmarks] : coverage.operators) {
    std::set<std::string> models;
    for (const auto& benchmark : benchmarks) models.insert(benchmark.workload);
    for (const auto& model : models) {
      ++counts[model].all;
      counts[model].alone += models.size() == 1 ? 1 : 0;
    }
  }
  html::Rows rows;
  for (const auto& [model, count] : counts) {
    rows.push_back({{model, view.to_model(model)},
                    {std::to_string(count.all), static_cast<double>(count.all)},
                    {std::to_string(count.alone), static_cast<double>(count.alone)}});
  }
  return html::details(figures::count(counts.size(), "model"),
                       html::table({.columns = {{"model"},
                                                {"operators", Cells::numbers},
                                                {"that no other model calls", Cells::numbers}},
                                    .rows = std::move(rows)}));
}

/// How much of what the build has is called, by namespace; most namespaces are of few operators.
html::Fragment surface_section(const evidence::Coverage& coverage) {
  const auto spaces = evidence::covered_spaces(coverage);
  if (spaces.empty()) {
    return html::paragraph(
        html::text("How many operators the build has is not known: no coverage run stated it, as "
                   "runners of earlier versions do not."));
  }
  const auto sum = [&spaces](std::int64_t evidence::CoveredSpace::* of) {
    return std::accumulate(spaces.begin(), spaces.end(), std::int64_t{0},
                           [of](auto all, const auto& space) { return all + space.*of; });
  };
  const auto share = [](std::int64_t called, std::int64_t registered) {
    return figures::share(static_cast<double>(called) / static_cast<double>(registered));
  };
  const auto called = sum(&evidence::CoveredSpace::called);
  const auto registered = sum(&evidence::CoveredSpace::registered);
  html::Rows rows;
  for (const auto& space : spaces) {
    const auto count = [](std::int64_t of) {
      return html::Cell(figures::grouped(of), static_cast<double>(of));
    };
    rows.push_back({space.name, count(space.called), count(space.registered),
                    share(space.called, space.registered)});
  }
  return html::paragraph(html::text(
             "Of the " + figures::grouped(registered) +
             " operators that the build's dispatcher knows, overloads of one name counted once, " +
             figures::grouped(called) + " are called: " + share(called, registered) + ".")) +
         html::details(figures::count(spaces.size(), "namespace"),
                       html::table({.columns = {{"namespace", Cells::words},
                                                {"called", Cells::numbers},
                                                {"known to the build", Cells::numbers},
                                                {"share", Cells::numbers}},
                                    .rows = std::move(rows)}));
}

/// The names of all models, each once.
std::string all_models_of(const std::vector<Benchmark>& benchmarks) {
  std::set<std::string> models;
  for (const auto& benchmark : benchmarks) models.insert(benchmark.workload);
  std::string text;
  for (const auto& model : models) text += (text.empty() ? "" : ", ") + model;
  return text;
}

/// The operators whose names have the searched text.
html::Table operators_table(const evidence::Coverage& coverage, const std::string& searched,
                            const View& view) {
  html::Rows rows;
  for (const auto& [name, benchmarks] : coverage.operators) {
    if (!is_found(name, searched)) continue;
    html::Cell count(std::to_string(benchmarks.size()), static_cast<double>(benchmarks.size()));
    rows.push_back({{name, view.with_parameter("operator", name)},
                    count,
                    searched.empty() ? models_of(benchmarks) : all_models_of(benchmarks)});
  }
  return {.columns = {{"operator"}, {"benchmarks", Cells::numbers}, {"models"}},
          .rows = std::move(rows)};
}

}  // namespace

Result<Page> make_coverage(const View& view) {
  TW_TRY(const auto parameters, parameters_of(view, {"build", "operator"}));
  TW_TRY(const auto builds, builds_of(value_or(parameters, "build", ""), Pass::coverage, view));
  const auto searched = value_or(parameters, "operator", "");
  auto content = html::title("Coverage of operators");
  Page page{.title = "Coverage", .content = {}, .section = "Models"};
  evidence::Coverage coverage;
  if (builds.build) {
    TW_TRY(coverage, evidence::coverage_of(view.sources.database, builds.build->id));
  }
  const auto table = operators_table(coverage, searched, view);
  page.csv = table;
  const auto search = html::search(view.root + "coverage", "operator", "Operator", searched,
                                   {{"build", value_or(parameters, "build", "")}});
  if (table.rows.empty()) {
    page.content =
        content +
        (searched.empty()
             ? how_to("No coverage was measured of this build.", "--coverage", builds, view)
             : search + html::paragraph(html::text("No model calls such an operator.")));
    return page;
  }
  content += html::paragraph(
      html::text("Build ") + link_to(*builds.build, view) +
      html::text(": " + figures::count(coverage.operators.size(), "operator") + " are called by " +
                 figures::count(coverage.benchmarks.size(), "benchmark") + "."));
  content += search;
  TW_TRY(const auto change, change_section(coverage, builds, view));
  if (searched.empty()) {
    content +=
        surface_section(coverage) + change + mlperf_text(coverage) + models_section(coverage, view);
  } else {
    content += html::paragraph(html::link(view.with_parameter("operator", ""), "All operators"));
  }
  page.content = content + html::table(table);
  return page;
}

}  // namespace torchwatch::pages
