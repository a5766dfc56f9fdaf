#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "pip.hpp"
#include "release.hpp"
#include "torchwatch/builds/elf_file.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/builds/library_search.hpp"
#include "torchwatch/channel/channel.hpp"
#include "torchwatch/doors/failpoint.hpp"
#include "torchwatch/doors/publish.hpp"
#include "wheel.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackage = "torch";

/// Of torch's wheel only what a runner kit needs; the rest is read and checked, not written.
bool is_wanted_of_torch(std::string_view name) {
  return name.starts_with("torch/lib/") || name.starts_with("torch/include/") ||
         name == "torch/version.py";
}

/// Where the wheels of a release lie while it is fetched.
fs::path downloads_of(const fs::path& cache, const std::string& version) {
  return cache / (version + ".download");
}

/// One release on its way into the cache. Downloads lie beside it until all is done, so a later
/// call need not fetch them again.
class Fetching {
 public:
  Fetching(const WheelIndexSettings& settings, doors::ProcessRunner& processes, std::string version,
           std::stop_token stop)
      : settings_(settings),
        version_(std::move(version)),
        downloads_(downloads_of(settings.cache, version_)),
        pip_({.python = settings.python,
              .scratch = downloads_ / "pip",
              .time_limit = settings.time_limit},
             processes),
        stop_(std::move(stop)) {
    limits_.bytes_max = settings.unpacked_bytes_max;
  }

  Status run() {
    auto done = fetch();
    std::error_code ignored;
    // What is damaged is fetched anew; what was only interrupted is not.
    const bool is_kept = !done && done.error().code != ErrorCode::corrupt;
    fs::remove_all(is_kept ? downloads_ / "pip" : downloads_, ignored);
    return done;
  }

 private:
  Status fetch() {
    TW_TRY(auto site, doors::PartialFolder::create(settings_.cache / version_));
    TW_TRY_VOID(unpack_torch(site.path()));
    const fs::path tree = site.path() / "torch";
    TW_TRY_VOID(supply_libraries(site.path(), tree / "lib"));
    TW_TRY_VOID(mark(tree));
    TW_TRY_VOID(check(tree));
    TW_TRY_VOID(site.publish());
    return doors::failpoint("channel.after_fetch_published");
  }

  Status unpack_torch(const fs::path& site) {
    // Three signs: exactly this one. Two would also take 2.13.0+cpu for 2.13.0.
    TW_TRY(const fs::path wheel,
           pip_.download(std::string(kPackage) + "===" + version_, downloads_ / kPackage, stop_));
    return unpack_wheel(wheel, site, limits_, is_wanted_of_torch, stop_);
  }

  /// The small CUDA libraries without which libtorch_cpu.so of a CUDA wheel does not load. They go
  /// beside torch/, where its RUNPATH looks for them, and are linked into lib/, so that a copy of
  /// lib/ (as measuring makes it) has them too.
  Status supply_libraries(const fs::path& site, const fs::path& lib) {
    TW_TRY(const auto dynamic, builds::read_elf_dynamic(lib / "libtorch_cpu.so"));
    for (const auto& library : dynamic.needed) {
      const auto requirement = package_of(library);
      if (!requirement || fs::exists(lib / library)) continue;
      TW_TRY(const fs::path wheel, pip_.download(*requirement, downloads_ / library, stop_));
      const auto is_wanted = [&](std::string_view name) { return name.ends_with("/" + library); };
      TW_TRY_VOID(unpack_wheel(wheel, site, limits_, is_wanted, stop_));
      TW_TRY_VOID(link_library(site, lib, library));
    }
    return {};
  }

  static Status link_library(const fs::path& site, const fs::path& lib,
                             const std::string& library) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(site / "nvidia", error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (entry->path().filename() != library) continue;
      fs::create_symlink(entry->path().lexically_relative(lib), lib / library, error);
      return error ? Status(fail(ErrorCode::unavailable, "cannot link " + library + " into " +
                                                             lib.string() + ": " + error.message()))
                   : Status();
    }
    return fail(ErrorCode::corrupt, "the package that should hold " + library + " does not");
  }

  /// A wheel has its version and commit in Python; a tree has them in two files.
  Status mark(const fs::path& tree) {
    TW_TRY(const ReleaseFacts facts, read_version_file(tree / "version.py"));
    const bool is_asked_for =
        facts.version == version_ || facts.version.starts_with(version_ + "+");
    if (!is_asked_for) {
      return fail(ErrorCode::corrupt,
                  "the wheel for torch " + version_ + " says that it is " + facts.version);
    }
    TW_TRY_VOID(doors::publish_file(tree / "build-version", facts.version + "\n"));
    return doors::publish_file(tree / "build-hash", facts.commit + "\n");
  }

  static Status check(const fs::path& tree) {
    auto inspected = builds::inspect(tree);
    if (!inspected) return fail(inspected.error());
    const auto search = builds::LibrarySearch::of_this_machine().with(tree / "lib");
    TW_TRY(const auto needs, search.needs_of(tree / "lib" / "libtorch_cpu.so"));
    if (needs.missing.empty()) return {};
    return fail(ErrorCode::unavailable, "libtorch_cpu.so of this release needs " +
                                            needs.missing.front().name +
                                            ", which is not on this machine: install it");
  }

  const WheelIndexSettings& settings_;
  std::string version_;
  fs::path downloads_;
  Pip pip_;
  std::stop_token stop_;
  ArchiveLimits limits_;
};

class WheelIndexChannel final : public Channel {
 public:
  WheelIndexChannel(WheelIndexSettings settings, doors::ProcessRunner& processes)
      : settings_(std::move(settings)), processes_(processes) {
    settings_.cache = fs::absolute(settings_.cache);
  }

  Result<std::vector<std::string>> list(std::stop_token stop) override {
    // A name of its own, as another process may be listing too; gone at the end of the scope.
    TW_TRY(const auto scratch,
           doors::PartialFolder::create(settings_.cache / ("list-" + std::to_string(getpid()))));
    Pip pip(
        {.python = settings_.python, .scratch = scratch.path(), .time_limit = settings_.time_limit},
        processes_);
    auto versions = pip.versions(kPackage, std::move(stop));
    if (!versions) return fail(versions.error().within("wheel index"));
    std::ranges::reverse(*versions);
    return versions;
  }

  Result<builds::Tree> fetch(const std::string& version, std::stop_token stop) override {
    if (!is_version(version)) {
      return fail(ErrorCode::not_found, "\"" + version + "\" is no version of torch, as 2.13.0 is");
    }
    const std::scoped_lock one_at_a_time(fetching_);
    const fs::path tree = settings_.cache / version / "torch";
    if (auto there = builds::inspect(tree)) {
      // A fetch killed after it had published leaves its wheels.
      std::error_code ignored;
      fs::remove_all(downloads_of(settings_.cache, version), ignored);
      return there;
    }
    TW_TRY(const auto lock, builds::FolderLock::acquire(settings_.cache));
    std::error_code error;
    fs::remove_all(settings_.cache / version, error);  // there, but damaged
    if (auto done = Fetching(settings_, processes_, version, std::move(stop)).run(); !done) {
      return fail(done.error().within("wheel index: torch " + version));
    }
    return builds::inspect(tree);
  }

 private:
  WheelIndexSettings settings_;
  doors::ProcessRunner& processes_;
  std::mutex fetching_;
};

}  // namespace

std::unique_ptr<Channel> make_wheel_index_channel(WheelIndexSettings settings,
                                                  doors::ProcessRunner& processes) {
  return std::make_unique<WheelIndexChannel>(std::move(settings), processes);
}

}  // namespace torchwatch::channel
