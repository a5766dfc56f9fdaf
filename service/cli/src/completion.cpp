#include <ostream>
#include <sstream>

#include "command_tree.hpp"
#include "help.hpp"

// Scripts for the three shells, made from the commands and options that the parser knows. Each
// walks the words before the cursor down the tree, and offers what follows there.

namespace torchwatch::cli {
namespace {

/// A command as a shell's `case` names it, and what may follow it.
struct Place {
  std::string path;  ///< " incident show"; empty for torchwatch itself
  std::string words;
};

std::string words_after(const CLI::App& command) {
  std::string words;
  for (const auto* each : subcommands_of(command)) words += each->get_name() + " ";
  for (const auto* app = &command; app != nullptr; app = app->get_parent()) {
    for (const auto* option : app->get_options()) {
      const bool is_repeated = app != &command && option == app->get_help_ptr();
      const bool is_refused =
          command.get_group() == commands::kRefusesJson && option->check_lname("json");
      if (option->get_lnames().empty() || is_repeated || is_refused) continue;
      words += "--" + option->get_lnames().front() + " ";
    }
  }
  words.pop_back();
  return words;
}

void collect(const CLI::App& command, const std::string& path, std::vector<Place>& places) {
  places.push_back({path, words_after(command)});
  for (const auto* each : subcommands_of(command)) {
    collect(*each, path + " " + each->get_name(), places);
  }
}

std::vector<Place> all_places() {
  std::ostringstream unused;
  Invocation invocation{.out = unused, .err = unused, .stop = {}, .log_level = {}};
  const CommandTree tree(invocation);
  std::vector<Place> places;
  collect(tree.app(), "", places);
  return places;
}

std::string case_of_paths(const std::vector<Place>& places) {
  std::string patterns;
  for (const auto& [path, words] : places) {
    if (!path.empty()) patterns += (patterns.empty() ? "\"" : "|\"") + path + "\"";
  }
  return patterns;
}

void print_bash(std::ostream& out) {
  const auto places = all_places();
  out << "# Completion of torchwatch for bash: eval \"$(torchwatch completion bash)\"\n"
         "_torchwatch() {\n"
         "  local at=\"\" word words=\"\"\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$at $word\" in\n      "
      << case_of_paths(places) << ") at=\"$at $word\" ;;\n    esac\n  done\n  case \"$at\" in\n";
  for (const auto& [path, words] : places) {
    out << "    \"" << path << "\") words=\"" << words << "\" ;;\n";
  }
  out << "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
         "}\n"
         "complete -o default -F _torchwatch torchwatch\n";
}

void print_zsh(std::ostream& out) {
  const auto places = all_places();
  out << "#compdef torchwatch\n"
         "# Completion of torchwatch for zsh: eval \"$(torchwatch completion zsh)\"\n"
         "_torchwatch() {\n"
         "  local at=\"\" word\n"
         "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
         "    case \"$at $word\" in\n      ("
      << case_of_paths(places) << ") at=\"$at $word\" ;;\n    esac\n  done\n  case \"$at\" in\n";
  for (const auto& [path, words] : places) {
    out << "    (\"" << path << "\") compadd -- " << words << " ;;\n";
  }
  out << "  esac\n"
         "  _files\n"
         "}\n"
         "compdef _torchwatch torchwatch\n";
}

void print_fish(std::ostream& out) {
  const auto places = all_places();
  out << "# Completion of torchwatch for fish: torchwatch completion fish | source\n"
         "function __torchwatch_words\n"
         "  set -l at \"\"\n"
         "  for word in (commandline -opc)[2..-1]\n"
         "    switch \"$at $word\"\n      case";
  for (const auto& [path, words] : places) {
    if (!path.empty()) out << " \"" << path << "\"";
  }
  out << "\n        set at \"$at $word\"\n    end\n  end\n  switch \"$at\"\n";
  for (const auto& [path, words] : places) {
    out << "    case \"" << path << "\"\n      string split \" \" \"" << words << "\"\n";
  }
  out << "  end\n"
         "end\n"
         "complete -c torchwatch -a \"(__torchwatch_words)\"\n";
}

Action printer(void (*print)(std::ostream&)) {
  return [print](const Invocation& invocation) -> Outcome {
    TW_TRY_VOID(require_text(invocation, "completion"));
    print(invocation.out);
    return ExitStatus::done;
  };
}

}  // namespace

void add_completion(Commands& all) {
  auto& completion =
      all.add("completion", "Print a shell's script that completes commands", nullptr);
  completion.require_subcommand(1);
  completion.group(commands::kRefusesJson);
  completion.footer("eval \"$(torchwatch completion bash)\"");
  all.add(completion, "bash", "For bash", printer(print_bash))
      .footer("eval \"$(torchwatch completion bash)\"");
  all.add(completion, "zsh", "For zsh", printer(print_zsh))
      .footer("eval \"$(torchwatch completion zsh)\"");
  all.add(completion, "fish", "For fish", printer(print_fish))
      .footer("torchwatch completion fish | source");
}

}  // namespace torchwatch::cli
