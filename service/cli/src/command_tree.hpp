#pragma once

#include <string>

#include "commands.hpp"

namespace torchwatch::cli {

/// Every command with its options, as CLI11 parses them. It writes into the invocation, which must
/// outlive it.
class CommandTree {
 public:
  explicit CommandTree(Invocation&);

  CLI::App& app() { return app_; }
  const CLI::App& app() const { return app_; }
  /// Takes over the options of all commands, once the arguments are parsed. Errors: invalid.
  Status finish();
  /// Runs the command that was parsed.
  Outcome run() const { return commands_.chosen(invocation_); }

 private:
  void add_global_options();

  Invocation& invocation_;
  CLI::App app_;
  Commands commands_;
  std::string log_level_;
  std::string color_ = "auto";
  std::string progress_ = "auto";
};

/// Returns the visible subcommands of a command, in the order in which they were added.
std::vector<const CLI::App*> subcommands_of(const CLI::App&);
/// Returns "torchwatch incident show".
std::string full_name(const CLI::App&);
/// Says in one line what of the arguments was wrong, and what was probably meant.
Error what_is_wrong(const CLI::App& app, const CLI::ParseError&);
/// Says that a command has no command of that name: "there is no command \"shwo\"; did you mean
/// show?".
Error unknown_command(const CLI::App& command, const std::string& word);
/// Returns the innermost command that was named.
const CLI::App& named_command(const CLI::App& app);

}  // namespace torchwatch::cli
