#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/evidence/lookup.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/profiles/pages.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;

/// The build that a page is about, and the one before it.
struct Builds {
  std::optional<storage::BuildRow> build = {};
  std::optional<storage::BuildRow> before = {};
};

/// The newest build before that one that was measured in a pass which times nothing.
Result<std::optional<storage::BuildRow>> observed_before(storage::Id build, Pass pass,
                                                         const View& view) {
  auto& database = view.sources.database;
  TW_TRY(const auto id, storage::EvidenceReader(database).observed_before(pass, build));
  if (!id) return std::nullopt;
  TW_TRY(auto row, storage::BuildStore(database).get(*id));
  return std::optional(std::move(row));
}

/// Finds a build by its id or its name. Errors: not_found.
Result<storage::BuildRow> build_named(const std::string& given, const View& view) {
  TW_TRY(const auto all, storage::BuildStore(view.sources.database).list());
  for (auto row = all.rbegin(); row != all.rend(); ++row) {
    if (std::to_string(row->id) == given || name_of(*row, view) == given) return *row;
  }
  return fail(ErrorCode::not_found, "no build \"" + given.substr(0, 100) + "\"");
}

/// Reads ?build=, an id or a name; without it the newest build that was measured in that pass, else
/// the newest nightly that was judged. The one before it was measured so, too, where one was.
/// Errors: not_found.
Result<Builds> builds_of(const std::string& given, Pass pass, const View& view) {
  storage::BuildStore store(view.sources.database);
  Builds builds;
  if (given.empty()) {
    TW_TRY(builds.build, observed_before(INT64_MAX, pass, view));
  } else {
    TW_TRY(builds.build, build_named(given, view));
  }
  if (builds.build) {
    TW_TRY(builds.before, observed_before(builds.build->id, pass, view));
    return builds;
  }
  TW_TRY(const auto newest, report::newest_nightly(view.sources.database));
  if (!newest.judged) return builds;
  TW_TRY(builds.build, store.get(newest.judged->candidate));
  if (newest.judged->baseline) {
    TW_TRY(builds.before, store.get(*newest.judged->baseline));
  }
  return builds;
}

/// "resnet18, bert and 12 more", each once.
std::string models_of(const std::vector<Benchmark>& benchmarks) {
  constexpr std::size_t kNamed = 3;
  std::set<std::string> models;
  for (const auto& benchmark : benchmarks) models.insert(benchmark.workload);
  std::string text;
  std::size_t named = 0;
  for (const auto& model : models) {
    if (++named > kNamed) break;
    text += (text.empty() ? "" : ", ") + model;
  }
  return models.size() <= kNamed
             ? text
             : text + " and " + std::to_string(models.size() - kNamed) + " more";
}

/// Whether a search for an operator finds it; an empty one finds all.
bool is_found(const std::string& name, const std::string& searched) {
  return name.find(searched) != std::string::npos;
}

html::Fragment link_to(const storage::BuildRow& build, const View& view) {
  return html::link(view.to_build(build.id), name_of(build, view));
}

/// What was profiled and shows nothing of a GPU, with the reasons, each once.
Result<html::Fragment> unprofiled_section(const storage::BuildRow& build, Mode mode,
                                          const View& view) {
  TW_TRY(const auto all, storage::EvidenceReader(view.sources.database).unprofiled_of(build.id));
  std::map<std::string, std::vector<Benchmark>> benchmarks;
  for (const auto& [benchmark, reason] : all) {
    if (benchmark.configuration.mode != mode) continue;
    benchmarks[view.is_trusted ? reason : "the reason is for readers with a token"].push_back(
        benchmark);
  }
  std::vector<html::Fragment> items;
  for (const auto& [reason, of] : benchmarks) {
    items.push_back(html::text(models_of(of) + ": " + reason));
  }
  if (items.empty()) return html::Fragment();
  return html::section("Profiled, and nothing of a GPU seen", html::list(items));
}

