#include "torchwatch/cli/command_line.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

#include "command_tree.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::cli {
namespace {

/// The code as a word of JSON: "not_found".
std::string word_of(ErrorCode code) {
  std::string word(to_string(code));
  std::ranges::replace(word, ' ', '_');
  return word;
}

void tell(const Invocation& invocation, const Error& error) {
  invocation.err << "torchwatch: " << error.text() << '\n';
}

/// Prints the one JSON document that a program waits for.
void print_json(const Invocation& invocation, const Error& error) {
  if (!invocation.json) return;
  const nlohmann::json parts{{"code", word_of(error.code)},
                             {"message", error.message},
                             {"remedy", report::text_or_null(error.remedy)}};
  commands::print_json(invocation, nlohmann::json{{"schema", 1}, {"error", parts}});
  invocation.out.flush();
}

/// Whether arguments that could not be parsed ask for JSON.
bool asks_for_json(std::span<const char* const> arguments) {
  std::string_view before;
  for (const std::string_view argument : arguments) {
    if (argument == "--json" || argument == "--format=json") return true;
    if (before == "--format" && argument == "json") return true;
    before = argument;
  }
  return false;
}

int report(const Invocation& invocation, const Error& asked) {
  // Whatever was under way says in its own words that it was stopped; what stores no runs says so.
  const auto error = asked.code == ErrorCode::cancelled && asked.remedy.empty()
                         ? Error{asked.code, "interrupted; every run that has ended is kept"}
                         : asked;
  tell(invocation, error);
  print_json(invocation, error);
  return static_cast<int>(commands::exit_status_of(error.code));
}

int report_wrong_use(const CLI::App& app, const Invocation& invocation, bool has_arguments,
                     const CLI::ParseError& error) {
  if (!has_arguments) {
    invocation.err << app.help();
    return static_cast<int>(ExitStatus::wrong_use);
  }
  auto wrong = what_is_wrong(app, error);
  tell(invocation, wrong);
  const auto help = "`" + full_name(named_command(app)) + " --help` shows what there is";
  invocation.err << help << '\n';
  if (wrong.remedy.empty()) wrong.remedy = help;
  print_json(invocation, wrong);
  return static_cast<int>(ExitStatus::wrong_use);
}

int outcome_of(const CommandTree& tree, const Invocation& invocation) {
  const auto outcome = tree.run();
  invocation.out.flush();
  return outcome ? static_cast<int>(*outcome) : report(invocation, outcome.error());
}

/// Has what is written to a stream put elsewhere as long as the object lives.
class Diverted {
 public:
  Diverted(std::ostream& stream, std::ostream& to)
      : stream_(stream), before_(stream.rdbuf(to.rdbuf())) {}
  ~Diverted() { stream_.rdbuf(before_); }
  Diverted(const Diverted&) = delete;
  Diverted& operator=(const Diverted&) = delete;

 private:
  std::ostream& stream_;
  std::streambuf* const before_;
};

/// With --events: the lines go where the result goes, and the command's document is the last one.
int outcome_in_lines(const CommandTree& tree, Invocation& invocation) {
  std::ostream lines(invocation.out.rdbuf());
  std::ostringstream document;
  invocation.events = &lines;
  invocation.json = true;
  int status = 0;
  {
    const Diverted diverted(invocation.out, document);
    status = outcome_of(tree, invocation);
  }
  const auto parsed = nlohmann::json::parse(document.str(), nullptr, false);
  lines << parsed.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  return status;
}

}  // namespace

int run(std::span<const char* const> arguments, std::ostream& out, std::ostream& err,
        std::stop_token stop, const Screens& screens, signals::Orders* orders) {
  Invocation invocation{
      .out = out, .err = err, .stop = stop, .screen = screens.out, .orders = orders};
  invocation.progress.is_terminal = screens.err().is_terminal;
  invocation.progress.has_taskbar = screens.err().has_taskbar;
  invocation.progress.columns = [&screens] { return screens.err().columns; };
  CommandTree tree(invocation);
  try {
    tree.app().parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return tree.app().exit(error, out, err);
    // What stands after the wrong argument was not parsed.
    invocation.json = asks_for_json(arguments);
    return report_wrong_use(tree.app(), invocation, arguments.size() > 1, error);
  }
  const auto finished = tree.finish();
  if (!finished) return report(invocation, finished.error());
  const bool in_lines = commands::has_events(named_command(tree.app()));
  return in_lines ? outcome_in_lines(tree, invocation) : outcome_of(tree, invocation);
}

}  // namespace torchwatch::cli
