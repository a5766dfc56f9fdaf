#include "torchwatch/cli/command_line.hpp"

#include <ostream>
#include <string>

#include "commands.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::cli {
namespace {

constexpr const char* kAbout =
    "torchwatch keeps PyTorch fast: it measures each new LibTorch build against the one before,\n"
    "flags what got slower or takes more memory, and names the commit that did it.";

constexpr const char* kFooter =
    "Begin with `torchwatch check` (is this machine fit?) and `torchwatch nightly` (compare the "
    "due\n"
    "nightlies now).\n"
    "Exit status: 0 nothing regressed, 1 regression or culprit found, 2 wrong use, 3 environment\n"
    "error, 4 no conclusion, 130 interrupted.";

int report(std::ostream& err, const Error& error) {
  err << "torchwatch: " << error.message << '\n';
  return static_cast<int>(commands::exit_status_of(error.code));
}

/// What a word that is not known was probably meant to be; empty if nothing is near.
std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const auto meant = did_you_mean(word, known);
  return meant.empty() ? "" : "; " + meant.substr(0, meant.size() - 1);
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

/// The innermost command that was named.
const CLI::App& named_command(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : named_command(*named.front());
}

/// Says in one line what was wrong, and what was probably meant; empty where CLI11's own sentence
/// is as good.
std::string what_is_wrong(const CLI::App& app) {
  const auto& command = named_command(app);
  const auto left = app.remaining(true);
  if (left.empty()) return "";
  const auto& word = left.front();
  const auto names = names_of(command.get_subcommands([](const CLI::App*) { return true; }));
  if (word.starts_with("-")) {
    return "there is no option " + word + suggestion(word, options_of(command));
  }
  if (names.empty()) return "\"" + word + "\" was not expected";
  return "there is no command \"" + word + "\"" + suggestion(word, names);
}

int report_wrong_use(const CLI::App& app, bool has_arguments, std::ostream& err,
                     const CLI::ParseError& error) {
  if (!has_arguments) {
    err << app.help();
    return static_cast<int>(ExitStatus::wrong_use);
  }
  auto text = what_is_wrong(app);
  const auto& command = named_command(app);
  if (text.empty()) text = error.what();
  std::string name = "torchwatch";
  if (&command != &app) name += " " + command.get_name();
  err << "torchwatch: " << text << "\n`" << name << " --help` shows what there is\n";
  return static_cast<int>(ExitStatus::wrong_use);
}

}  // namespace

int run(std::span<const char* const> arguments, std::ostream& out, std::ostream& err,
        std::stop_token stop) {
  CLI::App app(kAbout, "torchwatch");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version,-V", "torchwatch " TORCHWATCH_VERSION);
  Invocation invocation{.out = out, .err = err, .stop = stop, .log_level = {}};
  auto* config = app.add_option("--config", invocation.config_file,
                                "Configuration; absent: torchwatch.toml here, or the defaults");
  app.add_flag("--json", invocation.json, "Print JSON for machines instead of a table");
  std::string log_level;
  auto* level = app.add_option("--log-level", log_level,
                               "What to log on standard error: debug, info, warning, error, off; "
                               "default: [log] level for serve, else warning");

  Commands all(app);
  for (const auto add : {add_nightly, add_compare, add_measure, add_bisect, add_serve, add_status,
                         commands::add_comparisons, commands::add_incidents,
                         commands::add_requests, commands::add_outbox, commands::add_builds,
                         add_workloads, add_check, add_batches}) {
    add(all);
  }
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, out, err);
    return report_wrong_use(app, arguments.size() > 1, err, error);
  }
  invocation.config_given = config->count() > 0;
  if (level->count() > 0) {
    const auto parsed = log::parse_level(log_level);
    if (!parsed) return report(err, parsed.error());
    invocation.log_level = *parsed;
  }
  const auto outcome = all.chosen(invocation);
  out.flush();
  return outcome ? static_cast<int>(*outcome) : report(err, outcome.error());
}

}  // namespace torchwatch::cli
