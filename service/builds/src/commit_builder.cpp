#include "torchwatch/builds/commit_builder.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <tuple>

#include "build_cache.hpp"
#include "commit_build_job.hpp"
#include "torchwatch/builds/file_hashes.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

/// A commit's name becomes part of paths.
Status check_commit(const std::string& commit) {
  if (is_commit(commit)) return {};
  return fail(ErrorCode::invalid,
              "\"" + commit + "\" is not the full name of a commit (40 hex digits)");
}

/// What decides on a build beside its commit: the recipe's name and content, and the settings that
/// it reads.
Result<std::string> hash_of_recipe(const CommitBuilder::Settings& settings) {
  if (settings.remote.make) return digest::sha256_hex("remote " + settings.remote.identity);
  auto content = sha256_of_file(settings.recipe);
  if (!content) {
    return fail(ErrorCode::unavailable, "build recipe: " + content.error().text(),
                "see [build] recipe");
  }
  digest::Sha256 hash;
  hash.add_field(settings.recipe.filename().string());
  hash.add_field(*content);
  for (const auto& [name, value] : build_settings(settings.environment)) {
    hash.add_field(name);
    hash.add_field(value);
  }
  return hash.hex();
}

/// What decides on a build beside its commit where somebody else has made it.
std::string hash_of(const CommitBuilder::Artifacts& artifacts) {
  digest::Sha256 hash;
  hash.add_field(artifacts.address);
  hash.add_field(artifacts.for_cuda ? "all of CUDA" : "");
  if (artifacts.with_python) hash.add_field("Python");  // else as earlier versions hashed
  return hash.hex();
}

int jobs_of(int setting, std::size_t builders) {
  if (setting > 0) return setting;
  const auto cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  return static_cast<int>(std::max<std::size_t>(1, cores / builders));
}

using Answer = Result<std::optional<CommitBuild>>;

bool is_missing(const Answer& answer) {
  return answer.has_value() && !answer->has_value();
}

Result<std::vector<CommitBuild>> builds_of(std::vector<Answer> answers) {
  std::vector<CommitBuild> builds;
  for (auto& answer : answers) {
    TW_TRY(auto build, std::move(answer));
    builds.push_back(std::move(*build));
  }
  return builds;
}

/// Only the holder of the folder's lock may remove from it.
Status evict_locked(BuildCache& cache, const fs::path& folder, std::int64_t bytes_max,
                    fs::file_time_type used_before) {
  TW_TRY(const FolderLock lock, FolderLock::acquire(folder));
  const auto swept = cache.sweep();
  const auto evicted = cache.evict(bytes_max, used_before);
  return evicted ? swept : evicted;
}

}  // namespace

/// Where builds of a commit may lie.
struct CommitBuilder::Keys {
  BuildCache::Key recipe;
  std::optional<BuildCache::Key> elsewhere;  ///< made by somebody else; none: these do not count
  std::optional<BuildCache::Key> earlier;    ///< likewise, kept by an earlier version
};

CommitBuilder::CommitBuilder(Settings settings, process::ProcessRunner& processes,
                             Checkout checkout)
    : settings_(std::move(settings)), processes_(processes), checkout_(std::move(checkout)) {
  // A recipe is called from within the checkout.
  settings_.recipe = fs::absolute(settings_.recipe);
  settings_.folder = fs::absolute(settings_.folder);
  cache_ = std::make_unique<BuildCache>(settings_.folder);
}

CommitBuilder::~CommitBuilder() = default;

/// Earlier versions kept what others had made under the key of the recipe, whatever libraries it
/// has: builds may link into it, so it stays, and what the recipe makes lies beside it.
Result<CommitBuilder::Keys> CommitBuilder::keys_of(const std::string& commit, Maker maker) const {
  TW_TRY_VOID(check_commit(commit));
  TW_TRY(auto hash, hash_of_recipe(settings_));
  const auto& artifacts = settings_.artifacts;
  Keys keys{.recipe = {commit, std::move(hash)}, .elsewhere = {}, .earlier = {}};
  const bool is_asked = maker == Maker::anybody;
  if (is_asked && artifacts.bring) keys.elsewhere = {commit, hash_of(artifacts)};
  std::error_code ignored;
  if (!fs::exists(cache_->tree_folder(keys.recipe) / kOrigin, ignored)) return keys;
  const bool has_more = artifacts.for_cuda || artifacts.with_python;
  if (is_asked && !has_more) keys.earlier = keys.recipe;
  keys.recipe.recipe_hash = digest::sha256_hex(keys.recipe.recipe_hash);
  return keys;
}

