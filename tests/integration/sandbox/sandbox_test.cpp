#include "torchwatch/sandbox/sandbox.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "callers.hpp"
#include "skipped.hpp"
#include "temporary_folder.hpp"

using namespace torchwatch;
using test::is_exit;
using test::Listener;
using test::may_play_others;
namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

namespace {

/// Each line is a question: its name, and the command that answers yes or no.
constexpr const char* kQuestions = R"sh(
ask() { if eval "$2" > /dev/null 2>&1; then echo "$1: yes"; else echo "$1: no"; fi; }
ask "reads what it is shown" 'grep -q shown "$FOLDER/read/file"'
ask "changes what it is shown" 'echo x > "$FOLDER/read/file"'
ask "adds to what it is shown" 'echo x > "$FOLDER/read/new"'
ask "reads a hidden file" 'grep -q secret "$FOLDER/read/token"'
ask "sees the folder beside it" '[ -e "$FOLDER/other" ]'
ask "writes its own folder" 'echo x > "$FOLDER/write/new"'
ask "writes /tmp" 'echo x > /tmp/new'
ask "fills /tmp" 'head -c 2000000 /dev/zero > /tmp/large'
ask "fills /dev/shm" 'head -c 2000000 /dev/zero > /dev/shm/large'
ask "writes the root" 'echo x > /new'
ask "writes /dev" 'echo x > /dev/new'
ask "writes /usr" 'echo x > /usr/new'
ask "sees passwords" '[ -e /etc/shadow ]'
ask "sees homes" '[ -e /root ] || [ -e /home ]'
ask "sees disks" 'ls /dev/[svx]d*'
ask "mounts" 'mount -t tmpfs none /mnt'
ask "gets a user namespace" 'unshare --user true'
ask "raises its priority" '[ "$(nice -n -1 nice)" -lt "$(nice)" ]'
ask "reads the service's environment" 'grep -q . "/proc/$SERVICE/environ"'
ask "signals the service" 'kill -0 "$SERVICE"'
ask "reaches the network" 'exec 3<> "/dev/tcp/127.0.0.1/$PORT"'
ask "has a terminal" 'exec 3<> /dev/tty'
ask "inherits a secret" 'env | grep -q SECRET'
)sh";

constexpr const char* kAnswers = R"(reads what it is shown: yes
changes what it is shown: no
adds to what it is shown: no
reads a hidden file: no
sees the folder beside it: no
writes its own folder: yes
writes /tmp: yes
fills /tmp: no
fills /dev/shm: no
writes the root: no
writes /dev: no
writes /usr: no
sees passwords: no
sees homes: no
sees disks: no
mounts: no
gets a user namespace: no
raises its priority: no
reads the service's environment: no
signals the service: no
reaches the network: no
has a terminal: no
inherits a secret: no
exit status 0
)";

struct Place {
  test::TemporaryFolder folder;
  Listener listener;
  std::unique_ptr<process::ProcessRunner> processes = process::make_process_runner("sandbox test");

  Place() {
    folder.write("read/file", "shown");
    folder.write("read/token", "secret");
    folder.write("other/file", "not shown");
    fs::create_directories(folder.path() / "write");
    fs::permissions(folder.path(), fs::perms::all);
    fs::permissions(folder.path() / "write", fs::perms::all);
  }

  std::string script() const {
    return "PORT=" + std::to_string(listener.port) + "\nSERVICE=" + std::to_string(getpid()) +
           kQuestions;
  }

  /// Calls `confined` by way of other programs, each with its arguments.
  process::ProcessOutcome call(Arguments words, const std::string& text,
                               Arguments more = {}) const {
    words.insert(words.end(), {TORCHWATCH_CONFINED, folder.path().string(), text});
    words.insert(words.end(), more.begin(), more.end());
    process::ProcessSpec spec{};
    spec.program = words.front();
    spec.arguments.assign(words.begin() + 1, words.end());
    spec.environment = {{"PATH", std::getenv("PATH")}, {"SECRET", "x"}};
    spec.working_folder = "/";
    spec.time_limit = std::chrono::seconds(90);
    spec.output_limit_bytes = 1U << 20U;
    return processes->run(spec);
  }
};

/// Some machines forbid sandboxes, and only root can stand in for other users.
bool is_possible_here(const Place& place) {
  const auto plain = place.call({"env"}, "true");
  if (!is_exit(plain, 3)) return true;
  test::say_skipped("there is no sandbox on this machine: " + plain.output);
  return false;
}

}  // namespace

TEST_CASE("a confined child does what its profile says and nothing more") {
  const Place place;
  if (!is_possible_here(place)) return;
  const auto outcome = place.call({"env"}, place.script());
  CHECK(outcome.output == std::string("user namespace yes, own proc yes\n") + kAnswers);
}

TEST_CASE("a child confined by an unprivileged user does no more than one of root's") {
  const Place place;
  if (!may_play_others() || !is_possible_here(place)) return;
  const auto outcome = place.call(test::as_nobody(), place.script());
  CHECK(outcome.output == std::string("user namespace yes, own proc yes\n") + kAnswers);
}

TEST_CASE("a child is as confined where the kernel allows no new proc") {
  const Place place;
  if (!may_play_others() || !is_possible_here(place)) return;
  const auto outcome = place.call(
      {"unshare", "--mount", "sh", "-c",
       "mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && "
       "exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs -- \"$@\"",
       "sh"},
      place.script());
  // A new user namespace gives power over what is made in it alone: nothing of the above changes.
  std::string answers = kAnswers;
  const std::string nested = "gets a user namespace: no";
  answers.replace(answers.find(nested), nested.size(), "gets a user namespace: yes");
  CHECK(outcome.output == "user namespace yes, own proc no\n" + answers);
}

TEST_CASE("root confines its children also where user namespaces are forbidden") {
  const Place place;
  if (!may_play_others() || !is_possible_here(place)) return;
  const auto outcome = place.call(test::without_user_namespaces(), place.script());
  CHECK(outcome.output == std::string("user namespace no, own proc yes\n") + kAnswers);
}

TEST_CASE("where nobody may make namespaces there is no sandbox, and the reason says so") {
  const Place place;
  if (!may_play_others() || !is_possible_here(place)) return;
  const auto outcome = place.call({"unshare", "--user", "--map-root-user", "sh", "-c",
                                   "echo 0 > /proc/sys/user/max_user_namespaces && "
                                   "exec setpriv --bounding-set=-all --inh-caps=-all -- \"$@\"",
                                   "sh"},
                                  place.script());
  INFO(outcome.output);
  CHECK(is_exit(outcome, 3));
  CHECK(outcome.output.find("user.max_user_namespaces") != std::string::npos);
}

TEST_CASE("without bwrap there is no sandbox, and the reason names the package") {
  const Place place;
  const auto outcome = place.call({"/usr/bin/env", "PATH=/nowhere"}, "true");
  CHECK(is_exit(outcome, 3));
  CHECK(outcome.output.find("install the package bubblewrap") != std::string::npos);
}

TEST_CASE("a child with a network reaches it") {
  const Place place;
  if (!is_possible_here(place)) return;
  const auto outcome = place.call({"env"}, place.script(), {"network"});
  CHECK(outcome.output.find("reaches the network: yes") != std::string::npos);
}
