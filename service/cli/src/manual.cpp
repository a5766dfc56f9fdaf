#include <ostream>
#include <sstream>

#include "command_tree.hpp"
#include "help.hpp"

// The manual page, torchwatch(1), made from the commands and options that the parser knows.

namespace torchwatch::cli {
namespace {

/// Text for roff: a backslash, a dash that is typed, a line that would be a request.
std::string roff(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    const bool begins_line = safe.empty() || safe.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
  }
  return safe;
}

void print_entries(std::ostream& out, const std::vector<HelpEntry>& entries) {
  for (const auto& [name, meaning] : entries) {
    out << ".TP\n.B " << roff(name) << '\n' << roff(meaning) << '\n';
  }
}

void print_example(std::ostream& out, const CLI::App& command) {
  if (command.get_footer().empty()) return;
  out << ".PP\nExample:\n.PP\n.RS\n.nf\n" << roff(command.get_footer()) << "\n.fi\n.RE\n";
}

/// A command without subcommands, and its options.
void print_command(std::ostream& out, const CLI::App& command) {
  out << ".SS " << roff(full_name(command)) << '\n'
      << roff(command.get_description()) << ".\n.PP\n.B " << roff(usage_of(command)) << '\n';
  print_entries(out, entries_of(command, true));
  print_entries(out, entries_of(command, false));
  print_example(out, command);
}

void print_commands(std::ostream& out, const CLI::App& command) {
  const auto commands = subcommands_of(command);
  if (commands.empty()) print_command(out, command);
  for (const auto* each : commands) print_commands(out, *each);
}

Outcome run_manual(const Invocation& invocation) {
  TW_TRY_VOID(require_text(invocation, "manual"));
  std::ostringstream unused;
  Invocation parsed{.out = unused, .err = unused, .stop = {}, .log_level = {}};
  const CommandTree tree(parsed);
  auto& out = invocation.out;
  out << ".TH TORCHWATCH 1 \"\" \"torchwatch " TORCHWATCH_VERSION
         "\" \"User Commands\"\n"
         ".SH NAME\ntorchwatch \\- keep PyTorch fast\n"
         ".SH SYNOPSIS\n.B torchwatch\nCOMMAND [OPTION...]\n"
         ".SH DESCRIPTION\n"
      << roff(tree.app().get_description()) << "\n.SH OPTIONS OF ALL COMMANDS\n";
  print_entries(out, entries_of(tree.app(), false));
  out << ".SH COMMANDS\n";
  print_commands(out, tree.app());
  out << ".SH EXIT STATUS\n";
  print_entries(out, exit_statuses());
  out << ".SH FILES\n.TP\n.B torchwatch.toml\nThe configuration; "
         "torchwatch.example.toml has every key with its default.\n"
         ".SH SEE ALSO\nThe documents beside the example: operating.md, service.md, "
         "daily.md, upkeep.md, deciding.md, metrics.md, glossary.md.\n";
  return ExitStatus::done;
}

}  // namespace

void add_manual(Commands& all) {
  auto& command = all.add("manual", "Print the manual page, torchwatch(1)", run_manual);
  command.group(commands::kRefusesJson);
  command.footer("torchwatch manual | man -l -");
}

}  // namespace torchwatch::cli
