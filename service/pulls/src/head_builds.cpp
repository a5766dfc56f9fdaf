#include "torchwatch/pulls/head_builds.hpp"

#include <algorithm>

#include "torchwatch/builds/last_use.hpp"
#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/kits/kit_store.hpp"
#include "torchwatch/platform/folder.hpp"

namespace torchwatch::pulls {
namespace {

namespace fs = std::filesystem;

/// The share of the limit of the whole cache, as a divisor.
constexpr int kShareOfLimit = 4;

builds::CommitBuilder::Settings builder_settings(const config::Config& config,
                                                 const sandbox::Sandbox& sandbox) {
  sandbox::Profile profile;
  // What recipes of trusted commits may write, later builds read.
  profile.readable = config.sandbox.writable;
  return {.recipe = config.build.recipe,
          .folder = folder_of_pulls(config) / "commits",
          .size_limit_bytes = config.build.cache_limit_bytes / kShareOfLimit,
          .time_limit = config.build.timeout,
          .output_limit_bytes = static_cast<std::size_t>(config.build.output_limit_bytes),
          .jobs = config.build.jobs,
          .sandbox = sandbox,
          .profile = std::move(profile),
          .compiler_cache = builds::CompilerCache::read_only};
}

/// The folders there that belong to a commit.
std::vector<fs::path> made_of(const std::string& commit, const fs::path& folder) {
  std::vector<fs::path> made;
  for (const auto& entry : platform::list_folder(folder).entries) {
    std::error_code error;
    const bool is_of_it = entry.path().filename().string().starts_with(commit + "-");
    if (is_of_it && entry.is_directory(error)) made.push_back(entry.path());
  }
  return made;
}

}  // namespace

fs::path folder_of_pulls(const config::Config& config) {
  return config.build.cache / "pulls";
}

/// A head's headers decide what is compiled against them, so its kit is of use to nobody else.
class HeadBuilds::Runners final : public comparison::RunnerSource {
 public:
  Runners(comparison::RunnerSource& trusted, kits::KitStore::Settings settings,
          process::ProcessRunner& processes, fs::path folder)
      : trusted_(trusted),
        settings_(std::move(settings)),
        processes_(processes),
        folder_(std::move(folder)) {}

  Result<kits::Kit> kit_for(const builds::Tree& tree, const std::vector<std::string>& workloads,
                            std::stop_token stop) override {
    using platform::without_links;
    if (!platform::lies_in(without_links(tree.folder), without_links(folder_))) {
      return trusted_.kit_for(tree, workloads, stop);
    }
    auto settings = settings_;
    settings.folder /= tree.folder.filename();
    auto kit = kits::KitStore(settings, processes_).kit_for(tree, workloads, stop);
    if (kit) builds::note_use(settings.folder);
    return kit;
  }
  Result<std::vector<std::string>> workloads() const override { return trusted_.workloads(); }

 private:
  comparison::RunnerSource& trusted_;
  kits::KitStore::Settings settings_;
  process::ProcessRunner& processes_;
  fs::path folder_;
};

HeadBuilds::HeadBuilds(const config::Config& config, comparison::RunnerSource& trusted,
                       process::ProcessRunner& processes, Settings settings)
    : folder_(folder_of_pulls(config)),
      sandbox_(settings.sandbox),
      builder_(builder_settings(config, sandbox_), processes, std::move(settings.checkout)) {
  const bool keeps_apart = settings.runners == nullptr;
  kits::KitStore::Settings kits{
      .sources = std::move(settings.kit_sources),
      .folder = folder_ / "kits",
      .jobs = config.build.jobs,
      .output_limit_bytes = static_cast<std::size_t>(config.build.output_limit_bytes),
      .sandbox = sandbox_,
      .compiler_cache = builds::CompilerCache::read_only};
  runners_ = std::make_unique<Runners>(keeps_apart ? trusted : *settings.runners, std::move(kits),
                                       processes, keeps_apart ? folder_ : fs::path("/nowhere"));
  suite_ = std::make_unique<comparison::SuiteRunners>(*runners_, config);
}

HeadBuilds::~HeadBuilds() = default;

Result<builds::CommitBuild> HeadBuilds::build(const std::string& commit, const builds::Tree& base,
                                              std::stop_token stop) {
  std::error_code error;
  fs::create_directories(folder_ / "commits", error);
  if (error) {
    return fail(ErrorCode::unavailable,
                "cannot make folder " + folder_.string() + ": " + error.message());
  }
  return builder_.build(commit, base, std::move(stop), builds::Maker::recipe);
}

comparison::Services HeadBuilds::services(const comparison::Services& trusted) {
  return {.config = trusted.config,
          .database = trusted.database,
          .executor = trusted.executor,
          .runners = *suite_,
          .channel = trusted.channel,
          .history = trusted.history,
          .commits = nullptr,
          .clock = trusted.clock,
          .random = trusted.random,
          .progress = trusted.progress,
          .releases = trusted.releases,
          .source = trusted.source,
          .interrupts = trusted.interrupts,
          .last_run = trusted.last_run};
}

Status HeadBuilds::remove_older(fs::file_time_type used_before) {
  std::error_code error;
  if (!fs::exists(folder_, error)) return {};
  TW_TRY_VOID(builder_.evict(0, used_before));
  Status all;
  for (const auto& entry : platform::list_folder(folder_ / "kits").entries) {
    std::error_code gone;
    if (!entry.is_directory(gone) || builds::last_use_of(entry.path()) >= used_before) continue;
    fs::remove_all(entry.path(), error);
    if (error && all) {
      all = fail(ErrorCode::unavailable,
                 "cannot remove " + entry.path().string() + ": " + error.message());
    }
  }
  return all;
}

Status HeadBuilds::remove(const std::string& commit) {
  for (const auto* of : {"kits", "commits"}) {
    for (const auto& made : made_of(commit, folder_ / of)) {
      std::error_code error;
      fs::remove_all(made, error);  // half of a tree is taken for none: it would be built again
      if (!error) continue;
      return fail(ErrorCode::unavailable,
                  "cannot remove " + made.string() + ": " + error.message());
    }
  }
  return {};
}

}  // namespace torchwatch::pulls
