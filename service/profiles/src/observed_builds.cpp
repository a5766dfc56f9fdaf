#include "observed_builds.hpp"

#include <set>

#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::pages {
namespace {

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

}  // namespace

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
