// The program on a real pseudo-terminal, and on files and pipes that cannot be written.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "stored_command_line.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/terminal/output.hpp"
#include "torchwatch/terminal/screen.hpp"
#include "torchwatch/terminal/terminal_progress.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

constexpr WallMillis kNow = 1'786'935'845'000;

/// A pseudo-terminal of some width; what is written to its file is read back.
class PseudoTerminal {
 public:
  explicit PseudoTerminal(unsigned short columns) : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(master_ >= 0);
    REQUIRE(grantpt(master_) == 0);
    REQUIRE(unlockpt(master_) == 0);
    file_ = open(ptsname(master_), O_RDWR | O_NOCTTY);
    REQUIRE(file_ >= 0);
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(ioctl(file_, TIOCSWINSZ, &size) == 0);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;
  ~PseudoTerminal() {
    close_file();
    close(master_);
  }

  int file() const { return file_; }

  /// Runs the program with the terminal as its output, and returns what it printed.
  std::string run(std::vector<std::string> arguments,
                  const std::vector<std::pair<std::string, std::string>>& variables) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      dup2(file_, STDOUT_FILENO);
      dup2(file_, STDERR_FILENO);
      for (const auto* name : {"COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR"}) {
        unsetenv(name);
      }
      for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
      arguments.insert(arguments.begin(), "torchwatch");
      std::vector<char*> values;
      for (auto& argument : arguments) values.push_back(argument.data());
      values.push_back(nullptr);
      execv(TORCHWATCH_PROGRAM, values.data());
      _exit(97);
    }
    close_file();
    auto text = read_all();
    int status = 0;
    waitpid(child, &status, 0);
    return text;
  }

  /// Reads until the last one who had the terminal has closed it.
  std::string read_all() {
    close_file();
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t size = 0; (size = read(master_, part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  void close_file() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }

  int master_;
  int file_ = -1;
};

std::string without_colours(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\033') {
      plain += text[i];
      continue;
    }
    while (i + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0) ++i;
  }
  return plain;
}

/// The width of the widest line, or of the widest text that is drawn over.
std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::string line;
  for (const char byte : without_colours(text)) {
    if (byte != '\n' && byte != '\r') {
      line += byte;
      continue;
    }
    most = std::max(most, terminal::width_of(line));
    line.clear();
  }
  return std::max(most, terminal::width_of(line));
}

/// A database with an incident, and a configuration that names it.
struct State {
  State() {
    file = folder.write("torchwatch.toml", "[storage]\npath = \"db.sqlite\"\n").string();
    const auto database = Database::open({folder.path() / "db.sqlite", "", false}).value();
    const auto baseline = test::ready_build(*database, "2.14.0.dev20260816");
    const auto candidate = test::ready_build(*database, "2.14.0.dev20260817");
    const auto comparison =
        ComparisonStore(*database).open({Purpose::nightly, candidate, baseline}, kNow).value();
    IncidentRow row;
    row.comparison = comparison.id;
    row.key = "time-cpu:abc";
    row.title = "[perf] +15.0 % time, a_workload_with_a_rather_long_name (cpu-train), 2026-08-17";
    row.opened_at = kNow;
    row.issue_number = 7;
    REQUIRE(IncidentStore(*database).open(row));
  }
  std::vector<std::string> status() const { return {"status", "--config", file}; }

  test::TemporaryFolder folder;
  std::string file;
};

int exit_status(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("what is printed fits a real terminal, in colours that say nothing new") {
  const State state;
  for (const unsigned short columns : {60, 80, 120, 200}) {
    PseudoTerminal pty(columns);
    const auto text = pty.run(state.status(), {{"TERM", "xterm"}});
    CHECK(widest(text) <= columns);
    CHECK_THAT(text, Contains("\033["));
    CHECK_THAT(without_colours(text), Contains("1 open"));
  }
}

TEST_CASE("a terminal without colours gets none") {
  const State state;
  for (const auto& variable :
       {std::pair<std::string, std::string>{"NO_COLOR", "1"}, {"TERM", "dumb"}}) {
    PseudoTerminal pty(80);
    CHECK_THAT(pty.run(state.status(), {variable}), !Contains("\033"));
  }
}

TEST_CASE("an issue leads to its page on a terminal, also without colours, but not in a dumb one") {
  const State state;
  const auto file = state.folder.write(
      "github.toml", "[storage]\npath = \"db.sqlite\"\n[github]\nrepository = \"owner/name\"\n");
  const auto printed = [&](const std::string& term) {
    PseudoTerminal pty(200);
    return pty.run({"status", "--config", file.string()}, {{"TERM", term}, {"NO_COLOR", "1"}});
  };
  CHECK_THAT(printed("xterm"), Contains("\033]8;;https://github.com/owner/name/issues/7\033\\"
                                        "issue #7\033]8;;\033\\"));
  CHECK_THAT(printed("dumb"), Contains("issue #7") && !Contains("\033"));
}

TEST_CASE("the option --color outweighs the environment and the terminal") {
  const State state;
  const auto printed = [&](const char* when, const std::string& name, const std::string& value) {
    PseudoTerminal pty(80);
    return pty.run({"status", "--config", state.file, "--color", when}, {{name, value}});
  };
  CHECK_THAT(printed("never", "FORCE_COLOR", "1"), !Contains("\033["));
  CHECK_THAT(printed("always", "NO_COLOR", "1"), Contains("\033["));
  CHECK_THAT(printed("always", "TERM", "dumb"), Contains("\033["));
}

TEST_CASE("a bar never wraps on a real terminal, also when its window gets narrower") {
  PseudoTerminal pty(100);
  terminal::Output output(pty.file());
  std::ostream err(&output);
  {
    terminal::TerminalProgress progress(
        err, {.is_terminal = terminal::screen_of(pty.file()).is_terminal,
              .columns = [&] { return terminal::screen_of(pty.file()).columns; }});
    progress.progress(1, 9, std::string(300, 'x'));
    const winsize narrow{.ws_row = 24, .ws_col = 64, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(ioctl(pty.file(), TIOCSWINSZ, &narrow) == 0);
    progress.progress(2, 9, std::string(300, 'y'));
  }
  err << "the result\n" << std::flush;
  const auto text = pty.read_all();
  CHECK(widest(text.substr(0, text.find('y'))) < 100);
  CHECK(widest(text.substr(text.find('y'))) < 64);
  CHECK_THAT(text, Contains("\r\033[Kthe result"));
}

TEST_CASE("a result that cannot be written is an error, without a word where its reader has gone") {
  const State state;
  const auto command = std::string(TORCHWATCH_PROGRAM) + " status --config " + state.file;
  const auto message = (state.folder.path() / "message").string();
  CHECK(exit_status(command + " > /dev/full 2> " + message) == 3);
  CHECK(exit_status("grep -q 'cannot be written to standard output: No space left' " + message) ==
        0);
  CHECK(exit_status(command + " --json > /dev/full 2> /dev/null") == 3);
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  close(ends[0]);
  const int own = dup(STDOUT_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  const int unread = exit_status(command + " --json 2> " + message);
  dup2(own, STDOUT_FILENO);
  for (const int file : {own, ends[1]}) close(file);
  CHECK(unread == 141);
  CHECK(exit_status("test ! -s " + message) == 0);
}
