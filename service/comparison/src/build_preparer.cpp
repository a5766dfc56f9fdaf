#include "torchwatch/comparison/build_preparer.hpp"

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

Result<MeasurableBuild> BuildPreparer::of_tree(storage::BuildOrigin origin, const std::string& name,
                                               const builds::Tree& tree,
                                               const std::string& trunk_commit,
                                               std::stop_token stop) {
  TW_TRY(auto row, storage::BuildStore(services_.database).discover(origin, name));
  TW_TRY(row, mark_ready(services_, std::move(row), tree, trunk_commit));
  TW_TRY(auto kit, services_.runners.kit_for(tree, workloads_, stop));
  return MeasurableBuild{row.id, tree, std::move(kit)};
}

Result<std::variant<MeasurableBuild, builds::Unbuildable>> BuildPreparer::of_commit(
    const std::string& commit, const std::optional<builds::Tree>& base, std::stop_token stop,
    builds::Maker maker) {
  if (services_.commits == nullptr) {
    return fail(ErrorCode::invalid,
                "commits cannot be built: set [build] recipe in the configuration");
  }
  TW_TRY(auto build, services_.commits->build(commit, base, stop, maker));
  if (auto* unbuildable = std::get_if<builds::Unbuildable>(&build)) return *unbuildable;
  const auto& tree = std::get<builds::Tree>(build);
  TW_TRY(auto measurable, of_tree(storage::BuildOrigin::commit, commit, tree, commit, stop));
  return measurable;
}

}  // namespace torchwatch::comparison