Result<CommitBuild> CommitBuilder::build(const std::string& commit, const std::optional<Tree>& base,
                                         std::stop_token stop, Maker maker) {
  TW_TRY(auto builds, build_at_once({commit}, base, std::move(stop), maker));
  return std::move(builds.front());
}

Result<std::vector<CommitBuild>> CommitBuilder::build_at_once(
    const std::vector<std::string>& commits, const std::optional<Tree>& base, std::stop_token stop,
    Maker maker) {
  const std::scoped_lock one_call_at_a_time(building_);
  std::vector<Answer> answers;
  for (const auto& commit : commits) {
    TW_TRY(auto known, cached(commit, maker));
    answers.emplace_back(std::move(known));
  }
  if (std::ranges::none_of(answers, is_missing)) return builds_of(std::move(answers));

  TW_TRY(const FolderLock lock, FolderLock::acquire(settings_.folder));
  // A folder that cannot be removed fails no build: evict() reports it.
  std::ignore = cache_->sweep();
  TW_TRY_VOID(check_disk(settings_.folder));
  const auto builders = static_cast<std::size_t>(std::ranges::count_if(answers, is_missing));
  {
    std::vector<std::jthread> threads;
    std::vector<std::size_t> without_thread;
    const auto place = [&] {
      return RecipePlace{.builder = static_cast<int>(threads.size()),
                         .jobs = jobs_of(settings_.jobs, builders)};
    };
    for (std::size_t i = 0; i < commits.size(); ++i) {
      if (!is_missing(answers[i])) continue;
      try {
        threads.emplace_back(
            [&, i, own = place()] { answers[i] = make(commits[i], maker, own, base, stop); });
      } catch (const std::system_error&) {
        without_thread.push_back(i);  // made by this thread, one after the other
      }
    }
    for (const auto i : without_thread) answers[i] = make(commits[i], maker, place(), base, stop);
  }
  // Only after all have ended: one that cannot be made does not stop the others.
  TW_TRY(auto builds, builds_of(std::move(answers)));
  std::ignore = cache_->evict(settings_.size_limit_bytes);
  return builds;
}

Answer CommitBuilder::make(const std::string& commit, Maker maker, const RecipePlace& place,
                           const std::optional<Tree>& base, const std::stop_token& stop) {
  TW_TRY(const auto keys, keys_of(commit, maker));
  TW_TRY_VOID(cache_->remove(keys.recipe));  // a damaged one
  if (keys.elsewhere) TW_TRY_VOID(cache_->remove(*keys.elsewhere));
  CommitBuildJob job(settings_, processes_, checkout_, *cache_, keys.recipe, keys.elsewhere, place);
  TW_TRY(auto made, job.answer(base ? base->folder : fs::path(), stop));
  return std::optional<CommitBuild>(std::move(made));
}

Status CommitBuilder::evict(std::int64_t bytes_max, fs::file_time_type used_before) {
  const std::scoped_lock one_call_at_a_time(building_);
  return evict_locked(*cache_, settings_.folder, bytes_max, used_before);
}

Status evict_commits(const fs::path& folder, std::int64_t bytes_max,
                     fs::file_time_type used_before) {
  BuildCache cache(folder);
  return evict_locked(cache, folder, bytes_max, used_before);
}

Result<std::optional<CommitBuild>> CommitBuilder::cached(const std::string& commit,
                                                         Maker maker) const {
  TW_TRY(const auto keys, keys_of(commit, maker));
  for (const auto& others : {keys.elsewhere, keys.earlier}) {
    if (!others) continue;
    TW_TRY(auto found, cache_->find(*others, settings_.fault_age_max));
    if (found) return found;
  }
  return cache_->find(keys.recipe, settings_.fault_age_max);
}

}  // namespace torchwatch::builds
