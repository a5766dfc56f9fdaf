// The table of docs/reliability.md, "Foreign code": what each kind of child may see and do, asked
// inside, for root, for an unprivileged user, and where namespaces are forbidden.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "callers.hpp"
#include "foreign_children.hpp"
#include "skipped.hpp"

using namespace torchwatch;
using test::ForeignChild;
namespace fs = std::filesystem;

namespace {

/// A row of the table, with the command that answers it. An answer for each of kForeignChildren,
/// in that order: y is yes, n is no, m is yes where the machine has it.
struct Row {
  const char* what;
  const char* command;
  const char* answers;
};

constexpr Row kRows[] = {
    {"reads /usr", "[ -r /usr/bin/env ]", "yyyyyy"},
    {"sees processors", "[ -r /sys/devices/system/cpu/online ]", "yyyyyy"},
    {"reads [sandbox] readable", "grep -q shown \"$FOLDER/readable/file\"", "yyyyyy"},
    {"changes [sandbox] readable", "echo x > \"$FOLDER/readable/new\"", "nnnnnn"},
    {"reads a hidden file in it", "grep -q secret \"$FOLDER/readable/token\"", "nnnnnn"},
    {"reads libraries of the build", "grep -q library \"$FOLDER/builds/own/lib/libtorch_cpu.so\"",
     "yyyyyn"},
    {"reads headers of the build", "grep -q header \"$FOLDER/builds/own/include/header.h\"",
     "yyynnn"},
    {"changes the build", "echo x > \"$FOLDER/builds/own/lib/new\"", "nnnnnn"},
    {"sees another build", "[ -e \"$FOLDER/builds/other\" ]", "nnnnnn"},
    {"writes the new build", "[ -n \"$TORCHWATCH_PREFIX\" ] && echo x > \"$TORCHWATCH_PREFIX/new\"",
     "yynnnn"},
    {"writes the checkout of the commit",
     "[ -n \"$TORCHWATCH_SOURCE\" ] && echo x > \"$TORCHWATCH_SOURCE/new\"", "yynnnn"},
    {"reads sources of the runner", "grep -q source \"$FOLDER/sources/runner/main.cpp\"", "nnynnn"},
    {"changes sources of the runner", "echo x > \"$FOLDER/sources/runner/new\"", "nnnnnn"},
    {"reads deploy/", "grep -q source \"$FOLDER/sources/deploy/libtorch\"", "nnnnny"},
    {"changes deploy/", "echo x > \"$FOLDER/sources/deploy/new\"", "nnnnnn"},
    {"writes where it works", "echo x > new", "yyyyyy"},
    {"writes the compiler cache", "echo x > \"$FOLDER/ccache/new\"", "yyynnn"},
    {"writes [sandbox] writable", "echo x > \"$FOLDER/writable/new\"", "yynnnn"},
    {"writes a file in it that a variable names", "echo x > \"$TORCHWATCH_KEPT\"", "yynnnn"},
    {"reaches the network", "exec 3<> \"/dev/tcp/127.0.0.1/$PORT\"", "nynnny"},
    {"sees /dev/nvidia*", "ls /dev/nvidia*", "nnnnmn"},
    {"sees the drivers of the GPU", "[ -e /sys/module ]", "nnnnmn"},
    {"knows users and groups", "[ -r /etc/passwd ] && [ -r /etc/group ]", "yyynny"},
    {"gets TORCHWATCH_ variables", "[ \"$TORCHWATCH_SETTING\" = passed ]", "yyynny"},
    {"gets a name of [sandbox] environment", "[ \"$ASKED_FOR\" = passed ]", "yynnnn"},
    {"gets the index of pip", "[ -n \"$PIP_INDEX_URL\" ]", "nnnnny"},
    {"gets a name that sounds like a secret", "[ -n \"$TORCHWATCH_API_TOKEN\" ]", "nnnnnn"},
    {"gets any other variable", "[ -n \"$OTHER\" ]", "nnnnnn"},
};

/// What /tmp and /dev/shm hold, for each of kForeignChildren.
constexpr const char* kMebibytes[] = {"4096", "4096", "4096", "256", "256", "4096"};

bool machine_has(const std::string& what) {
  if (what == "sees the drivers of the GPU") return fs::exists("/sys/module");
  for (const auto& entry : fs::directory_iterator("/dev")) {
    if (entry.path().filename().string().starts_with("nvidia")) return true;
  }
  return false;
}

std::string questions() {
  std::string text =
      "ask() { if (eval \"$2\") > /dev/null 2>&1; then echo \"$1: yes\"; "
      "else echo \"$1: no\"; fi; }\n";
  for (const auto& row : kRows) {
    text += "ask '" + std::string(row.what) + "' '" + row.command + "'\n";
  }
  for (const std::string folder : {"/tmp", "/dev/shm"}) {
    text += "echo \"" + folder + ": $(($(stat -f -c '%b * %S / 1048576' " + folder + "))) MiB\"\n";
  }
  return text;
}

std::string answers_of(std::size_t child) {
  std::string text;
  for (const auto& row : kRows) {
    const char answer = row.answers[child];
    const bool is_yes = answer == 'y' || (answer == 'm' && machine_has(row.what));
    text += std::string(row.what) + ": " + (is_yes ? "yes" : "no") + "\n";
  }
  const std::string size = std::string(": ") + kMebibytes[child] + " MiB\n";
  return text + "/tmp" + size + "/dev/shm" + size;
}

/// Everything that the rows ask for, and a child that is asked.
struct Place {
  test::TemporaryFolder folder;
  test::Listener listener;
  std::unique_ptr<process::ProcessRunner> processes = process::make_process_runner("rights test");

