// What the parser takes, and what it says of itself. No command is carried out.
#include "command_tree.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "temporary_folder.hpp"
#include "torchwatch/cli/command_line.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

struct Parsed {
  bool ok = false;
  std::string error;
};

/// Parses a whole command line, quotes as a shell has them.
Parsed parse(const std::string& line) {
  std::ostringstream unused;
  cli::Invocation invocation{.out = unused, .err = unused, .stop = {}, .log_level = {}};
  cli::CommandTree tree(invocation);
  try {
    tree.app().parse(line, true);
    return {true, ""};
  } catch (const CLI::ParseError& error) {
    return {error.get_exit_code() == 0, cli::what_is_wrong(tree.app(), error).text()};
  }
}

std::vector<std::string> lines_of(std::istream& stream) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void for_each_command(const CLI::App& app, const std::function<void(const CLI::App&)>& action) {
  action(app);
  for (const auto* command : cli::subcommands_of(app)) for_each_command(*command, action);
}

struct Printed {
  int status = 0;
  std::string out;
  std::string err;
};

Printed run(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "torchwatch");
  std::ostringstream out;
  std::ostringstream err;
  const int status = cli::run(arguments, out, err, {});
  return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("the help of every command fits 80 columns and has the options of all commands") {
  std::ostringstream unused;
  cli::Invocation invocation{.out = unused, .err = unused, .stop = {}, .log_level = {}};
  const cli::CommandTree tree(invocation);
  int commands = 0;
  for_each_command(tree.app(), [&](const CLI::App& app) {
    ++commands;
    INFO(cli::full_name(app));
    const auto help = app.help();
    CHECK_THAT(help, Contains("Usage: " + cli::full_name(app)) && Contains("--config FILE") &&
                         Contains("Example:\n"));
    const bool refuses_json = app.get_group() == commands::kRefusesJson;
    CHECK((help.find("  --json ") == std::string::npos) == refuses_json);
    std::istringstream text(help);
    for (const auto& line : lines_of(text)) {
      INFO(line);
      CHECK(line.size() <= 80);
    }
  });
  CHECK(commands > 25);
}

TEST_CASE("the commands whose help does not offer --json are those that refuse it") {
  std::ostringstream unused;
  cli::Invocation invocation{.out = unused, .err = unused, .stop = {}, .log_level = {}};
  const cli::CommandTree tree(invocation);
  std::vector<std::string> names;
  for_each_command(tree.app(), [&](const CLI::App& app) {
    if (app.get_group() == commands::kRefusesJson) names.push_back(cli::full_name(app));
  });
  CHECK(names == std::vector<std::string>{"torchwatch database export", "torchwatch completion",
                                          "torchwatch completion bash", "torchwatch completion zsh",
                                          "torchwatch completion fish", "torchwatch manual",
                                          "torchwatch help"});
  for (const auto& arguments :
       std::vector<std::vector<const char*>>{{"database", "export", "verdicts", "--json"},
                                             {"completion", "bash", "--json"},
                                             {"completion", "zsh", "--json"},
                                             {"completion", "fish", "--json"},
                                             {"manual", "--json"},
                                             {"help", "--json"}}) {
    CHECK(run(arguments).status == 2);
  }
}

TEST_CASE("the example of every command is one that the parser takes") {
  std::ostringstream unused;
  cli::Invocation invocation{.out = unused, .err = unused, .stop = {}, .log_level = {}};
  const cli::CommandTree tree(invocation);
  for_each_command(tree.app(), [](const CLI::App& app) {
    std::istringstream text(app.get_footer());
    for (const auto& line : lines_of(text)) {
      if (!line.starts_with("torchwatch")) continue;
      INFO(line);
      const auto parsed = parse(line.substr(0, line.find_first_of("#|")));
      CHECK(parsed.error.empty());
    }
  });
}

