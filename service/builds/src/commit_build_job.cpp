#include "commit_build_job.hpp"

#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/platform/random.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 2;
/// How often a build is lost with its machine before that is an error.
constexpr int kLossesMax = 3;
constexpr std::uintmax_t kFreeBytesMin = 64U << 20U;  // with less, the disk is blamed

/// Returns a name for one try's folder. A recipe may live on where it is no longer seen, such as on
/// a node that was lost: what it still writes must not lie in the folder of the next try.
std::string own_mark() {
  constexpr std::size_t kBytes = 4;
  return platform::SystemRandom().token(kBytes);
}

}  // namespace

Status check_disk(const fs::path& folder) {
  std::error_code error;
  const auto space = fs::space(folder, error);
  if (error || space.available >= kFreeBytesMin) return {};
  return fail(ErrorCode::unavailable, "the disk of " + folder.string() +
                                          " is full: free some space or lower [build] cache_limit");
}

Result<CommitBuild> CommitBuildJob::answer(const fs::path& base, const std::stop_token& stop) {
  TW_TRY(auto elsewhere, from_artifacts(stop));
  auto built = elsewhere ? Result<CommitBuild>(*std::move(elsewhere)) : try_twice(base, stop);
  // The output of a call that ended in an error is kept too.
  if (!log_.empty()) TW_TRY_VOID(cache_.keep_log(key_, log_));
  return built;
}

Result<std::optional<Tree>> CommitBuildJob::from_artifacts(const std::stop_token& stop) {
  if (!elsewhere_) return std::nullopt;
  TW_TRY(auto prefix, platform::PartialFolder::create(cache_.tree_folder(*elsewhere_)));
  const auto made = settings_.artifacts.bring(key_.commit, prefix.path(), stop);
  if (!made && made.error().code == ErrorCode::cancelled) return fail(made.error());
  if (!made) {
    log_ += "not made elsewhere: " + made.error().text() + "\n";
    return std::nullopt;
  }
  TW_TRY(auto end, publish(prefix, *elsewhere_));
  if (auto* tree = std::get_if<Tree>(&end)) return std::move(*tree);
  log_ += "made elsewhere, but it cannot be used: " + std::get<Fault>(end).reason + "\n";
  return std::nullopt;
}

Result<CommitBuild> CommitBuildJob::try_twice(const fs::path& base, const std::stop_token& stop) {
  std::string reason;
  for (int i = 0; i < kTries; ++i) {
    TW_TRY(auto end, try_once(base, stop));
    if (auto* tree = std::get_if<Tree>(&end)) return CommitBuild(std::move(*tree));
    if (const auto* no = std::get_if<Unbuildable>(&end)) return keep(*no);
    reason = std::get<Fault>(end).reason;
  }
  return keep(Unbuildable{.reason = "faulted twice: " + reason, .fault = true});
}

Result<CommitBuild> CommitBuildJob::keep(const Unbuildable& unbuildable) {
  TW_TRY_VOID(cache_.keep_unbuildable(key_, unbuildable));
  return CommitBuild(unbuildable);
}

Result<CommitBuildJob::TryEnd> CommitBuildJob::try_once(const fs::path& base,
                                                        const std::stop_token& stop) {
  if (settings_.remote.make) return try_elsewhere(stop);
  std::string reason;
  for (int losses = 0; losses < kLossesMax; ++losses) {
    TW_TRY(auto end, run_once(base, losses, stop));
    const auto* lost = std::get_if<LostWithMachine>(&end);
    if (lost == nullptr) return std::get<TryEnd>(std::move(end));
    reason = lost->reason;
    log_ += "lost: " + reason + "\n";
  }
  // Another machine may do it later; of the commit that says nothing.
  return fail(ErrorCode::unavailable, "the build of commit " + key_.commit + " was lost " +
                                          std::to_string(kLossesMax) + " times: " + reason);
}

