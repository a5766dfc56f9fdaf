// What the parser takes, and what it says of itself. No command is carried out.
#include "command_tree.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>

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
    const auto wrong = cli::what_is_wrong(tree.app());
    return {error.get_exit_code() == 0, wrong.empty() ? error.what() : wrong};
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
                         Contains("--json ") && Contains("Example:\n"));
    std::istringstream text(help);
    for (const auto& line : lines_of(text)) {
      INFO(line);
      CHECK(line.size() <= 80);
    }
  });
  CHECK(commands > 25);
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
    for (const auto& line : lines_of(file)) {
      if (!line.starts_with("torchwatch ") || line.find("```") != std::string::npos) continue;
      INFO(entry.path() << ": " << line);
      ++commands;
      CHECK(parse(line).error.empty());
    }
  }
  CHECK(commands >= 6);
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

TEST_CASE("each shell's completion knows every command and its options") {
  for (const auto* shell : {"bash", "zsh", "fish"}) {
    const auto printed = run({"completion", shell});
    CHECK(printed.status == 0);
    CHECK_THAT(printed.out, Contains("\" incident show\"") && Contains("acknowledge") &&
                                Contains("--workload") && Contains("torchwatch"));
  }
}
