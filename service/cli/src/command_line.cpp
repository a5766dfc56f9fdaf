#include "torchwatch/cli/command_line.hpp"

#include <ostream>
#include <string>

#include "commands.hpp"

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
  return static_cast<int>(exit_status_of(error.code));
}

}  // namespace

CLI::App& Commands::add(const std::string& name, const std::string& what, Action action) {
  return add(app_, name, what, std::move(action));
}

CLI::App& Commands::add(CLI::App& parent, const std::string& name, const std::string& what,
                        Action action) {
  auto* subcommand = parent.add_subcommand(name, what);
  if (action) {
    subcommand->callback([this, action = std::move(action)] { chosen = action; });
  }
  return *subcommand;
}

int run(std::span<const char* const> arguments, std::ostream& out, std::ostream& err,
        std::stop_token stop) {
  CLI::App app(kAbout, "torchwatch");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.fallthrough();
  Invocation invocation{.out = out, .err = err, .stop = stop, .log_level = {}};
  auto* config = app.add_option("--config", invocation.config_file,
                                "Configuration; absent: torchwatch.toml here, or the defaults");
  app.add_flag("--json", invocation.json, "Print JSON for machines instead of a table");
  std::string log_level;
  auto* level = app.add_option("--log-level", log_level,
                               "What to log on standard error: debug, info, warning, error, off; "
                               "default: [log] level for serve, else warning");

  Commands commands(app);
  for (const auto add : {add_nightly, add_compare, add_measure, add_bisect, add_serve, add_status,
                         add_incidents, add_builds, add_workloads, add_check, add_batches}) {
    add(commands);
  }
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error, out, err);
    return status == 0 ? 0 : static_cast<int>(ExitStatus::wrong_use);
  }
  invocation.config_given = config->count() > 0;
  if (level->count() > 0) {
    const auto parsed = log::parse_level(log_level);
    if (!parsed) return report(err, parsed.error());
    invocation.log_level = *parsed;
  }
  const auto outcome = commands.chosen(invocation);
  out.flush();
  return outcome ? static_cast<int>(*outcome) : report(err, outcome.error());
}

}  // namespace torchwatch::cli