TEST_CASE("the commands that issues print are ones that the parser takes") {
  int commands = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(TORCHWATCH_SOURCE_DIR "/tests/golden")) {
    std::ifstream file(entry.path());
    bool is_in_block = false;  // a sentence may begin with torchwatch, too
    for (const auto& line : lines_of(file)) {
      if (line.starts_with("```")) is_in_block = !is_in_block;
      const bool is_command = line.starts_with("torchwatch ") && line.find("```") == line.npos;
      if (!is_in_block || !is_command) continue;
      INFO(entry.path() << ": " << line);
      ++commands;
      CHECK(parse(line).error.empty());
    }
  }
  CHECK(commands >= 6);
}

TEST_CASE("an option that may be given again takes one value, and names of builds may follow it") {
  std::ostringstream unused;
  cli::Invocation invocation{.out = unused, .err = unused, .stop = {}, .log_level = {}};
  cli::CommandTree tree(invocation);
  int again = 0;
  for_each_command(tree.app(), [&](const CLI::App& app) {
    for (const auto* option : app.get_options()) {
      if (option->get_positional() || option->get_expected_max() <= 1) continue;
      INFO(cli::full_name(app) + " " + option->get_name());
      CHECK_FALSE(option->get_allow_extra_args());
      ++again;
    }
  });
  CHECK(again > 10);
  tree.app().parse("torchwatch compare --workload=dlrm --workload drq left right", true);
  const auto* compare = tree.app().get_subcommand("compare");
  CHECK(compare->get_option("--workload")->results() == std::vector<std::string>{"dlrm", "drq"});
  CHECK(compare->get_option("BASELINE")->results() == std::vector<std::string>{"left"});
  CHECK(compare->get_option("CANDIDATE")->results() == std::vector<std::string>{"right"});
}

TEST_CASE("a former command is answered with its present name") {
  const auto printed = run({"incidents"});
  CHECK(printed.status == 2);
  CHECK_THAT(printed.err, Contains("`torchwatch incidents` is `torchwatch incident list` now"));
  CHECK_THAT(run({"workloads", "--coverage"}).err, Contains("`torchwatch workload list` now"));
  CHECK_THAT(run({"batches", "--out", "x"}).err, Contains("`torchwatch workload batches` now"));
  CHECK_THAT(run({"builds", "--json"}).err, Contains("`torchwatch build list` now"));
}

TEST_CASE("a number in place of a verb is taken for the row that it may name") {
  CHECK_THAT(run({"incident", "1"}).err, Contains("did you mean `torchwatch incident show 1`?"));
}

TEST_CASE("a word in place of a command is taken for the option that it may name") {
  const auto printed = run({"version"});
  CHECK(printed.status == 2);
  CHECK_THAT(printed.err, Contains("did you mean `torchwatch --version`?"));
}

TEST_CASE("the help of nightly says when the suite may be narrowed") {
  std::istringstream help(run({"nightly", "--help"}).out);
  std::string text;  // on one line
  for (std::string word; help >> word;) text += word + " ";
  CHECK_THAT(text, Contains("default: [suite] workloads; needs --baseline and --candidate;"));
}

TEST_CASE("colours are those of the screen, unless --color says always or never") {
  const auto has_colour = [](const std::string& line, bool screen_has) {
    std::ostringstream unused;
    cli::Invocation invocation{.out = unused, .err = unused, .stop = {}, .log_level = {}};
    invocation.screen.has_colour = screen_has;
    cli::CommandTree tree(invocation);
    tree.app().parse(line, true);
    REQUIRE(tree.finish());
    return invocation.screen.has_colour;
  };
  for (const bool screen_has : {false, true}) {
    CHECK(has_colour("torchwatch status", screen_has) == screen_has);
    CHECK(has_colour("torchwatch status --color auto", screen_has) == screen_has);
    CHECK(has_colour("torchwatch --color always status", screen_has));
    CHECK_FALSE(has_colour("torchwatch status --color never", screen_has));
  }
  CHECK_THAT(run({"status", "--color", "blue"}).err,
             Contains("--color: \"blue\" is not auto, always or never"));
}

