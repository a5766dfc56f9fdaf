#include "command_tree.hpp"

#include <algorithm>
#include <array>

#include "help.hpp"
#include "torchwatch/machines/command.hpp"
#include "torchwatch/measuring/command.hpp"
#include "torchwatch/mutes/command.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "torchwatch/registration/command.hpp"
#include "torchwatch/studies/command.hpp"

namespace torchwatch::cli {
namespace {

constexpr const char* kAbout =
    "torchwatch keeps PyTorch fast: it measures each new LibTorch build against the one before, "
    "flags what got slower or takes more memory, and names the commit that did it.";

constexpr const char* kFirstSteps =
    "torchwatch check      # can this machine and this configuration measure well?\n"
    "torchwatch nightly    # compare every nightly that is due, now";

/// Commands and options that had another name.
struct Former {
  std::string_view name;
  const char* now;
};
constexpr std::array kFormer{Former{"batches", "workload batches"}, Former{"builds", "build list"},
                             Former{"incidents", "incident list"},
                             Former{"workloads", "workload list"},
                             Former{"--markdown", "--format markdown"}};

Error wrong(std::string message, std::string remedy = {}) {
  return {ErrorCode::invalid, std::move(message), std::move(remedy)};
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const auto meant = did_you_mean(word, known);
  return meant.empty() ? "" : meant.substr(0, meant.size() - 1);
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const auto* command : commands) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* app = &command; app != nullptr; app = app->get_parent()) {
    for (const auto* option : app->get_options()) {
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

bool is_number(const std::string& word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

/// "BASELINE and CANDIDATE are missing: torchwatch compare [OPTION...] BASELINE CANDIDATE".
std::string missing_arguments(const CLI::App& command) {
  std::vector<std::string> missing;
  for (const auto* option : command.get_options()) {
    if (option->get_required() && option->count() == 0) missing.push_back(option->get_name());
  }
  if (missing.empty()) return "";
  return commands::joined_by(missing, " and ") + (missing.size() == 1 ? " is" : " are") +
         " missing: " + usage_of(command);
}

/// "torchwatch incident needs a command: list, show, ...".
std::string missing_command(const CLI::App& command) {
  const auto names = names_of(subcommands_of(command));
  const bool is_root = command.get_parent() == nullptr;
  return full_name(command) + " needs a command" +
         (is_root ? "" : ": " + commands::joined_by(names, " or "));
}

/// CLI11 names the option before a colon, and says in words of its own what is wrong with it.
std::string mismatch(const std::string& said) {
  const auto option = said.substr(0, said.find(':'));
  const bool is_missing = said.find("missing") != std::string::npos;
  return option + (is_missing ? " needs a value" : " may be given only once");
}

Error unexpected(const CLI::App& command, const std::string& word) {
  if (word.starts_with("-")) {
    const auto* former = std::ranges::find(kFormer, word, &Former::name);
    if (former != kFormer.end()) return wrong(word + " is " + former->now + " now");
    return wrong("there is no option " + word, suggestion(word, options_of(command)));
  }
  if (subcommands_of(command).empty()) return wrong("\"" + word + "\" was not expected");
  return unknown_command(command, word);
}

/// Has each option take one value: names of builds may follow one that may be given again.
void take_one_value(CLI::App& command) {
  for (auto* option : command.get_options()) {
    if (!option->get_positional()) option->allow_extra_args(false);
  }
  for (auto* below : command.get_subcommands([](CLI::App*) { return true; })) {
    take_one_value(*below);
  }
}

}  // namespace

CommandTree::CommandTree(Invocation& invocation)
    : invocation_(invocation), app_(kAbout, "torchwatch"), commands_(app_) {
  app_.formatter_fn(
      [](const CLI::App* app, const std::string&, CLI::AppFormatMode) { return help_of(*app); });
  app_.footer(kFirstSteps);
  app_.require_subcommand(1);
  app_.fallthrough();
  app_.set_version_flag("--version,-V", "torchwatch " TORCHWATCH_VERSION, "Print the version");
  app_.set_help_flag("--help,-h", "Print this help");
  add_global_options();
  for (const auto add : {add_nightly,
                         add_compare,
                         studies::add_study,
                         measuring::add_measure,
                         add_bisect,
                         add_serve,
                         add_status,
                         commands::add_comparisons,
                         commands::add_incidents,
                         mutes::add_mutes,
                         commands::add_bisections,
                         commands::add_series,
                         machines::add_machines,
                         commands::add_requests,
                         commands::add_outbox,
                         commands::add_tokens,
                         commands::add_database,
                         commands::add_builds,
                         registration::add_github,
                         measuring::add_workloads,
                         measuring::add_check,
                         add_config,
                         add_init,
                         add_completion,
                         add_manual,
                         add_help}) {
    add(commands_);
  }
  take_one_value(app_);
}

void CommandTree::add_global_options() {
  app_.add_option("--config", invocation_.config_file,
                  "The configuration; default: torchwatch.toml here, or the defaults")
      ->type_name("FILE");
  app_.add_flag("--json", invocation_.json,
                "Print one JSON document instead of a table, also for errors");
  app_.add_option("--log-level", log_level_,
                  "What to log on standard error: debug, info, warning, error, off; default: "
                  "[log] level for serve, else warning")
      ->type_name("LEVEL");
  app_.add_option("--color", color_,
                  "Whether the result has colours: auto (on a terminal, as NO_COLOR, FORCE_COLOR "
                  "and TERM say), always, never; default: auto")
      ->check(commands::one_of({"auto", "always", "never"}))
      ->type_name("WHEN");
  app_.add_option("--progress", progress_,
                  "How progress is shown on standard error: auto (a bar on a terminal, lines "
                  "elsewhere), bar, plain (lines), none; default: auto")
      ->type_name("STYLE");
}

Status CommandTree::finish() {
  invocation_.config_given = app_.count("--config") > 0;
  if (color_ != "auto") invocation_.screen.has_colour = color_ == "always";
  TW_TRY(invocation_.progress.style, terminal::parse_progress_style(progress_));
  TW_TRY_VOID(commands_.take_format(invocation_, commands::has_events(named_command(app_))));
  if (app_.count("--log-level") == 0) return {};
  TW_TRY(invocation_.log_level, log::parse_level(log_level_));
  return {};
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

std::string full_name(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

const CLI::App& named_command(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : named_command(*named.front());
}

Error what_is_wrong(const CLI::App& app, const CLI::ParseError& error) {
  const auto& command = named_command(app);
  const auto left = app.remaining(true);
  if (!left.empty()) return unexpected(command, left.front());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return wrong(mismatch(error.what()));
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) {
    return wrong(error.what());
  }
  if (!subcommands_of(command).empty()) return wrong(missing_command(command));
  const auto missing = missing_arguments(command);
  return wrong(missing.empty() ? error.what() : missing);
}

Error unknown_command(const CLI::App& command, const std::string& word) {
  const auto names = names_of(subcommands_of(command));
  const auto* former = std::ranges::find(kFormer, word, &Former::name);
  if (command.get_parent() == nullptr && former != kFormer.end()) {
    return wrong("`torchwatch " + word + "` is `torchwatch " + former->now + "` now");
  }
  const std::string unknown = "there is no command \"" + word + "\"";
  if (is_number(word) && std::ranges::find(names, "show") != names.end()) {
    return wrong(unknown, "did you mean `" + full_name(command) + " show " + word + "`?");
  }
  const auto options = options_of(command);
  if (std::ranges::find(options, "--" + word) != options.end()) {
    return wrong(unknown, "did you mean `" + full_name(command) + " --" + word + "`?");
  }
  return wrong(unknown, suggestion(word, names));
}

}  // namespace torchwatch::cli
