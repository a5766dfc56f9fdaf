#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/commands/exit_status.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/signals/orders.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/terminal/screen.hpp"
#include "torchwatch/terminal/terminal_progress.hpp"

namespace torchwatch::commands {

/// What every command gets: where to write, the options of all commands, when to stop.
struct Invocation {
  std::ostream& out;
  std::ostream& err;
  std::stop_token stop;
  std::filesystem::path config_file = "torchwatch.toml";
  bool config_given = false;
  bool json = false;
  bool markdown = false;                     ///< --format markdown
  std::optional<log::Level> log_level = {};  ///< --log-level
  terminal::Screen screen = {};              ///< what `out` is printed on
  terminal::ProgressSettings progress = {};  ///< how progress is shown on `err`
  signals::Orders* orders = nullptr;         ///< what signals ask; null where there are none
  std::ostream* events = nullptr;            ///< where --events prints; null without it

  /// Errors: those of config::load; a fault of the file is followed by how to test it.
  Result<config::Config> load_config() const;
  /// For a command that measures: says on `err` if the defaults are used.
  Result<config::Config> load_config_to_measure() const;
};

/// Prints the document that a program waits for. JSON is UTF-8, and a name, a reason or a version
/// may be any bytes: those that are no UTF-8 are replaced, so that printing never fails.
void print_json(const Invocation&, const nlohmann::json& document);

using Outcome = Result<ExitStatus>;
using Action = std::function<Outcome(const Invocation&)>;

/// Collects the subcommands and the action of each.
class Commands {
 public:
  explicit Commands(CLI::App& app) : app_(app) {}
  CLI::App& add(const std::string& name, const std::string& what, Action action);
  /// A subcommand of `parent`: "incident show".
  CLI::App& add(CLI::App& parent, const std::string& name, const std::string& what, Action action);
  CLI::App& app() { return app_; }
  /// Adds --format to a command whose result can be had as Markdown.
  void add_format(CLI::App& command);
  /// Does what --format and --json say, once the arguments are parsed. Errors: invalid, where they
  /// contradict each other or --events.
  Status take_format(Invocation&, bool has_events) const;
  /// The action of the subcommand that was used.
  Action chosen;

 private:
  CLI::App& app_;
  std::string format_;  ///< empty: not given
};

/// The group (CLI::App::group) of commands that refuse --json: their help does not offer it. What
/// is added to such a command later is in its group.
inline constexpr const char* kRefusesJson = "Commands that refuse --json";

/// Accepts a whole number from `least` to `most`; says otherwise `"many" is not a number from 1 to
/// 100`.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = INT64_MAX);

/// Adds --events to a command that carries out work.
void add_events(CLI::App& command);
/// Whether the command that was parsed takes --events, and it was given.
bool has_events(const CLI::App& command);

/// Accepts one of the words; says otherwise `"verdict" is not verdicts or samples`.
CLI::Validator one_of(std::vector<std::string> words);

/// Returns the words as a person lists them: "verdicts or samples".
std::string joined_by(const std::vector<std::string>& words, const std::string& last);

/// A noun with its verbs: "incident list", "incident show".
class Noun {
 public:
  /// `example`: the verb in the noun's example.
  Noun(Commands&, const std::string& name, const std::string& what,
       const std::string& example = "list");
  /// Adds a verb. Its example is the verb alone unless its footer is set.
  CLI::App& add(const std::string& verb, const std::string& what, Action action);
  /// Adds a verb on the one row that `ID` names.
  CLI::App& add_with_id(const std::string& verb, const std::string& what,
                        std::function<Outcome(const Invocation&, storage::Id)> action);

 private:
  Commands& all_;
  CLI::App& noun_;
};

// The commands over stored rows, one file each. Each adds its subcommands.
void add_bisections(Commands&);
void add_builds(Commands&);
void add_comparisons(Commands&);
void add_database(Commands&);
void add_incidents(Commands&);
void add_outbox(Commands&);
void add_requests(Commands&);
void add_series(Commands&);
void add_tokens(Commands&);

}  // namespace torchwatch::commands
