#include "torchwatch/kits/kit_store.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "kit_build.hpp"
#include "kit_quick_key.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/platform/publish.hpp"
#include "workload_list.hpp"

namespace torchwatch::kits {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::size_t kKeyBytesMax = 100;
constexpr std::size_t kRecordBytesMax = 1U << 20U;
constexpr std::size_t kFolderDigits = 20;

/// A link in the folder's path would give the files of a build two names.
fs::path without_links(const fs::path& folder) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(fs::absolute(folder), error);
  return error ? fs::absolute(folder) : path;
}

bool is_kit(const Kit& kit) {
  std::error_code ignored;
  return fs::is_regular_file(kit.runner, ignored);
}

/// Sorted; empty where the folder holds no kit of ours.
Names recorded_workloads(const fs::path& kit_folder) {
  const auto text = platform::read_file(kit_folder / "kit.json", kRecordBytesMax);
  const auto record = nlohmann::json::parse(text.value_or(""), nullptr, false);
  Names names;
  if (!record.is_object() || !record.contains("workloads")) return names;
  for (const auto& name : record["workloads"]) {
    if (name.is_string()) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

/// The sets of workloads, larger than `wanted`, of which there are kits.
std::set<Names> larger_sets(const fs::path& folder, Names wanted) {
  std::ranges::sort(wanted);
  std::set<Names> sets;
  for (const auto& entry : platform::list_folder(folder).entries) {
    auto names = recorded_workloads(entry.path());
    if (names.size() > wanted.size() && std::ranges::includes(names, wanted)) {
      sets.insert(std::move(names));
    }
  }
  return sets;
}

}  // namespace

KitStore::KitStore(Settings settings, process::ProcessRunner& processes)
    : settings_(std::move(settings)), processes_(processes) {
  settings_.sources = fs::absolute(settings_.sources);
  settings_.folder = without_links(settings_.folder);
}

Result<Names> KitStore::workloads() const {
  return read_workload_names(settings_.sources);
}

Kit KitStore::kit_of(const std::string& key) const {
  return {.runner = settings_.folder / key.substr(0, kFolderDigits) / "torchwatch-runner",
          .key = key};
}

Result<std::optional<Kit>> KitStore::find_larger(const KitBuild& build, const Names& wanted,
                                                 const std::stop_token& stop) const {
  TW_TRY(const auto list, workloads());
  for (const auto& names : larger_sets(settings_.folder, wanted)) {
    const auto larger = choose_workloads(list, names);
    if (!larger) continue;  // of a suite that had workloads which this one has not
    TW_TRY(const std::string key, build.key_with(*larger, stop));
    if (Kit kit = kit_of(key); is_kit(kit)) return kit;
  }
  return std::nullopt;
}

Result<Kit> KitStore::find_or_compile(const builds::Tree& tree, const Names& workloads,
                                      const std::string& toolchain, const std::stop_token& stop) {
  TW_TRY(const auto lock, builds::FolderLock::acquire(settings_.folder));
  TW_TRY(const auto build, KitBuild::begin(settings_, processes_, tree, toolchain));
  TW_TRY(const std::string key, build.key_with(workloads, stop));
  const Kit kit = kit_of(key);
  if (is_kit(kit)) return kit;
  TW_TRY(auto larger, find_larger(build, workloads, stop));
  if (larger) return std::move(*larger);
  TW_TRY_VOID(build.compile(workloads, kit, stop));
  return kit;
}

Result<Kit> KitStore::kit_for(const builds::Tree& tree, const Names& names, std::stop_token stop) {
  const std::scoped_lock one_at_a_time(working_);
  TW_TRY(const auto list, workloads());
  TW_TRY(const auto workloads, choose_workloads(list, names));
  TW_TRY(const auto toolchain, toolchain_for(tree, settings_, processes_, stop));
  TW_TRY(const auto quick_key,
         kit_quick_key({settings_.sources, tree.folder, workloads}, toolchain));
  const fs::path answer = settings_.folder / "known" / quick_key;
  if (const auto key = platform::read_file(answer, kKeyBytesMax)) {
    if (Kit kit = kit_of(*key); is_kit(kit)) return kit;
  }
  auto kit = find_or_compile(tree, workloads, toolchain, stop);
  if (!kit) return fail(kit.error().within("runner for " + tree.folder.filename().string()));
  std::error_code ignored;  // publishing the answer reports it
  fs::create_directories(answer.parent_path(), ignored);
  TW_TRY_VOID(platform::publish_file(answer, kit->key));
  return kit;
}

}  // namespace torchwatch::kits
