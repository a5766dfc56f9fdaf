#include "torchwatch/builds/kit_store.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "header_closure.hpp"
#include "kit_folder.hpp"
#include "kit_question.hpp"
#include "tool_run.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/builds/sha256.hpp"
#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/doors/failpoint.hpp"
#include "torchwatch/doors/publish.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeyBytesMax = 100;
constexpr std::size_t kRecordBytesMax = 1U << 20U;
constexpr const char* kRecordFile = "kit.json";
constexpr std::size_t kFolderDigits = 20;
constexpr std::chrono::seconds kQuickToolLimit{60};
constexpr std::size_t kQuickToolOutputBytes = 64U << 10U;
/// Another layout of kits than this one's is never taken for one.
constexpr const char* kFormat = "torchwatch kit 1";

bool is_on_path(const std::string& program) {
  const auto environment = tool_environment();
  const auto path = environment.find("PATH");
  if (path == environment.end()) return false;
  std::string folder;
  for (std::istringstream folders(path->second); std::getline(folders, folder, ':');) {
    std::error_code ignored;
    if (fs::is_regular_file(fs::path(folder) / program, ignored)) return true;
  }
  return false;
}

bool is_kit(const Kit& kit) {
  std::error_code ignored;
  return fs::is_regular_file(kit.runner, ignored);
}

std::string record_of(const KitPlan& plan, const Kit& kit) {
  nlohmann::json record{{"schema", 1},
                        {"key", kit.key},
                        {"cxx11_abi", plan.link.cxx11_abi},
                        {"libraries", plan.link.libraries},
                        {"workloads", nlohmann::json::array()}};
  for (const auto& workload : plan.workloads) record["workloads"].push_back(workload.name);
  return record.dump(2) + "\n";
}

/// Sorted; empty where the folder holds no kit of ours.
std::vector<std::string> recorded_workloads(const fs::path& kit_folder) {
  const auto text = doors::read_file(kit_folder / kRecordFile, kRecordBytesMax);
  const auto record = nlohmann::json::parse(text.value_or(""), nullptr, false);
  std::vector<std::string> names;
  if (!record.is_object() || !record.contains("workloads")) return names;
  for (const auto& name : record["workloads"]) {
    if (name.is_string()) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

/// The sets of workloads, larger than `wanted`, of which there are kits.
std::set<std::vector<std::string>> larger_sets(const fs::path& folder,
                                               std::vector<std::string> wanted) {
  std::ranges::sort(wanted);
  std::set<std::vector<std::string>> sets;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    auto names = recorded_workloads(entry.path());
    if (names.size() > wanted.size() && std::ranges::includes(names, wanted)) {
      sets.insert(std::move(names));
    }
  }
  return sets;
}

}  // namespace

KitStore::KitStore(Settings settings, doors::ProcessRunner& processes)
    : settings_(std::move(settings)), processes_(processes) {
  settings_.sources = fs::absolute(settings_.sources);
  settings_.folder = fs::absolute(settings_.folder);
}

Result<std::vector<std::string>> KitStore::workloads() const {
  TW_TRY(const auto manifest, read_kit_manifest(settings_.sources));
  TW_TRY(const auto list, read_workload_list(settings_.sources / manifest.workloads));
  std::vector<std::string> names;
  for (const auto& entry : list) names.push_back(entry.name);
  return names;
}

Result<KitPlan> KitStore::plan_for(const Tree& tree, const std::vector<std::string>& names) const {
  KitPlan plan{.sources = settings_.sources,
               .manifest = {},
               .workloads = {},
               .tree = tree.folder,
               .link = {},
               .has_ccache = is_on_path("ccache")};
  TW_TRY(plan.manifest, read_kit_manifest(settings_.sources));
  TW_TRY(const auto list, read_workload_list(settings_.sources / plan.manifest.workloads));
  TW_TRY(plan.workloads, choose_workloads(list, names));
  TW_TRY(plan.link, link_set_of(tree, LibrarySearch::of_this_machine()));
  return plan;
}

Result<std::string> KitStore::compiler_version(std::stop_token stop) const {
  TW_TRY(const std::string text, run_tool({.program = "g++",
                                           .arguments = {"--version"},
                                           .folder = settings_.sources,
                                           .time_limit = kQuickToolLimit,
                                           .output_limit_bytes = kQuickToolOutputBytes},
                                          processes_, std::move(stop)));
  return text.substr(0, text.find('\n'));
}