TEST_CASE("what is missing or wrong is said in our words") {
  const auto said = [](std::vector<const char*> arguments) {
    const auto printed = run(std::move(arguments));
    CHECK(printed.status == 2);
    return printed.err;
  };
  CHECK_THAT(said({"compare"}),
             Contains("BASELINE and CANDIDATE are missing: name two builds, or a pull request with "
                      "--pull"));
  CHECK_THAT(said({"incident", "accept", "1"}),
             Contains("--reason is missing: torchwatch incident"));
  CHECK_THAT(said({"incident", "show"}), Contains("ID is missing: torchwatch incident show"));
  CHECK_THAT(said({"incident", "show", "one"}),
             Contains("\"one\" is not a number from 1 to 9223372036854775807"));
  CHECK_THAT(said({"comparison", "show", "99999999999999999999"}),
             Contains("is not a number from"));
  CHECK_THAT(said({"compare", "a", "b", "--workload"}), Contains("--workload needs a value"));
  CHECK_THAT(said({"measure", "2.13.0", "--runs", "many"}),
             Contains("--runs: \"many\" is not a number from 1 to 100"));
  CHECK_THAT(said({"measure", "2.13.0", "--runs", "1", "--runs", "2"}),
             Contains("--runs may be given only once"));
  CHECK_THAT(said({"database", "export", "verdict"}),
             Contains("WHAT: \"verdict\" is not verdicts, samples or evidence"));
  CHECK_THAT(said({"incident"}),
             Contains("torchwatch incident needs a command: list, show, acknowledge"));
  CHECK_THAT(said({"--json"}), Contains("torchwatch needs a command"));
  CHECK_THAT(said({"bisect"}), Contains("GOOD and BAD are needed, or --suspect COMMIT"));
  CHECK_THAT(said({"workload", "list", "--build", "2.13.0"}),
             Contains("--build needs --count or --coverage"));
}

