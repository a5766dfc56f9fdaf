#include "torchwatch/comparison/build_preparer.hpp"

#include "torchwatch/records/printable.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::comparison {

storage::BuildRow described(storage::BuildRow row, const builds::Tree& tree,
                            const std::string& trunk_commit) {
  row.version = tree.version;
  row.embedded_commit = tree.embedded_commit;
  row.trunk_commit = trunk_commit;
  row.content_hash = tree.content_hash;
  row.folder = tree.folder.string();
  return row;
}

Result<storage::BuildRow> mark_ready(Services& services, storage::BuildRow row,
                                     const builds::Tree& tree, const std::string& trunk_commit) {
  return storage::BuildStore(services.database)
      .mark_ready(described(std::move(row), tree, trunk_commit));
}

Result<storage::Id> BuildPreparer::store_ready(storage::BuildOrigin origin, const std::string& name,
                                               const builds::Tree& tree,
                                               const std::string& trunk_commit) {
  TW_TRY(auto row, storage::BuildStore(services_.database).discover(origin, name));
  TW_TRY(row, mark_ready(services_, std::move(row), tree, trunk_commit));
  return row.id;
}

Result<MeasurableBuild> BuildPreparer::of_tree(storage::BuildOrigin origin, const std::string& name,
                                               const builds::Tree& tree,
                                               const std::string& trunk_commit,
                                               std::stop_token stop) {
  TW_TRY(const auto id, store_ready(origin, name, tree, trunk_commit));
  TW_TRY(auto kit, services_.runners.kit_for(tree, workloads_, stop));
  return MeasurableBuild{id, tree, std::move(kit)};
}

Result<std::variant<MeasurableBuild, builds::Unbuildable>> BuildPreparer::of_commit(
    const std::string& commit, const std::optional<builds::Tree>& base, std::stop_token stop,
    builds::Maker maker, WithoutRunner without) {
  if (services_.commits == nullptr) {
    return fail(ErrorCode::invalid,
                "commits cannot be built: set [build] recipe in the configuration");
  }
  TW_TRY(auto build, services_.commits->build(commit, base, stop, maker));
  if (auto* unbuildable = std::get_if<builds::Unbuildable>(&build)) return *unbuildable;
  const auto& tree = std::get<builds::Tree>(build);
  TW_TRY(const auto id, store_ready(storage::BuildOrigin::commit, commit, tree, commit));
  auto kit = services_.runners.kit_for(tree, workloads_, stop);
  if (kit) return MeasurableBuild{id, tree, *std::move(kit)};
  const bool is_of_tree =
      kit.error().code == ErrorCode::failed || kit.error().code == ErrorCode::invalid;
  if (!is_of_tree || without == WithoutRunner::failed) return fail(kit.error());
  return builds::Unbuildable{.reason =
                                 "its runner does not compile: " + printable(kit.error().text())};
}

}  // namespace torchwatch::comparison
