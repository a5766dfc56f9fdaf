#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <variant>

#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::builds {

/// The share of one call among those that are made at once.
struct RecipePlace {
  int builder = 0;  ///< from 0, unique among those at once: a recipe may choose a machine by it
  int jobs = 1;
};

/// One call of a build recipe (docs/operating.md).
struct RecipeCall {
  std::filesystem::path recipe;
  std::filesystem::path source;  ///< checkout of the commit
  std::string commit;
  std::filesystem::path prefix;  ///< new, empty: here the tree goes
  std::filesystem::path base;    ///< the nearest build at hand; may be empty
  RecipePlace place;
  std::chrono::seconds time_limit;
  std::size_t output_limit_bytes;
  sandbox::Sandbox sandbox;
  sandbox::Profile profile;  ///< besides the paths above
  std::vector<std::string> environment;
  CompilerCache compiler_cache = CompilerCache::shared;
};

struct Built {};
struct CannotBeBuilt {};  ///< exit status 125, as `git bisect run` means it
struct Fault {
  std::string reason;
};

/// It did not take place, or not to its end: its machine was lost.
struct LostWithMachine {
  std::string reason;
};

struct RecipeRun {
  std::variant<Built, CannotBeBuilt, Fault, LostWithMachine> end;
  std::string output;
};

/// Errors: cancelled, unavailable (the recipe cannot be started at all).
Result<RecipeRun> run_recipe(const RecipeCall&, process::ProcessRunner&, std::stop_token stop);

/// The last line of a program's output that says something, cut to a sentence's length.
std::string last_line(const std::string& output);

}  // namespace torchwatch::builds