TEST_CASE("help of a command is printed by help, as by --help") {
  CHECK(run({"help"}).out == run({"--help"}).out);
  CHECK(run({"help", "incident", "show"}).out == run({"incident", "show", "--help"}).out);
  const auto unknown = run({"help", "comparee"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("there is no command \"comparee\"; did you mean compare?"));
}

TEST_CASE("help has every exit status and what it means, alone and with all commands") {
  const auto table = run({"help", "exit-status"}).out;
  for (const auto* line :
       {"\n  0    Done, and", "\n  1    A regression", "\n  2    Wrong use", "\n  3    Environment",
        "\n  4    No conclusion", "\n  130  Interrupted", "\n  141  Nobody read"}) {
    CHECK_THAT(table, Contains(line));
  }
  CHECK(table.starts_with("Exit status:\n  0 "));
  CHECK_THAT(table, Contains("or taken on by a daemon: no result yet\n"));
  const auto order = table.find("\nOf several outcomes 3 comes before 1");
  REQUIRE(order != std::string::npos);
  CHECK_THAT(run({"help"}).out, Contains("\n" + table.substr(0, order)));
  CHECK(run({"help", "exit-status", "show"}).status == 2);
}

TEST_CASE("a configuration that is not there is answered with the command that writes one") {
  CHECK_THAT(run({"status", "--config", "/there/is/none.toml"}).err,
             Contains("`torchwatch init --config /there/is/none.toml` writes one"));
}

TEST_CASE("with --json an error is one JSON document on standard output") {
  for (const auto& arguments : std::vector<std::vector<const char*>>{
           {"--json", "statsu"}, {"status", "--json", "--config", "/there/is/none.toml"}}) {
    const auto printed = run(arguments);
    CHECK(printed.status == 2);
    CHECK_THAT(printed.out, Contains("\"schema\": 1") && Contains("\"error\": {") &&
                                Contains("\"code\": \"") && Contains("\"message\": \""));
    CHECK_FALSE(printed.err.empty());
  }
  CHECK(run({"statsu"}).out.empty());
}

TEST_CASE("with --json what to do about an error stands apart from what is wrong") {
  const auto of = [](std::vector<const char*> arguments) {
    arguments.push_back("--json");
    return nlohmann::json::parse(run(std::move(arguments)).out).at("error");
  };
  CHECK(of({"statsu"}).at("message") == "there is no command \"statsu\"");
  CHECK(of({"statsu"}).at("remedy") == "did you mean status?");
  CHECK(of({"compare"}).at("remedy") == "`torchwatch compare --help` shows what there is");
  const auto missing = of({"status", "--config", "/there/is/none.toml"});
  CHECK(missing.at("message") == "there is no configuration /there/is/none.toml");
  CHECK(missing.at("remedy") == "`torchwatch init --config /there/is/none.toml` writes one");
  CHECK(of({"status", "--log-level", "loud"}).at("remedy").is_null());
}

TEST_CASE("each shell's completion knows every command and its options") {
  for (const auto* shell : {"bash", "zsh", "fish"}) {
    const auto printed = run({"completion", shell});
    CHECK(printed.status == 0);
    CHECK_THAT(printed.out, Contains("\" incident show\"") && Contains("acknowledge") &&
                                Contains("--workload") && Contains("torchwatch"));
  }
}

TEST_CASE("completion offers --json only where it is taken") {
  std::istringstream script(run({"completion", "bash"}).out);
  for (const auto& line : lines_of(script)) {
    if (line.find(") words=") == std::string::npos) continue;
    INFO(line);
    const bool refuses_json = line.find("\" manual\")") != std::string::npos ||
                              line.find("\" help\")") != std::string::npos ||
                              line.find("\" completion") != std::string::npos ||
                              line.find("\" database export\")") != std::string::npos;
    CHECK((line.find(" --json") == std::string::npos) == refuses_json);
  }
}

TEST_CASE("the manual page has every command with its options") {
  const auto printed = run({"manual"});
  CHECK(printed.status == 0);
  std::ostringstream unused;
  cli::Invocation invocation{.out = unused, .err = unused, .stop = {}, .log_level = {}};
  const cli::CommandTree tree(invocation);
  for_each_command(tree.app(), [&](const CLI::App& app) {
    if (!cli::subcommands_of(app).empty()) return;
    INFO(cli::full_name(app));
    CHECK_THAT(printed.out, Contains(".SS " + cli::full_name(app) + "\n"));
  });
  CHECK_THAT(printed.out, Contains("\\-\\-workload WORKLOAD") && Contains(".SH EXIT STATUS"));
}

TEST_CASE("no line of the manual page is a request that its text did not mean") {
  std::istringstream page(run({"manual"}).out);
  for (const auto& line : lines_of(page)) {
    INFO(line);
    const bool is_request = line.starts_with(".") || line.starts_with("'");
    CHECK((!is_request ||
           std::regex_search(line, std::regex("^\\.(TH|SH|SS|TP|PP|B|RS|RE|nf|fi)( |$)"))));
  }
}

TEST_CASE("the configuration is shown with where each value comes from") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("torchwatch.toml", "[web]\nport = 9000\n").string();
  const auto text = run({"config", "--config", file.c_str()}).out;
  CHECK_THAT(text, Contains("[web] port") && Contains("9000") && Contains(file + ":2"));
  CHECK_THAT(text, Contains("[web] address") && Contains("default"));
  const auto set = run({"config", "--set", "--json", "--config", file.c_str()}).out;
  const auto items = nlohmann::json::parse(set).at("items");
  REQUIRE(items.size() == 1);
  CHECK(items[0].at("value") == "9000");
  CHECK(items[0].at("origin") == "file");
  CHECK(items[0].at("line") == 2);
}