  Place() {
    test::lay_out_for_children(folder);
    folder.write("readable/file", "shown");
    folder.write("readable/token", "secret");
    fs::permissions(folder.write("writable/kept", ""), fs::perms::all);
    fs::create_directories(folder.path() / "ccache");
    fs::permissions(folder.path() / "ccache", fs::perms::all);
    fs::permissions(folder.path(), fs::perms::all);
  }

  process::ProcessOutcome ask(test::Caller words, std::size_t child) const {
    const auto at = folder.path().string();
    const auto script =
        "FOLDER='" + at + "'\nPORT=" + std::to_string(listener.port) + "\n" + questions();
    words.insert(words.end(), {TORCHWATCH_FOREIGN_CHILD, std::to_string(child), at, script});
    process::ProcessSpec spec{};
    spec.program = words.front();
    spec.arguments.assign(words.begin() + 1, words.end());
    spec.environment = {{"PATH", std::getenv("PATH")},
                        {"CCACHE_DIR", at + "/ccache"},
                        {"TORCHWATCH_SETTING", "passed"},
                        {"TORCHWATCH_KEPT", at + "/writable/kept"},
                        {"ASKED_FOR", "passed"},
                        {"PIP_INDEX_URL", "https://index.example/simple"},
                        {"TORCHWATCH_API_TOKEN", "secret"},
                        {"OTHER", "x"}};
    spec.working_folder = "/";
    spec.time_limit = std::chrono::seconds(90);
    spec.output_limit_bytes = 1U << 20U;
    return processes->run(spec);
  }
};

void check_rights_as(const test::Caller& caller) {
  const Place place;
  for (std::size_t child = 0; child < test::kForeignChildren.size(); ++child) {
    INFO(to_string(test::kForeignChildren.at(child)));
    const auto outcome = place.ask(caller, child);
    if (test::is_exit(outcome, 3)) {
      test::say_skipped("there is no sandbox on this machine: " + outcome.output);
      return;
    }
    CHECK(outcome.output == answers_of(child));
  }
}

}  // namespace

TEST_CASE("every kind of child has the rights that the table names") {
  check_rights_as({"env"});
}

TEST_CASE("every kind of child of an unprivileged user has the rights that the table names") {
  if (test::may_play_others()) check_rights_as(test::as_nobody());
}

TEST_CASE("every kind of child has those rights where user namespaces are forbidden") {
  if (test::may_play_others()) check_rights_as(test::without_user_namespaces());
}
