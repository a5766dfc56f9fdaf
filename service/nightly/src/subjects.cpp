#include "torchwatch/nightly/subjects.hpp"

#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::nightly {

Result<Subject> Subjects::of_tree(storage::BuildOrigin origin, const std::string& name,
                                  const builds::Tree& tree, const std::string& trunk_commit,
                                  std::stop_token stop) {
  storage::BuildStore store(workshop_.database);
  TW_TRY(auto row, store.discovered(origin, name));
  row.version = tree.version;
  row.embedded_commit = tree.embedded_commit;
  row.trunk_commit = trunk_commit;
  row.content_hash = tree.content_hash;
  row.folder = tree.folder.string();
  TW_TRY(row, store.became_ready(row));
  TW_TRY(auto kit, workshop_.runners.kit_for(tree, workloads_, stop));
  return Subject{row.id, tree, std::move(kit)};
}

Result<std::variant<Subject, builds::Unbuildable>> Subjects::of_commit(
    const std::string& commit, const std::optional<builds::Tree>& base, std::stop_token stop) {
  if (workshop_.commits == nullptr) {
    return fail(ErrorCode::invalid,
                "commits cannot be built: set [build] recipe in the configuration");
  }
  TW_TRY(auto build, workshop_.commits->build(commit, base, stop));
  if (auto* unbuildable = std::get_if<builds::Unbuildable>(&build)) return *unbuildable;
  const auto& tree = std::get<builds::Tree>(build);
  TW_TRY(auto subject, of_tree(storage::BuildOrigin::commit, commit, tree, commit, stop));
  return subject;
}

}  // namespace torchwatch::nightly
