// What the daemon's own sandbox hides from the children that run foreign code: the database, the
// configuration, all secrets and the control socket, wherever they lie.
#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "foreign_children.hpp"
#include "skipped.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/daemon/confinement.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/records/unique_fd.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kHidden{"token",
                                       "github-token",
                                       "webhook-secret",
                                       "actions-token",
                                       "torchwatch.toml",
                                       "db.sqlite",
                                       "db.sqlite-wal",
                                       "db.sqlite-shm",
                                       "db.sqlite.lock",
                                       "db.sqlite.v5.backup",
                                       "db.sqlite.replaced-1",
                                       "control",
                                       "backups/torchwatch-20260816T030405Z.backup"};

/// A state folder with all of it, and a file without a secret; a link leads to the folder.
struct State {
  State() {
    test::lay_out_for_children(folder);
    for (const char* name :
         {"token", "github-token", "webhook-secret", "actions-token", "torchwatch.toml", "shown",
          "db.sqlite.v5.backup", "db.sqlite.replaced-1",
          "backups/torchwatch-20260816T030405Z.backup"}) {
      folder.write("state/" + std::string(name), "text");
    }
    fs::create_directory_symlink(state, folder.path() / "link");
    config.file = state / "torchwatch.toml";
    config.web.token_file = state / "token";
    config.github.token_file = state / "github-token";
    config.github.webhook_secret_file = state / "webhook-secret";
    config.actions.token_file = state / "actions-token";
    config.storage.path = state / "db.sqlite";
    config.storage.backups = state / "backups";
    config.build.cache = folder.path() / "builds";
    config.channel.path = folder.path() / "nightlies";
    config.executor.scratch = folder.path() / "scratch";
    database = storage::Database::open({.path = config.storage.path}).value();
    listen_on(state / "control");
  }

  void listen_on(const fs::path& file) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(file.string().size() < sizeof(address.sun_path));
    file.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    REQUIRE(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  }

  /// Names every file that it can read by its own name or by the link, then says that it has ended.
  std::string script() const {
    std::string text;
    for (const auto& above : {state, folder.path() / "link"}) {
      text += "cd '" + above.string() + "' 2> /dev/null && for name in shown";
      for (const auto& name : kHidden) text += " " + name;
      text +=
          "; do if [ -S \"$name\" ] || [ \"$(head -c 1 \"$name\" 2> /dev/null | wc -c)\" = 1 ]; "
          "then echo \"reads $name;\"; fi; done\n";
    }
    return text + "echo ended\n";
  }

  test::TemporaryFolder folder;
  const fs::path state = folder.path() / "state";
  config::Config config;
  std::unique_ptr<storage::Database> database;
  UniqueFd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::unique_ptr<process::ProcessRunner> processes = process::make_process_runner("hidden files");
};

/// Asks every kind of child.
void check_hidden(State& place, const std::vector<fs::path>& readable) {
  place.config.sandbox.readable = readable;
  const auto confinement = daemon::open_sandbox(place.config, *place.processes).value();
  if (confinement.sandbox.kind() == sandbox::Kind::none) {
    test::say_skipped(confinement.problem);
    return;
  }
  for (const auto child : test::kForeignChildren) {
    const auto printed = printed_by(child, place.folder.path(), confinement.sandbox,
                                    *place.processes, place.script());
    INFO(to_string(child) << "\n" << printed);
    CHECK_THAT(printed, Contains("ended\n"));
    CHECK((printed.find("reads shown;") != std::string::npos) == !readable.empty());
    for (const auto& name : kHidden) CHECK_THAT(printed, !Contains("reads " + name + ";"));
  }
}

}  // namespace

TEST_CASE("no child sees the database, the configuration, a token or the control socket") {
  State place;
  for (const auto& name : kHidden) REQUIRE(fs::exists(place.state / name));
  SECTION("where they lie in a folder of their own") {
    check_hidden(place, {});
  }
  SECTION("in a folder that [sandbox] readable names") {
    check_hidden(place, {place.state});
  }
  SECTION("in a folder that a link leads to, which [sandbox] readable names") {
    check_hidden(place, {place.folder.path() / "link"});
  }
  SECTION("where a link leads to the database") {
    const auto elsewhere = place.folder.path() / "elsewhere";
    fs::create_directories(elsewhere);
    fs::create_symlink(place.state / "db.sqlite", elsewhere / "link.sqlite");
    place.config.storage.path = elsewhere / "link.sqlite";
    place.config.web.socket = place.state / "control";
    check_hidden(place, {place.state});
  }
  SECTION("where [sandbox] readable names one of them itself") {
    check_hidden(place, {place.state / "shown", place.state / "token", place.state / "db.sqlite"});
  }
}
