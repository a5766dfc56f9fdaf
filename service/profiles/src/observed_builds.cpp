#include "observed_builds.hpp"

#include <optional>
#include <set>
#include <utility>

#include "torchwatch/profiles/pages.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::pages {
namespace {

/// Finds a build by its id or its name. Errors: not_found.
Result<storage::BuildRow> build_named(const std::string& given, const View& view) {
  TW_TRY(const auto all, storage::BuildStore(view.sources.database).list());
  for (auto row = all.rbegin(); row != all.rend(); ++row) {
    if (std::to_string(row->id) == given || name_of(*row, view) == given) return *row;
  }
  return fail(ErrorCode::not_found, "no build \"" + given.substr(0, 100) + "\"");
}

}  // namespace

Result<Builds> builds_of(const std::string& given, Pass pass, const View& view) {
  std::optional<storage::BuildRow> named;
  if (!given.empty()) {
    TW_TRY(named, build_named(given, view));
  }
  return evidence::observed_builds(view.sources.database, pass, std::move(named));
}

Result<std::multimap<std::string, std::string>> query_of_build(const View& view) {
  std::multimap<std::string, std::string> query;
  const auto given = view.request.query.find("build");
  if (given == view.request.query.end() || given->second.empty()) return query;
  TW_TRY(const auto build, build_named(given->second, view));
  query.emplace("build", std::to_string(build.id));
  return query;
}

html::Fragment link_to(const storage::BuildRow& build, const View& view) {
  return html::link(view.to_build(build.id), name_of(build, view));
}

html::Fragment how_to(const std::string& nothing, const char* flag, const Builds& builds,
                      const View& view) {
  const auto name = builds.build && view.is_trusted ? name_of(*builds.build, view) : "BUILD";
  return html::paragraph(html::text(nothing + " ") +
                         html::code("torchwatch measure " + name + " " + flag) +
                         html::text(" measures it."));
}

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

}  // namespace torchwatch::pages
