#include "help.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <ostream>
#include <sstream>
#include <string_view>
#include <vector>

#include "command_tree.hpp"

namespace torchwatch::cli {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kNameColumnsMax = 24;

/// What `torchwatch help` explains beside commands.
constexpr std::string_view kExitStatusTopic = "exit-status";

using Entry = HelpEntry;

/// The text in lines of at most kColumns, each but the first behind `indent` blanks.
std::string wrapped(const std::string& text, std::size_t column, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;) {
    const bool is_first = result.empty();
    if (!is_first && column + 1 + word.size() > kColumns) {
      result += "\n" + std::string(indent, ' ') + word;
      column = indent + word.size();
      continue;
    }
    result += (is_first ? "" : " ") + word;
    column += (is_first ? 0 : 1) + word.size();
  }
  return result;
}

std::string section(const std::string& heading, const std::vector<Entry>& entries) {
  if (entries.empty()) return "";
  std::size_t width = 0;
  for (const auto& entry : entries) {
    if (entry.name.size() <= kNameColumnsMax) width = std::max(width, entry.name.size());
  }
  const std::size_t indent = 2 + width + 2;
  std::string text = "\n" + heading + ":\n";
  for (const auto& [name, meaning] : entries) {
    const bool fits = name.size() <= width;
    text += "  " + name +
            (fits ? std::string(width - name.size() + 2, ' ') : "\n" + std::string(indent, ' '));
    text += wrapped(meaning, indent, indent) + "\n";
  }
  return text;
}

/// "METRIC" for --metric; what the option's author called it, else.
std::string value_name(const CLI::Option& option) {
  const auto type = option.get_type_name();
  if (!type.empty() && type.find_first_of(" :[") == std::string::npos && type != "TEXT" &&
      type != "INT") {
    return type;
  }
  auto name = option.get_lnames().front();
  name = name.substr(name.rfind('-') + 1);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true, false);
  std::string name;
  for (const auto& each : option.get_snames()) name += "-" + each + ", ";
  name += "--" + option.get_lnames().front();
  const bool is_flag = option.get_expected_min() == 0;
  if (!is_flag) name += " " + value_name(option);
  return name;
}

std::string meaning_of(const CLI::Option& option) {
  auto text = option.get_description();
  if (option.get_expected_max() > 1 && !option.get_positional()) text += "; may be given again";
  if (!option.get_default_str().empty()) text += "; default: " + option.get_default_str();
  if (option.get_required() && !option.get_positional()) text += "; required";
  return text;
}

std::string commands_of(const CLI::App& app) {
  std::vector<Entry> entries;
  for (const auto* command : subcommands_of(app)) {
    entries.push_back({command->get_name(), command->get_description()});
  }
  return section("Commands", entries);
}

std::string example_of(const CLI::App& app) {
  const auto& footer = app.get_footer();
  if (footer.empty()) return "";
  std::istringstream lines(footer);
  std::string text = "\nExample:\n";
  for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
  return text;
}

std::string exit_status_help() {
  return section("Exit status", exit_statuses()).substr(1) +
         "\nOf several outcomes 3 comes before 1, 1 before 4, and 4 before 0.\n";
}

Outcome run_help(const Invocation& invocation, const CLI::App& app,
                 const std::vector<std::string>& names) {
  TW_TRY_VOID(require_text(invocation, "help"));
  if (names.size() == 1 && names.front() == kExitStatusTopic) {
    invocation.out << exit_status_help();
    return ExitStatus::done;
  }
  const auto* command = &app;
  for (const auto& name : names) {
    const auto known = subcommands_of(*command);
    const auto found = std::ranges::find(known, name, &CLI::App::get_name);
    if (found == known.end()) return fail(unknown_command(*command, name).as(ErrorCode::not_found));
    command = *found;
  }
  invocation.out << help_of(*command);
  return ExitStatus::done;
}

const CLI::App& root_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app : root_of(*app.get_parent());
}

/// The options of all commands that this one takes.
std::vector<Entry> common_entries(const CLI::App& app) {
  auto entries = entries_of(root_of(app), false);
  if (app.get_group() == commands::kRefusesJson) {
    std::erase_if(entries, [](const Entry& entry) { return entry.name == "--json"; });
  }
  return entries;
}

}  // namespace

Status require_text(const Invocation& invocation, const std::string& command) {
  if (!invocation.json) return {};
  return fail(ErrorCode::invalid, command + " prints text only: leave out --json");
}

std::vector<HelpEntry> exit_statuses() {
  return {{"0", "Done, and nothing regressed; or taken on by a daemon: no result yet"},
          {"1", "A regression was found, or a culprit named"},
          {"2", "Wrong use or bad input"},
          {"3", "Environment error: network, disk, a build, another torchwatch"},
          {"4", "No conclusion"},
          {"130", "Interrupted; every run that was stored is kept"},
          {"141", "Nobody read the output to its end; the work is done nevertheless"}};
}

std::vector<HelpEntry> entries_of(const CLI::App& app, bool positional) {
  std::vector<HelpEntry> entries;
  for (const auto* option : app.get_options()) {
    const bool is_repeated = app.get_parent() != nullptr && option == app.get_help_ptr();
    if (option->get_positional() != positional || is_repeated) continue;
    entries.push_back({name_of(*option), meaning_of(*option)});
  }
  return entries;
}

std::string usage_of(const CLI::App& app) {
  auto usage = full_name(app);
  if (!subcommands_of(app).empty()) return usage + " COMMAND ...";
  for (const auto* option : app.get_options()) {
    if (option->get_required() && !option->get_positional()) usage += " " + name_of(*option);
  }
  if (!entries_of(app, false).empty()) usage += " [OPTION...]";
  for (const auto* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const auto name = option->get_name(true, false);
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::string help_of(const CLI::App& app) {
  const bool is_root = app.get_parent() == nullptr;
  auto text = wrapped(app.get_description(), 0, 0) + "\n\nUsage: " + usage_of(app) + "\n" +
              commands_of(app) + section("Arguments", entries_of(app, true));
  if (!is_root) text += section("Options", entries_of(app, false));
  text += section("Options of all commands", common_entries(app)) + example_of(app);
  if (is_root) {
    text += section("Exit status", exit_statuses()) +
            "\n`torchwatch COMMAND --help` has the options of a command.\n";
  }
  return text;
}

void add_help(Commands& all) {
  auto names = std::make_shared<std::vector<std::string>>();
  auto& command = all.add("help", "Print the help of a command, as its --help does",
                          [names, &app = all.app()](const Invocation& invocation) {
                            return run_help(invocation, app, *names);
                          });
  command.add_option(
      "COMMAND", *names,
      "Its name, such as compare or incident show, or exit-status for what each exit "
      "status means; default: all");
  command.group(commands::kRefusesJson);
  command.footer("torchwatch help incident show");
}

}  // namespace torchwatch::cli
