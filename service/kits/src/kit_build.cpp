#include "kit_build.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "torchwatch/builds/file_hashes.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/platform/failpoint.hpp"

namespace torchwatch::kits {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// Part of each key: a change of how keys are computed makes new ones.
constexpr const char* kFormat = "torchwatch kit 2";
constexpr const char* kOwnLink = "own";
constexpr std::array kSourceFolders{"cmake", "models", "runner", "storage/records"};
constexpr const char* kTreeLink = "tree";
constexpr const char* kRunnerTarget = "torchwatch-runner";
/// The object of runner/kit/CMakeLists.txt whose dependencies are all files the sources reach.
constexpr const char* kReachedHeaders = "CMakeFiles/reached_headers.dir/reached_headers.cpp.o";
constexpr const char* kFailureLog = "last-failure.log";
constexpr std::chrono::seconds kQuickToolLimit{60};
constexpr std::size_t kQuickToolOutputBytes = 64U << 10U;
constexpr std::size_t kListingBytesMax = 16U << 20U;

/// The compilers see the runner's sources and the tree; `include` may be a link to another build's.
sandbox::Profile profile_for(const KitStore::Settings& settings, const fs::path& tree) {
  sandbox::Profile profile;
  for (const char* folder : kSourceFolders) profile.readable.push_back(settings.sources / folder);
  profile.readable.push_back(tree);
  profile.linked = {tree, tree / "lib"};
  return profile;
}

/// Checks that the tree's links lead to what the compilers may see. What they may not see is for
/// the configuration to say, and no fault of the build.
Status require_visible(const KitStore::Settings& settings, const builds::Tree& tree) {
  const auto profile = profile_for(settings, tree.folder);
  for (const char* name : {"include", "lib/libtorch_cpu.so"}) {
    const fs::path path = tree.folder / name;
    std::error_code error;
    const auto real = fs::canonical(path, error);
    if (error || settings.sandbox.shows(profile, path)) continue;
    return fail(ErrorCode::unavailable, path.string() + " is a link to " + real.string() +
                                            ", which the sandbox hides: name its folder in "
                                            "[sandbox] readable");
  }
  return {};
}

Status make_link(const fs::path& target, const fs::path& link) {
  std::error_code error;
  fs::create_directory_symlink(target, link, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable,
              "cannot make the link " + link.string() + ": " + error.message());
}

std::string joined(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ";") + name;
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

/// The files in what `ninja -t deps` prints: a headline, then a file on each indented line.
std::vector<std::string> dependencies_in(const std::string& listing) {
  constexpr std::string_view kIndent = "    ";
  std::vector<std::string> files;
  for (const auto& line : lines_of(listing)) {
    if (line.starts_with(kIndent)) files.push_back(line.substr(kIndent.size()));
  }
  std::ranges::sort(files);
  return files;
}

bool is_version_header(const fs::path& name) {
  return *name.begin() == kTreeLink && name.filename() == "version.h";
}

Status add_files(const fs::path& folder, const std::string& listing, digest::Sha256& hash) {
  const auto files = dependencies_in(listing);
  if (files.empty()) return fail(ErrorCode::invalid, "ninja knows of no header: " + listing);
  const std::string prefix = folder.string() + "/";
  for (const auto& file : files) {
    const std::string name = file.starts_with(prefix) ? file.substr(prefix.size()) : file;
    if (is_version_header(name)) continue;
    TW_TRY(const std::string content, builds::process_file_hashes().of(folder / name));
    hash.add_field(name);
    hash.add_field(content);
  }
  return {};
}

/// Returns the commands without the folder and the compiler cache, as another folder has them.
std::string placeless(std::string commands, const std::string& folder) {
  constexpr std::string_view kCache = "ccache ";
  for (auto at = commands.find(folder); at != std::string::npos; at = commands.find(folder, at)) {
    commands.replace(at, folder.size(), ".");
  }
  std::string text;
  for (const auto& line : lines_of(commands)) {
    text += (line.starts_with(kCache) ? line.substr(kCache.size()) : line) + "\n";
  }
  return text;
}

}  // namespace

Result<std::string> toolchain_for(const builds::Tree& tree, const KitStore::Settings& settings,
                                  process::ProcessRunner& processes, const std::stop_token& stop) {
  TW_TRY_VOID(require_visible(settings, tree));
  ToolRun compiler{.program = "g++",
                   .arguments = {"--version"},
                   .folder = settings.sources,
                   .time_limit = kQuickToolLimit,
                   .output_limit_bytes = kQuickToolOutputBytes,
                   .sandbox = settings.sandbox,
                   .profile = profile_for(settings, tree.folder),
                   .compiler_cache = settings.compiler_cache};
  TW_TRY(const std::string version, run_tool(compiler, processes, stop));
  ToolRun linking = compiler;
  linking.program = "cmake";
  linking.arguments = {"-DTORCHWATCH_LIBTORCH=" + tree.folder.string(), "-P",
                       (settings.sources / "cmake" / "LibTorch.cmake").string()};
  linking.failure = ErrorCode::invalid;
  TW_TRY(const std::string facts, run_tool(linking, processes, stop));
  return version.substr(0, version.find('\n')) + "; " + facts.substr(0, facts.find('\n'));
}

