#include <set>

#include "items.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/evidence/lookup.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;

/// The build that a page is about, and the one before it.
struct Builds {
  std::optional<storage::BuildRow> build = {};
  std::optional<storage::BuildRow> before = {};
};

/// Reads ?build=, an id or a name; without it the newest nightly that was judged. Errors:
/// not_found.
Result<Builds> builds_of(const std::string& given, const View& view) {
  storage::BuildStore store(view.sources.database);
  if (!given.empty()) {
    TW_TRY(const auto all, store.list());
    for (auto row = all.rbegin(); row != all.rend(); ++row) {
      if (std::to_string(row->id) == given || name_of(*row, view) == given) return Builds{*row, {}};
    }
    return fail(ErrorCode::not_found, "no build \"" + given.substr(0, 100) + "\"");
  }
  TW_TRY(const auto newest, report::newest_nightly(view.sources.database));
  Builds builds;
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

}  // namespace

Result<Page> make_gpu(const View& view) {
  TW_TRY(const auto parameters, parameters_of(view, {"mode", "build"}));
  const auto mode_word = value_or(parameters, "mode", "train");
  TW_TRY(const auto mode, parse_mode(mode_word));
  TW_TRY(const auto builds, builds_of(value_or(parameters, "build", ""), view));
  auto content = html::title("What the GPU does") +
                 choice(view, "mode", mode_word, "train", {"train", "infer"});
  Page page{.title = "GPU", .content = {}, .section = "Models"};
  const auto nothing = html::paragraph(html::text("No profile of a GPU is stored."));
  if (!builds.build) {
    page.content = content + nothing;
    return page;
  }
  TW_TRY(auto shares,
         evidence::device_shares_of(context_of(view), *builds.build, mode, builds.before));
  shares.frame.id = "shares";
  content += html::paragraph(html::text("Build ") + link_to(*builds.build, view) +
                             html::text(": the shares of an iteration in which the GPU computes, "
                                        "copies, or is idle."));
  page.content =
      content + (shares.rows.empty()
                     ? nothing
                     : figure_of(shares, "Shares of the time of an iteration, " +
                                             figures::count(shares.rows.size(), "series")));
  return page;
}

Result<Page> make_coverage(const View& view) {
  TW_TRY(const auto parameters, parameters_of(view, {"build", "operator"}));
  TW_TRY(const auto builds, builds_of(value_or(parameters, "build", ""), view));
  const auto searched = value_or(parameters, "operator", "");
  auto content = html::title("Coverage of operators");
  Page page{.title = "Coverage", .content = {}, .section = "Models"};
  evidence::Coverage coverage;
  if (builds.build) {
    TW_TRY(coverage, evidence::coverage_of(view.sources.database, builds.build->id));
  }
  html::Rows rows;
  for (const auto& [name, benchmarks] : coverage.operators) {
    if (!is_found(name, searched)) continue;
    html::Cell count(std::to_string(benchmarks.size()), static_cast<double>(benchmarks.size()));
    rows.push_back({{name, view.with_parameter("operator", name)}, count, models_of(benchmarks)});
  }
  if (rows.empty()) {
    page.content =
        content +
        html::paragraph(html::text(searched.empty() ? "No coverage was measured of this build."
                                                    : "No model calls such an operator."));
    return page;
  }
  content += html::paragraph(
      html::text("Build ") + link_to(*builds.build, view) +
      html::text(": " + figures::count(coverage.operators.size(), "operator") + " are called by " +
                 figures::count(coverage.benchmarks.size(), "benchmark") + "."));
  if (!searched.empty()) {
    content += html::paragraph(html::link(view.with_parameter("operator", ""), "All operators"));
  }
  page.content =
      content + html::table({.columns = {{"operator"}, {"benchmarks", Cells::numbers}, {"models"}},
                             .rows = std::move(rows)});
  return page;
}

}  // namespace torchwatch::pages
