#include "torchwatch/packages/package_store.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "answer.hpp"
#include "package_tools.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/builds/last_use.hpp"
#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::packages {
namespace {

namespace fs = std::filesystem;
using Settings = PackageStore::Settings;

constexpr std::size_t kFolderDigits = 20;
constexpr std::size_t kProgramBytesMax = 1U << 20U;
/// What says which compiler is taken, and how it is called.
constexpr std::array kCompiler{"CXX", "CXXFLAGS", "CFLAGS", "LDFLAGS"};

/// The request for the graph: what is not part of it would make other keys.
protocol::Request graph_of(const protocol::Request& asked, int threads) {
  protocol::Request request;
  request.attempt = "package";
  request.benchmark = asked.benchmark;
  if (request.benchmark.variant.threads == 0) request.benchmark.variant.threads = threads;
  request.preset = asked.preset;
  return request;
}

/// Whether a part of a tree holds Python; the others hold thousands of files.
bool may_hold_python(const fs::path& part) {
  const auto name = part.filename();
  return name != "include" && name != "lib" && name != "share";
}

/// Adds names, sizes and times of a tree's Python, where its content hash does not take it in.
void add_python(const fs::path& tree, digest::Sha256& hash) {
  std::error_code error;
  if (fs::exists(tree / builds::kPythonHash, error)) return;
  std::vector<std::string> files;
  const auto add = [&](const fs::directory_entry& entry) {
    std::error_code gone;
    if (entry.path().extension() != ".py") return;
    files.push_back(entry.path().lexically_relative(tree).string() + " " +
                    std::to_string(entry.file_size(gone)) + " " +
                    std::to_string(entry.last_write_time(gone).time_since_epoch().count()));
  };
  for (const auto& part : platform::list_folder(tree).entries) {
    if (!may_hold_python(part.path())) continue;
    add(part);
    for (const auto& entry : platform::list_tree(part.path()).entries) add(entry);
  }
  std::ranges::sort(files);
  for (const auto& file : files) hash.add_field(file);
}

/// Kernels are compiled for the processor that they are compiled on.
void add_processor(digest::Sha256& hash) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.starts_with("model name") || line.starts_with("flags")) hash.add_field(line);
  }
}

void add_compiler(digest::Sha256& hash) {
  const auto environment = builds::tool_environment();
  for (const auto* name : kCompiler) {
    const auto found = environment.find(name);
    hash.add_field(found == environment.end() ? "" : found->second);
  }
}

std::string key_of(const Settings& settings, const Wanted& wanted) {
  digest::Sha256 hash;
  hash.add_field(wanted.tree.content_hash);
  add_python(wanted.tree.folder, hash);
  hash.add_field(wanted.kit.key);
  add_processor(hash);
  add_compiler(hash);
  hash.add_field(platform::read_file(settings.program, kProgramBytesMax).value_or(""));
  hash.add_field(settings.python);
  hash.add_field(std::to_string(settings.time_limit.count()));
  hash.add_field(std::to_string(settings.memory_limit_bytes));
  hash.add_field(protocol::to_json(wanted.request));
  for (const auto& [name, value] : wanted.environment) {
    hash.add_field(name);
    hash.add_field(value);
  }
  return hash.hex().substr(0, kFolderDigits);
}

/// Errors: not_found, corrupt.
Result<Outcome> kept_in(const fs::path& folder) {
  TW_TRY(const auto answer, read_answer(folder / kAnswerFile));
  if (answer.refusal) return Refusal{*answer.refusal};
  Package package{.file = folder / kPackageFile,
                  .compile_time_ns = answer.compile_time_ns,
                  .compile_peak = answer.compile_peak};
  std::error_code error;
  package.bytes = static_cast<std::int64_t>(fs::file_size(package.file, error));
  if (error) return fail(ErrorCode::corrupt, "there is no " + package.file.string());
  return package;
}

/// Keeps an outcome under its key: in a new folder that foreign code has never seen.
Status keep(const Outcome& outcome, const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);  // creating the folder reports it
  TW_TRY(auto partial, platform::PartialFolder::create(folder));
  Answer answer;
  if (const auto* package = std::get_if<Package>(&outcome)) {
    answer.compile_time_ns = package->compile_time_ns;
    answer.compile_peak = package->compile_peak;
    fs::rename(package->file, partial.path() / kPackageFile, error);
  } else {
    answer.refusal = std::get<Refusal>(outcome).reason;
  }
  if (error) return fail(ErrorCode::unavailable, "cannot keep a package: " + error.message());
  TW_TRY_VOID(write_answer(partial.path() / kAnswerFile, answer));
  return partial.publish();
}

bool is_kept(const Outcome& outcome) {
  if (std::holds_alternative<Package>(outcome)) return true;
  const auto* refusal = std::get_if<Refusal>(&outcome);
  return refusal != nullptr && refusal->is_kept;
}

}  // namespace

PackageStore::PackageStore(Settings settings, process::ProcessRunner& processes)
    : settings_(std::move(settings)), processes_(processes) {
  settings_.program = fs::absolute(settings_.program);
  settings_.folder = fs::absolute(settings_.folder);
}

Result<Outcome> PackageStore::package_for(const Wanted& asked, const std::function<void()>& makes,
                                          std::stop_token stop) {
  std::error_code error;
  if (!fs::exists(asked.tree.folder / "__init__.py", error)) {
    return Refusal{.reason = "the build has no Python part, with which AOTInductor comes",
                   .is_kept = false};
  }
  const std::scoped_lock one_at_a_time(working_);
  const auto request = graph_of(asked.request, settings_.threads);
  const Wanted wanted{
      .tree = asked.tree, .kit = asked.kit, .request = request, .environment = asked.environment};
  const auto folder = settings_.folder / key_of(settings_, wanted);
  if (auto known = kept_in(folder)) {
    builds::note_use(folder);
    return known;
  }
  makes();
  TW_TRY(const auto lock, builds::FolderLock::acquire(settings_.folder));
  if (auto made_meanwhile = kept_in(folder)) return made_meanwhile;
  TW_TRY(const auto work, platform::PartialFolder::create(settings_.folder / "making"));
  TW_TRY(auto outcome, make_package(settings_, wanted, work.path(), processes_, std::move(stop)));
  if (!is_kept(outcome)) return outcome;
  TW_TRY_VOID(keep(outcome, folder));
  return kept_in(folder);
}

}  // namespace torchwatch::packages