Result<CommitBuildJob::RunEnd> CommitBuildJob::run_once(const fs::path& base, int losses,
                                                        const std::stop_token& stop) {
  // What a lost machine still does must not meet what the next one does.
  const auto name = source_name() + (losses == 0 ? "" : "-" + own_mark());
  TW_TRY(const auto source, platform::PartialFolder::create(settings_.folder / name));
  if (auto status = checkout_(key_.commit, source.path()); !status) {
    return fail(status.error().within("checkout of " + key_.commit));
  }
  TW_TRY(auto prefix, platform::PartialFolder::create(cache_.tree_folder(key_), own_mark()));
  TW_TRY(const auto run,
         run_recipe(call_for(source.path(), prefix.path(), base), processes_, stop));
  log_ += run.output;
  if (const auto* lost = std::get_if<LostWithMachine>(&run.end)) return RunEnd(*lost);
  TW_TRY(auto end, end_of(run, prefix));
  // A full disk says nothing of the commit. Looked at before what the recipe wrote is removed.
  if (!std::holds_alternative<Tree>(end)) TW_TRY_VOID(check_disk(settings_.folder));
  return RunEnd(std::move(end));
}

Result<CommitBuildJob::TryEnd> CommitBuildJob::try_elsewhere(const std::stop_token& stop) {
  TW_TRY(auto prefix, platform::PartialFolder::create(cache_.tree_folder(key_), own_mark()));
  const auto made = settings_.remote.make(key_.commit, prefix.path(), stop);
  if (made) return publish(prefix, key_);
  const auto text = made.error().text();
  log_ += text + "\n";
  switch (made.error().code) {
    case ErrorCode::invalid:
      return TryEnd(Unbuildable{.reason = last_line(text)});
    case ErrorCode::not_found:
    case ErrorCode::corrupt:
    case ErrorCode::timed_out:
      return TryEnd(Fault{last_line(text)});
    default:
      return fail(made.error());
  }
}

Result<CommitBuildJob::TryEnd> CommitBuildJob::end_of(const RecipeRun& run,
                                                      platform::PartialFolder& prefix) {
  if (std::holds_alternative<CannotBeBuilt>(run.end)) {
    const std::string line = last_line(run.output);
    return TryEnd(
        Unbuildable{.reason = "recipe exited 125" + (line.empty() ? "" : " (\"" + line + "\")")});
  }
  if (const auto* fault = std::get_if<Fault>(&run.end)) return TryEnd(*fault);
  std::error_code ignored;
  fs::remove(prefix.path() / kOrigin, ignored);  // of a tree that the recipe began with
  return publish(prefix, key_);
}

Result<CommitBuildJob::TryEnd> CommitBuildJob::publish(platform::PartialFolder& prefix,
                                                       const BuildCache::Key& key) {
  if (auto made = inspect(prefix.path()); !made) {
    if (made.error().code == ErrorCode::unavailable) return fail(made.error());
    return TryEnd(Fault{"exit status 0, but " + made.error().text()});
  }
  TW_TRY_VOID(cache_.mark_used(prefix.path()));
  TW_TRY_VOID(prefix.publish());
  TW_TRY_VOID(platform::failpoint("builds.after_build_published"));
  auto tree = cache_.take(key);
  if (tree) return TryEnd(std::move(*tree));
  TW_TRY_VOID(cache_.remove(key));
  return TryEnd(Fault{"exit status 0, but after moving the tree " + tree.error().text()});
}

/// Returns one of a few fixed names, so that a compiler cache recognises files by their path.
std::string CommitBuildJob::source_name() const {
  return place_.builder == 0 ? "source" : "source-" + std::to_string(place_.builder);
}

RecipeCall CommitBuildJob::call_for(const fs::path& source, const fs::path& prefix,
                                    const fs::path& base) const {
  return {.recipe = settings_.recipe,
          .source = source,
          .commit = key_.commit,
          .prefix = prefix,
          .base = base,
          .place = place_,
          .time_limit = settings_.time_limit,
          .output_limit_bytes = settings_.output_limit_bytes,
          .sandbox = settings_.sandbox,
          .profile = settings_.profile,
          .environment = settings_.environment,
          .compiler_cache = settings_.compiler_cache};
}

}  // namespace torchwatch::builds
