#include <algorithm>
#include <cmath>
#include <map>

#include "observed_builds.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/profiles/pages.hpp"
#include "torchwatch/runs/evidence_reader.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;

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

}  // namespace torchwatch::pages