/// How profiles or coverage of the build come about, where there are none.
html::Fragment how_to(const std::string& nothing, const char* flag, const Builds& builds,
                      const View& view) {
  const auto name = builds.build && view.is_trusted ? name_of(*builds.build, view) : "BUILD";
  return html::paragraph(html::text(nothing + " ") +
                         html::code("torchwatch measure " + name + " " + flag) +
                         html::text(" measures it."));
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

/// The operators whose names have the searched text.
html::Table operators_table(const evidence::Coverage& coverage, const std::string& searched,
                            const View& view) {
  html::Rows rows;
  for (const auto& [name, benchmarks] : coverage.operators) {
    if (!is_found(name, searched)) continue;
    html::Cell count(std::to_string(benchmarks.size()), static_cast<double>(benchmarks.size()));
    rows.push_back({{name, view.with_parameter("operator", name)}, count, models_of(benchmarks)});
  }
  return {.columns = {{"operator"}, {"benchmarks", Cells::numbers}, {"models"}},
          .rows = std::move(rows)};
}

/// Sorts what a GPU did: the most active first, or what changed most, either way.
void sort_rows(std::vector<drawing::SharesRow>& rows, const std::string& order) {
  if (order == "name") return;
  const auto place = [&order](const drawing::SharesRow& row) {
    constexpr double kLast = 1;
    if (!row.after) return kLast;
    if (order == "active") return -row.after->active;
    return row.before ? -std::abs(row.after->active - row.before->active) : kLast;
  };
  std::ranges::stable_sort(rows, {}, place);
}

/// The means of the models of each domain, with the newer build.
html::Fragment domains_section(const drawing::DeviceShares& shares, const View& view) {
  struct Sum {
    drawing::Shares of = {};
    double count = 0;
  };
  const auto domains = domains_of(view);
  std::map<std::string, Sum> sums;
  for (const auto& row : shares.rows) {
    const auto domain = domains.find(row.label.substr(0, row.label.find(' ')));
    if (!row.after || domain == domains.end()) continue;
    auto& [sum, count] = sums[domain->second];
    sum.active += row.after->active;
    sum.copy += row.after->copy;
    sum.idle += row.after->idle;
    ++count;
  }
  if (sums.empty()) return {};
  html::Rows rows;
  for (const auto& [domain, sum] : sums) {
    const auto mean = [&count = sum.count](double of) {
      return html::Cell(figures::share(of / count), of / count);
    };
    rows.push_back({domain,
                    {figures::grouped(std::lround(sum.count)), sum.count},
                    mean(sum.of.active),
                    mean(sum.of.copy),
                    mean(sum.of.idle)});
  }
  return html::section("Means of each domain, with " + shares.after,
                       html::table({.columns = {{"domain"},
                                                {"series", Cells::numbers},
                                                {"active", Cells::numbers},
                                                {"data movement", Cells::numbers},
                                                {"idle", Cells::numbers}},
                                    .rows = std::move(rows)}),
                       "domains");
}

}  // namespace

Result<Page> make_gpu(const View& view) {
  const std::vector<std::string> orders{"name", "active", "change"};
  TW_TRY(const auto parameters, parameters_of(view, {"mode", "build", "order"}));
  const auto order = value_or(parameters, "order", "name");
  TW_TRY_VOID(check_choice("order", order, orders));
  const auto mode_word = value_or(parameters, "mode", "train");
  TW_TRY(const auto mode, parse_mode(mode_word));
  TW_TRY(const auto builds, builds_of(value_or(parameters, "build", ""), Pass::profile, view));
  auto content = html::title("What the GPU does") +
                 choice(view, "mode", mode_word, "train", {"train", "infer"});
  Page page{.title = "GPU", .content = {}, .section = "Models"};
  const auto nothing = how_to("No profile of a GPU is stored.", "--profile", builds, view);
  if (!builds.build) {
    page.content = content + nothing;
    page.csv = drawn_data(table_of(drawing::DeviceShares())).tables.front();
    return page;
  }
  TW_TRY(auto shares,
         evidence::device_shares_of(context_of(view), *builds.build, mode, builds.before));
  TW_TRY(const auto without, unprofiled_section(*builds.build, mode, view));
  shares.frame.id = "shares";
  sort_rows(shares.rows, order);
  content += html::paragraph(html::text("Build ") + link_to(*builds.build, view) +
                             html::text(": the shares of an iteration in which the GPU computes "
                                        "(filled), copies (striped), or is idle (empty)."));
  page.csv = drawn_data(table_of(shares)).tables.front();
  if (shares.rows.empty() && without.empty()) content += nothing;
  if (!shares.rows.empty()) {
    content += choice(view, "order", order, "name", orders) + domains_section(shares, view);
    content += figure_of(shares, "Shares of the time of an iteration, " +
                                     figures::count(shares.rows.size(), "series"));
  }
  page.content = content + without;
  return page;
}

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
  if (table.rows.empty()) {
    page.content =
        content +
        (searched.empty()
             ? how_to("No coverage was measured of this build.", "--coverage", builds, view)
             : html::paragraph(html::text("No model calls such an operator.")));
    return page;
  }
  content += html::paragraph(
      html::text("Build ") + link_to(*builds.build, view) +
      html::text(": " + figures::count(coverage.operators.size(), "operator") + " are called by " +
                 figures::count(coverage.benchmarks.size(), "benchmark") + "."));
  TW_TRY(const auto change, change_section(coverage, builds, view));
  if (searched.empty()) {
    content += change + mlperf_text(coverage) + models_section(coverage, view);
  } else {
    content += html::paragraph(html::link(view.with_parameter("operator", ""), "All operators"));
  }
  page.content = content + html::table(table);
  return page;
}

}  // namespace torchwatch::pages