Kit KitStore::kit_of(const KitPlan& plan, const std::string& key) const {
  return {.runner = settings_.folder / key.substr(0, kFolderDigits) / plan.manifest.executable,
          .key = key};
}

Result<std::string> KitStore::find_key(const KitPlan& plan, const std::string& compiler,
                                       std::stop_token stop) const {
  TW_TRY(const auto scratch, doors::PartialFolder::create(settings_.folder / "closure"));
  TW_TRY_VOID(lay_out_kit_folder(scratch.path(), plan));
  TW_TRY(const std::string closure,
         hash_of_closure(scratch.path(), plan, settings_.time_limit, processes_, std::move(stop)));
  Sha256 hash;
  hash.add_field(kFormat);
  hash.add_field(closure);
  hash.add_field(table_of(plan));
  hash.add_field(compiler);
  for (const auto& flag : compile_flags(plan)) hash.add_field(flag);
  for (const auto& flag : plan.manifest.link) hash.add_field(flag);
  for (const auto& library : plan.link.libraries) hash.add_field(library);
  return hash.hex();
}

Result<std::optional<Kit>> KitStore::find_larger(const Tree& tree, const KitPlan& plan,
                                                 const std::string& compiler,
                                                 std::stop_token stop) const {
  std::vector<std::string> wanted;
  for (const auto& workload : plan.workloads) wanted.push_back(workload.name);
  for (const auto& names : larger_sets(settings_.folder, std::move(wanted))) {
    const auto larger = plan_for(tree, names);
    if (!larger) continue;  // of a suite that had workloads which this one has not
    TW_TRY(const std::string key, find_key(*larger, compiler, stop));
    if (Kit kit = kit_of(*larger, key); is_kit(kit)) return kit;
  }
  return std::nullopt;
}

Status KitStore::compile(const KitPlan& plan, const Kit& kit, std::stop_token stop) const {
  TW_TRY(auto folder, doors::PartialFolder::create(kit.runner.parent_path()));
  TW_TRY_VOID(lay_out_kit_folder(folder.path(), plan));
  const int jobs = settings_.jobs > 0
                       ? settings_.jobs
                       : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (auto built = run_tool({.program = "ninja",
                             .arguments = {"--quiet", "-j", std::to_string(jobs)},
                             .folder = folder.path(),
                             .time_limit = settings_.time_limit,
                             .output_limit_bytes = settings_.output_limit_bytes},
                            processes_, std::move(stop));
      !built) {
    return fail(built.error().within("runner kit for " + plan.tree.string()));
  }
  TW_TRY_VOID(clean_kit_folder(folder.path(), plan));
  TW_TRY_VOID(doors::publish_file(folder.path() / kRecordFile, record_of(plan, kit)));
  TW_TRY_VOID(folder.publish());
  return doors::failpoint("builds.after_kit_published");
}

Result<Kit> KitStore::kit_for(const Tree& tree, const std::vector<std::string>& names,
                              std::stop_token stop) {
  const std::scoped_lock one_at_a_time(working_);
  TW_TRY(const KitPlan plan, plan_for(tree, names));
  TW_TRY(const std::string compiler, compiler_version(stop));
  TW_TRY(const std::string question, kit_question(plan, compiler));
  const fs::path answer = settings_.folder / "known" / question;
  if (const auto key = doors::read_file(answer, kKeyBytesMax)) {
    if (Kit kit = kit_of(plan, *key); is_kit(kit)) return kit;
  }
  TW_TRY(const FolderLock lock, FolderLock::acquire(settings_.folder));
  TW_TRY(const std::string key, find_key(plan, compiler, stop));
  Kit kit = kit_of(plan, key);
  if (!is_kit(kit)) {
    TW_TRY(auto larger, find_larger(tree, plan, compiler, stop));
    if (!larger) TW_TRY_VOID(compile(plan, kit, stop));
    kit = larger.value_or(kit);
  }
  std::error_code ignored;  // publishing the answer tells
  fs::create_directories(answer.parent_path(), ignored);
  TW_TRY_VOID(doors::publish_file(answer, kit.key));
  return kit;
}

}  // namespace torchwatch::builds
