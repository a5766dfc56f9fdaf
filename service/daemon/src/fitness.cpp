#include "torchwatch/daemon/fitness.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "torchwatch/bisect/commit_history.hpp"
#include "torchwatch/daemon/machine_fitness.hpp"

namespace torchwatch::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFreeBytesMin = std::uintmax_t{10} << 30U;

FitnessFinding good(std::string what, std::string found) {
  return {Fitness::good, std::move(what), std::move(found), ""};
}

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

FitnessFinding check_program(const std::string& program, const std::string& why) {
  if (is_on_path(program)) return good(program, "found");
  return {Fitness::fails, program, "not on PATH", "install it: " + why};
}

FitnessFinding check_space(const fs::path& folder) {
  auto existing = folder;
  while (!existing.empty() && !fs::exists(existing)) existing = existing.parent_path();
  std::error_code error;
  const auto space = fs::space(existing, error);
  if (error) {
    return {Fitness::fails, "disk", folder.string() + ": " + error.message(),
            "choose another [storage] path"};
  }
  const auto found = std::to_string(space.available >> 30U) + " GiB free at " + existing.string();
  if (space.available >= kFreeBytesMin) return good("disk", found);
  return {Fitness::fails, "disk", found, "free 10 GiB, or move [storage] path and [build] cache"};
}

FitnessFinding check_channel(const config::Config& config) {
  if (config.channel.kind != config::ChannelKind::directory) {
    return good("[channel]", "releases of the Python package index");
  }
  if (fs::is_directory(config.channel.path)) {
    return good("[channel] path", config.channel.path.string());
  }
  return {Fitness::fails, "[channel] path", "there is no folder " + config.channel.path.string(),
          "set [channel] path to the folder with one LibTorch tree a nightly"};
}

FitnessFinding check_source(const config::Config& config) {
  if (config.source.repository.empty()) {
    return {Fitness::disturbs, "[source] repository", "not set",
            "set it to a clone of PyTorch: without it no culprit is searched"};
  }
  const auto history = bisect::CommitHistory::open(config.source.repository);
  if (!history) {
    return {Fitness::fails, "[source] repository", history.error().message,
            "set [source] repository to a git repository"};
  }
  const auto tip = history->resolve(config.source.branch);
  if (tip) return good("[source] repository", config.source.branch + " is " + tip->substr(0, 12));
  return {Fitness::fails, "[source] branch", tip.error().message,
          "set [source] branch to a branch of " + config.source.repository};
}

FitnessFinding check_recipe(const config::Config& config) {
  if (config.build.recipe.empty()) {
    return {Fitness::disturbs, "[build] recipe", "not set",
            "set it to a build recipe: without it no culprit is searched"};
  }
  if (access(config.build.recipe.c_str(), X_OK) == 0) {
    return good("[build] recipe", config.build.recipe.string());
  }
  return {Fitness::fails, "[build] recipe",
          config.build.recipe.string() + " is not there or not executable",
          "chmod +x it, or correct the path"};
}

FitnessFinding check_github(const config::Config& config) {
  if (config.github.repository.empty()) {
    return {Fitness::disturbs, "[github]", "not set", "issues stay in the outbox until it is"};
  }
  const auto token = config::read_secret(config.github.token_file);
  if (token) return good("[github]", "files into " + config.github.repository);
  return {Fitness::fails, "[github] token_file", token.error().message,
          "put a token with Issues: read and write there, chmod 600"};
}

}  // namespace

std::vector<FitnessFinding> check_fitness(const config::Config& config) {
  auto findings = check_machine("/");
  for (auto& finding : {check_program("g++", "runners are compiled against each build's headers"),
                        check_program("ninja", "runners are compiled with it"),
                        check_program("python3", "releases are fetched with its pip"),
                        check_space(config.storage.path.parent_path()), check_channel(config),
                        check_source(config), check_recipe(config), check_github(config)}) {
    findings.push_back(finding);
  }
  return findings;
}

}  // namespace torchwatch::daemon
