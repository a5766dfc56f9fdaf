#include "recipe.hpp"

#include <algorithm>

#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/platform/folder.hpp"

namespace torchwatch::builds {
namespace {

constexpr int kCannotBeBuilt = 125;
constexpr std::size_t kLineBytesMax = 200;

process::ProcessSpec spec_of(const RecipeCall& call) {
  auto environment = tool_environment(call.environment);
  environment["TORCHWATCH_SOURCE"] = call.source.string();
  environment["TORCHWATCH_COMMIT"] = call.commit;
  environment["TORCHWATCH_PREFIX"] = call.prefix.string();
  environment["TORCHWATCH_BASE"] = call.base.string();
  environment["TORCHWATCH_JOBS"] = std::to_string(call.place.jobs);
  environment["TORCHWATCH_BUILDER"] = std::to_string(call.place.builder);
  return {.program = call.recipe,
          .arguments = {},
          .environment = std::move(environment),
          .working_folder = call.source,
          .time_limit = call.time_limit,
          .output_limit_bytes = call.output_limit_bytes,
          .label = "build-" + call.commit,
          .cpus = {},
          .on_started = {}};
}

bool is_in_writable(const std::filesystem::path& path, const sandbox::Profile& profile) {
  return std::ranges::any_of(profile.writable, [&](const std::filesystem::path& folder) {
    return platform::lies_in(path, folder);
  });
}

/// The user's TORCHWATCH_... variables tell the recipe where things lie, so it sees those. What
/// lies in a writable folder is seen already, and would become read-only.
void add_named_paths(const process::ProcessSpec& spec, sandbox::Profile& profile) {
  for (const auto& [name, value] : spec.environment) {
    const bool is_path = name.starts_with("TORCHWATCH_") && value.starts_with('/');
    if (is_path && !is_in_writable(value, profile)) profile.readable.emplace_back(value);
  }
}

/// A base may itself link into others, so links in its folders are followed.
Status confine(process::ProcessSpec& spec, const RecipeCall& call) {
  auto profile = call.profile;
  add_named_paths(spec, profile);
  if (!call.base.empty()) {
    profile.linked.insert(profile.linked.end(), {call.base, call.base / "lib"});
  }
  profile.writable.insert(profile.writable.end(), {call.source, call.prefix});
  return confine_compiler(call.sandbox, spec, std::move(profile), call.compiler_cache);
}

/// `end` of a recipe that neither built nor answered 125.
std::string fault_of(const process::ProcessOutcome& outcome, const RecipeCall& call) {
  if (std::holds_alternative<process::TimedOut>(outcome.end)) {
    return "timed out after " + std::to_string(call.time_limit.count()) + " s";
  }
  if (std::holds_alternative<process::OutputLimit>(outcome.end)) {
    return "printed more than " + std::to_string(call.output_limit_bytes) + " bytes";
  }
  const std::string line = last_line(outcome.output);
  return process::describe(outcome.end) + (line.empty() ? "" : " (\"" + line + "\")");
}

}  // namespace

Result<RecipeRun> run_recipe(const RecipeCall& call, process::ProcessRunner& processes,
                             std::stop_token stop) {
  auto spec = spec_of(call);
  TW_TRY_VOID(confine(spec, call));
  auto outcome = processes.run(spec, std::move(stop));
  const std::string name = "recipe " + call.recipe.string();
  if (std::holds_alternative<process::Cancelled>(outcome.end)) {
    return fail(ErrorCode::cancelled, name + " was stopped");
  }
  if (std::holds_alternative<process::SpawnFailed>(outcome.end) ||
      std::holds_alternative<process::Abandoned>(outcome.end)) {
    return fail(ErrorCode::unavailable, name + " " + process::describe(outcome.end),
                "is it an executable file with a #! line?");
  }
  RecipeRun run{.end = Built{}, .output = {}};
  if (const auto* lost = std::get_if<process::Lost>(&outcome.end)) {
    run.end = LostWithMachine{lost->reason};
    run.output = std::move(outcome.output);
    return run;
  }
  const auto* const exited = std::get_if<process::Exited>(&outcome.end);
  if (exited != nullptr && exited->code == kCannotBeBuilt) {
    run.end = CannotBeBuilt{};
  } else if (!process::succeeded(outcome)) {
    run.end = Fault{fault_of(outcome, call)};
  }
  run.output = std::move(outcome.output);
  return run;
}

std::string last_line(const std::string& output) {
  const auto end = output.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const auto before = output.find_last_of('\n', end);
  const auto begin = before == std::string::npos ? 0 : before + 1;
  std::string line = output.substr(begin, std::min(end + 1 - begin, kLineBytesMax));
  // It goes into JSON and into issues, and a recipe prints what it likes.
  std::ranges::replace_if(line, [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

}  // namespace torchwatch::builds
