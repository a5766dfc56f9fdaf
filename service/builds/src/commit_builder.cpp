#include "torchwatch/builds/commit_builder.hpp"

#include <algorithm>
#include <thread>

#include "build_cache.hpp"
#include "recipe.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/builds/sha256.hpp"
#include "torchwatch/doors/failpoint.hpp"
#include "torchwatch/doors/publish.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 2;
constexpr std::uintmax_t kFreeBytesMin = 64U << 20U;  // below it a fault is the disk's

/// A commit's name becomes part of paths.
Status check_commit(const std::string& commit) {
  const bool is_sha = commit.size() >= 40 && commit.size() <= 64 &&
                      commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (is_sha) return {};
  return fail(ErrorCode::invalid,
              "\"" + commit + "\" is not the full name of a commit (40 hex digits)");
}

Result<BuildCache::Key> key_of(const std::string& commit, const fs::path& recipe) {
  TW_TRY_VOID(check_commit(commit));
  auto hash = sha256_of_file(recipe);
  if (!hash) {
    return fail(ErrorCode::unavailable,
                "build recipe: " + hash.error().message + "; see [build] recipe");
  }
  return BuildCache::Key{.commit = commit, .recipe_hash = std::move(*hash)};
}

Status check_disk(const fs::path& folder) {
  std::error_code error;
  const auto space = fs::space(folder, error);
  if (error || space.available >= kFreeBytesMin) return {};
  return fail(ErrorCode::unavailable, "the disk of " + folder.string() +
                                          " is full: free some space or lower [build] cache_limit");
}

int jobs_of(int setting) {
  return setting > 0 ? setting
                     : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// The work on one commit: calls of the recipe until there is an answer.
class Making {
 public:
  Making(const CommitBuilder::Settings& settings, doors::ProcessRunner& processes,
         const CommitBuilder::Checkout& checkout, BuildCache& cache, BuildCache::Key key)
      : settings_(settings),
        processes_(processes),
        checkout_(checkout),
        cache_(cache),
        key_(std::move(key)) {}

  Result<CommitBuild> answer(const fs::path& base, const std::stop_token& stop) {
    auto built = try_twice(base, stop);
    // Also what a call that ended in an error printed is worth reading.
    if (!log_.empty()) TW_TRY_VOID(cache_.keep_log(key_, log_));
    return built;
  }

 private:
  using TryEnd = std::variant<Tree, Unbuildable, Fault>;

  Result<CommitBuild> try_twice(const fs::path& base, const std::stop_token& stop) {
    std::string reason;
    for (int i = 0; i < kTries; ++i) {
      TW_TRY(auto end, try_once(base, stop));
      if (auto* tree = std::get_if<Tree>(&end)) return CommitBuild(std::move(*tree));
      if (const auto* no = std::get_if<Unbuildable>(&end)) return keep(*no);
      TW_TRY_VOID(check_disk(settings_.folder));
      reason = std::get<Fault>(end).reason;
    }
    return keep(Unbuildable{.reason = "faulted twice: " + reason, .fault = true});
  }

  Result<CommitBuild> keep(const Unbuildable& unbuildable) {
    TW_TRY_VOID(cache_.keep_unbuildable(key_, unbuildable));
    return CommitBuild(unbuildable);
  }

  Result<TryEnd> try_once(const fs::path& base, const std::stop_token& stop) {
    // Always the same name, so that a compiler cache recognises files by their path.
    TW_TRY(const auto source, doors::PartialFolder::create(settings_.folder / "source"));
    if (auto status = checkout_(key_.commit, source.path()); !status) {
      return fail(status.error().within("checkout of " + key_.commit));
    }
    TW_TRY(auto prefix, doors::PartialFolder::create(cache_.tree_folder(key_)));
    TW_TRY(const auto run,
           run_recipe(call_for(source.path(), prefix.path(), base), processes_, stop));
    log_ += run.output;
    if (std::holds_alternative<CannotBeBuilt>(run.end)) {
      const std::string line = last_line(run.output);
      return TryEnd(
          Unbuildable{.reason = "recipe exited 125" + (line.empty() ? "" : " (\"" + line + "\")")});
    }
    if (const auto* fault = std::get_if<Fault>(&run.end)) return TryEnd(*fault);
    return publish(prefix);
  }

  /// Looks at the tree before it becomes visible, and again where it then lies: links into its own
  /// folder may have been left behind by the change of name.
  Result<TryEnd> publish(doors::PartialFolder& prefix) {
    if (auto made = inspect(prefix.path()); !made) {
      if (made.error().code == ErrorCode::unavailable) return fail(made.error());
      return TryEnd(Fault{"exit status 0, but " + made.error().message});
    }
    TW_TRY_VOID(cache_.mark_used(prefix.path()));
    TW_TRY_VOID(prefix.publish());
    TW_TRY_VOID(doors::failpoint("builds.after_build_published"));
    auto tree = cache_.take(key_);
    if (tree) return TryEnd(std::move(*tree));
    TW_TRY_VOID(cache_.remove(key_));
    return TryEnd(Fault{"exit status 0, but after moving the tree " + tree.error().message});
  }

  RecipeCall call_for(const fs::path& source, const fs::path& prefix, const fs::path& base) const {
    return {.recipe = settings_.recipe,
            .source = source,
            .commit = key_.commit,
            .prefix = prefix,
            .base = base,
            .jobs = jobs_of(settings_.jobs),
            .time_limit = settings_.time_limit,
            .output_limit_bytes = settings_.output_limit_bytes};
  }

  const CommitBuilder::Settings& settings_;
  doors::ProcessRunner& processes_;
  const CommitBuilder::Checkout& checkout_;
  BuildCache& cache_;
  BuildCache::Key key_;
  std::string log_;
};

}  // namespace

CommitBuilder::CommitBuilder(Settings settings, doors::ProcessRunner& processes, Checkout checkout)
    : settings_(std::move(settings)), processes_(processes), checkout_(std::move(checkout)) {
  // A recipe is called from within the checkout.
  settings_.recipe = fs::absolute(settings_.recipe);
  settings_.folder = fs::absolute(settings_.folder);
  cache_ = std::make_unique<BuildCache>(settings_.folder);
}

CommitBuilder::~CommitBuilder() = default;

Result<CommitBuild> CommitBuilder::build(const std::string& commit, const std::optional<Tree>& base,
                                         std::stop_token stop) {
  const std::scoped_lock one_at_a_time(building_);
  TW_TRY(const auto key, key_of(commit, settings_.recipe));
  TW_TRY(auto known, cache_->find(key, settings_.fault_age_max));
  if (known) return std::move(*known);
  TW_TRY(const FolderLock lock, FolderLock::acquire(settings_.folder));
  TW_TRY_VOID(cache_->sweep());
  TW_TRY_VOID(check_disk(settings_.folder));
  TW_TRY_VOID(cache_->remove(key));  // a damaged one
  Making making(settings_, processes_, checkout_, *cache_, key);
  TW_TRY(auto made, making.answer(base ? base->folder : fs::path(), stop));
  TW_TRY_VOID(cache_->evict(settings_.size_limit_bytes));
  return made;
}

Result<std::optional<CommitBuild>> CommitBuilder::cached(const std::string& commit) const {
  TW_TRY(const auto key, key_of(commit, settings_.recipe));
  return cache_->find(key, settings_.fault_age_max);
}

}  // namespace torchwatch::builds
