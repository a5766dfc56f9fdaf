#pragma once

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "elf_maker.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/builds/commit_builder.hpp"

namespace torchwatch::test {

/// A folder with a recipe of a few lines of shell and a cache beside it.
class RecipeFolder {
 public:
  /// `lines`: the recipe; it finds a tree to copy in "$TREE" and may append to "$CALLS".
  explicit RecipeFolder(const std::string& lines) {
    write_tree(folder_.path() / "template");
    set_recipe(lines);
  }

  void set_recipe(const std::string& lines) {
    const auto file = folder_.write(
        "recipe", "#!/bin/sh\nset -e\nTREE='" + (folder_.path() / "template").string() +
                      "'\nCALLS='" + calls_file().string() +
                      "'\necho \"$TORCHWATCH_COMMIT\" >> \"$CALLS\"\n" + lines + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  builds::CommitBuilder::Settings settings() const {
    builds::CommitBuilder::Settings settings;
    settings.recipe = folder_.path() / "recipe";
    settings.folder = folder_.path() / "cache";
    settings.time_limit = std::chrono::seconds(60);
    return settings;
  }

  /// A checkout of one file that holds the commit's name.
  static Status check_out(const std::string& commit, const std::filesystem::path& folder) {
    std::ofstream(folder / "file.txt") << commit;
    return {};
  }

  std::size_t calls() const { return lines_of_calls().size(); }
  std::ptrdiff_t calls_for(const std::string& commit) const {
    return std::ranges::count(lines_of_calls(), commit);
  }

  bool has_build(const std::string& commit) const {
    const auto is_its = [&](const std::string& name) {
      return name.starts_with(commit) && !name.ends_with(".partial");
    };
    return std::ranges::any_of(cache_names(), is_its);
  }

  /// What lies in the cache, by name.
  std::vector<std::string> cache_names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "cache")) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  const std::filesystem::path& path() const { return folder_.path(); }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  std::filesystem::path calls_file() const { return folder_.path() / "calls"; }
  std::vector<std::string> lines_of_calls() const {
    std::ifstream file(calls_file());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  TemporaryFolder folder_;
};

/// The n-th commit's name.
inline std::string commit_name(int n) {
  std::string digits = std::to_string(n);
  return std::string(40 - digits.size(), 'c') + digits;
}

/// A recipe that makes a whole tree.
inline constexpr const char* kCopyTree = R"sh(cp -r "$TREE"/. "$TORCHWATCH_PREFIX")sh";

/// Runs the recipes of all tests of this program.
inline process::ProcessRunner& processes() {
  static const auto runner =
      process::make_process_runner("integration-builds-" + std::to_string(getpid()));
  return *runner;
}

/// The tree that a build must have given.
inline builds::Tree tree_of(const Result<builds::CommitBuild>& build) {
  INFO((build ? std::string() : build.error().message));
  REQUIRE(build.has_value());
  if (const auto* no = std::get_if<builds::Unbuildable>(&*build)) UNSCOPED_INFO(no->reason);
  REQUIRE(std::holds_alternative<builds::Tree>(*build));
  return std::get<builds::Tree>(*build);
}

}  // namespace torchwatch::test