KitBuild::KitBuild(const KitStore::Settings& settings, process::ProcessRunner& processes,
                   platform::PartialFolder&& making, fs::path tree, std::string toolchain)
    : settings_(settings),
      processes_(processes),
      making_(std::move(making)),
      tree_(std::move(tree)),
      toolchain_(std::move(toolchain)) {}

Result<KitBuild> KitBuild::begin(const KitStore::Settings& settings,
                                 process::ProcessRunner& processes, const builds::Tree& tree,
                                 std::string toolchain) {
  TW_TRY(auto making, platform::PartialFolder::create(settings.folder / "making"));
  TW_TRY_VOID(make_link(settings.sources, making.path() / kOwnLink));
  TW_TRY_VOID(make_link(tree.folder, making.path() / kTreeLink));
  return KitBuild(settings, processes, std::move(making), tree.folder, std::move(toolchain));
}

ToolRun KitBuild::tool(const std::string& program, std::vector<std::string> arguments) const {
  auto profile = profile_for(settings_, tree_);
  profile.writable.push_back(making_.path());
  return {.program = program,
          .arguments = std::move(arguments),
          .folder = making_.path(),
          .time_limit = settings_.time_limit,
          .output_limit_bytes = std::max(settings_.output_limit_bytes, kListingBytesMax),
          .log = settings_.folder / kFailureLog,
          .ccache = settings_.folder.parent_path() / "ccache",
          .sandbox = settings_.sandbox,
          .profile = std::move(profile),
          .compiler_cache = settings_.compiler_cache};
}

Status KitBuild::configure(const Names& workloads, const std::stop_token& stop) const {
  const fs::path& folder = making_.path();
  TW_TRY_VOID(run_tool(
      tool("cmake", {"-S", (folder / kOwnLink / "runner" / "kit").string(), "-B", folder.string(),
                     "-G", "Ninja", "-DTORCHWATCH_LIBTORCH=" + (folder / kTreeLink).string(),
                     "-DTORCHWATCH_WORKLOADS=" + joined(workloads)}),
      processes_, stop));
  return {};
}

Result<std::string> KitBuild::commands(const std::stop_token& stop) const {
  TW_TRY(std::string text,
         run_tool(tool("ninja", {"-t", "commands", kRunnerTarget}), processes_, stop));
  return placeless(std::move(text), making_.path().string());
}

Result<std::string> KitBuild::key_with(const Names& workloads, const std::stop_token& stop) const {
  TW_TRY_VOID(configure(workloads, stop));
  TW_TRY_VOID(run_tool(tool("ninja", {"--quiet", kReachedHeaders}), processes_, stop));
  TW_TRY(const std::string listing,
         run_tool(tool("ninja", {"-t", "deps", kReachedHeaders}), processes_, stop));
  TW_TRY(const std::string build, commands(stop));
  digest::Sha256 hash;
  hash.add_field(kFormat);
  hash.add_field(toolchain_);
  hash.add_field(build);
  TW_TRY_VOID(add_files(making_.path(), listing, hash));
  return hash.hex();
}

Status KitBuild::compile(const Names& workloads, const Kit& kit,
                         const std::stop_token& stop) const {
  TW_TRY_VOID(configure(workloads, stop));
  const int jobs = settings_.jobs > 0
                       ? settings_.jobs
                       : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  TW_TRY_VOID(run_tool(tool("ninja", {"--quiet", "-j", std::to_string(jobs), kRunnerTarget}),
                       processes_, stop));
  return publish(workloads, kit);
}

Status KitBuild::publish(const Names& workloads, const Kit& kit) const {
  TW_TRY(auto folder, platform::PartialFolder::create(kit.runner.parent_path()));
  std::error_code error;
  fs::rename(making_.path() / kRunnerTarget, folder.path() / kit.runner.filename(), error);
  if (error) {
    return fail(ErrorCode::unavailable,
                "cannot move the runner into " + folder.path().string() + ": " + error.message());
  }
  // Where the runner's RUNPATH leads: $ORIGIN/tree/lib.
  TW_TRY_VOID(make_link(tree_, folder.path() / kTreeLink));
  const nlohmann::json record{
      {"schema", 1}, {"key", kit.key}, {"toolchain", toolchain_}, {"workloads", workloads}};
  TW_TRY_VOID(platform::publish_file(folder.path() / "kit.json", record.dump(2) + "\n"));
  TW_TRY_VOID(folder.publish());
  return platform::failpoint("kits.after_kit_published");
}

}  // namespace torchwatch::kits
